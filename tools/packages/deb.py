"""A Debian package of a folder: /usr/lib/weft holds it; links lead there from where Debian looks for programs, manual pages and
completion."""
import gzip
import os
import shutil
import subprocess

import tree

CONTROL = """Package: weft
Version: {version}
Architecture: amd64
Maintainer: The authors of Weft <weft@localhost>
Installed-Size: {kibibytes}
Depends: libc6 (>= {glibc})
Suggests: openmpi-bin, python3
Section: science
Priority: optional
Description: ahead-of-time compiler and runtime for distributed training
 Weft compiles a model, described once as if for one device, into a plan for many
 ranks, and trains with it. Ranks are threads, or processes under Open MPI.
"""


def _write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _links(home):
    """(path below /usr, what it leads to below `home`)."""
    for program in sorted(os.listdir(os.path.join(home, "bin"))):
        yield "bin/" + program, "bin/" + program
        # bash looks for a file that is called as the program.
        yield "share/bash-completion/completions/" + program, "share/bash-completion/completions/weft"
    for page in sorted(os.listdir(os.path.join(home, "share/man/man1"))):
        yield "share/man/man1/" + page, "share/man/man1/" + page
    yield "share/zsh/vendor-completions/_weft", "share/zsh/site-functions/_weft"


def write(folder, version, epoch, out, work):
    """Writes the package to the file `out`; `work` is a folder to make it in."""
    root = os.path.join(work, "deb")
    home = os.path.join(root, "usr/lib/weft")
    size = 0
    for below, path, mode in tree.files(folder):
        target = os.path.join(home, below)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        os.chmod(target, mode)
        size += os.path.getsize(target)
    for link, below in _links(home):
        at = os.path.join(root, "usr", link)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        os.symlink(os.path.relpath(os.path.join(home, below), os.path.dirname(at)), at)
    with open(os.path.join(folder, "LICENSE"), "rb") as text:
        _write(os.path.join(root, "usr/share/doc/weft/copyright"), text.read())
    with open(os.path.join(folder, "CHANGELOG.md"), "rb") as text:
        _write(os.path.join(root, "usr/share/doc/weft/changelog.gz"), gzip.compress(text.read(), mtime=0))
    control = CONTROL.format(version=version, kibibytes=-(-size // 1024), glibc="%d.%d" % tree.GLIBC)
    _write(os.path.join(root, "DEBIAN/control"), control.encode())
    for at, folders, _ in os.walk(root):
        for name in folders:
            os.chmod(os.path.join(at, name), 0o755)
    os.chmod(root, 0o755)
    done = subprocess.run(["dpkg-deb", "--root-owner-group", "--uniform-compression", "-Zgzip", "--build", root, out],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch)))
    if done.returncode != 0:
        raise tree.Failure("dpkg-deb: " + done.stderr.strip())
