"""Packs built programs and the files of a checkout: tarball, Debian package, wheel. tools/release calls it."""
import argparse
import os
import shutil
import sys
import tempfile

import archive
import deb
import tree
import wheel


def pack(programs, checkout, version, epoch, out):
    """Makes the three packages in the folder `out`, and returns their paths."""
    name = "weft-%s-linux-x86_64" % version
    paths = [os.path.join(out, file) for file in
             (name + ".tar.gz", "weft_%s_amd64.deb" % version, wheel.name_of(version))]
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as work:
        folder = os.path.join(work, name)
        tree.make(programs, checkout, folder)
        made = [os.path.join(work, os.path.basename(path)) for path in paths]
        archive.write(folder, name, epoch, made[0])
        deb.write(folder, version, epoch, made[1], work)
        wheel.write(folder, version, epoch, made[2])
        for part, path in zip(made, paths):
            shutil.move(part, path)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", required=True, help="folder with the files of a commit")
    parser.add_argument("--version", required=True, help='such as "0.1.0"')
    parser.add_argument("--epoch", required=True, type=int, help="seconds since 1970: the date of all files")
    parser.add_argument("--out", required=True, help="folder for the packages")
    parser.add_argument("programs", nargs="+")
    given = parser.parse_args()
    try:
        paths = pack(given.programs, given.checkout, given.version, given.epoch, given.out)
    except (tree.Failure, OSError) as failure:
        sys.exit("release: %s" % failure)
    for path in paths:
        print("%s: %.1f MiB" % (path, os.path.getsize(path) / 2**20))


if __name__ == "__main__":
    main()
