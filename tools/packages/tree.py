"""What a release holds: a folder that runs wherever it lies, on x86-64 with glibc 2.36 or later.

  bin/        the programs
  lib/        the libraries that they link or open, and those of these libraries, all but glibc's
  share/      manual pages, and completion for bash and zsh
  models/ clusters/ docs/ ...   the checkout's, as `git archive` has them
  licenses/   of what lib/ holds, and of the code that programs carry

The programs look for lib/ beside bin/ (tools/build_defs/self_contained.bzl), and for models/ above themselves.
"""
import os
import re
import shutil
import subprocess

# glibc's, which are the system's: programs and their loader must fit together.
SYSTEM = {"ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"}
# What weft-run and weft-calibrate open if it is there: oneDNN, for matrix products.
OPENED = ("libdnnl.so.2",)
# Packages whose archives are linked into programs (WORKSPACE).
CARRIED = ("libabsl-dev", "libprotobuf-dev", "liburing-dev", "libxsmm-dev", "zlib1g-dev")
GLIBC = (2, 36)


class Failure(Exception):
    """Why nothing can be packed."""


def _output(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure("%s: %s" % (" ".join(command), done.stderr.strip() or "status %d" % done.returncode))
    return done.stdout


def _linked(path):
    """{name: file} of all that a program or library needs, directly or not, but for glibc."""
    found = {}
    for line in _output("ldd", path).splitlines():
        if "not found" in line:
            raise Failure("%s: expected all its libraries, got %s" % (path, line.strip()))
        match = re.match(r"\s+(\S+) => (/\S+) \(", line)
        if match and match[1] not in SYSTEM:
            found[match[1]] = os.path.realpath(match[2])
    return found


def _opened(name):
    """The file of a library that programs open by its name."""
    for line in _output("/sbin/ldconfig", "-p").splitlines():
        match = re.match(r"\s+(\S+) \(libc6,x86-64\S*\) => (\S+)$", line)
        if match and match[1] == name:
            return os.path.realpath(match[2])
    raise Failure("%s: expected it among the system's libraries (tools/setup), found none" % name)


def libraries(programs):
    """{name: file} of what the programs link or open."""
    found = {name: _opened(name) for name in OPENED}
    for path in [*programs, *found.values()]:
        found.update(_linked(path))
    return found


def _copyright(package):
    return "/usr/share/doc/%s/copyright" % package


def _license(library):
    """(package, file) that a library's license is in. Debian's merged /usr: the package may know it without /usr."""
    for path in (library, library.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "-S", path], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            return package, _copyright(package)
    raise Failure("%s: expected a package that it is of, found none" % library)


def check_glibc(path):
    """That a file asks for no function newer than what a release promises."""
    with open(path, "rb") as file:
        asked = {tuple(map(int, it.split(b"."))) for it in re.findall(rb"\0GLIBC_(\d+\.\d+)(?=\0)", file.read())}
    if asked and max(asked) > GLIBC:
        raise Failure("%s: expected functions of glibc %d.%d at most, got %d.%d" % (path, *GLIBC, *max(asked)))


def make(programs, checkout, out):
    """Makes the folder `out` of programs (paths) and the files of a checkout (a folder, all of which is taken)."""
    if os.path.exists(out):
        raise Failure("%s: expected nothing there, found something" % out)
    shutil.copytree(checkout, out, symlinks=False)
    for folder in ("bin", "lib", "licenses"):
        os.makedirs(os.path.join(out, folder))
    for path in programs:
        target = os.path.join(out, "bin", os.path.basename(path))
        shutil.copyfile(path, target)
        os.chmod(target, 0o755)
        check_glibc(target)
    for name, path in sorted(libraries(programs).items()):
        shutil.copyfile(path, os.path.join(out, "lib", name))
        check_glibc(path)
        package, text = _license(path)
        shutil.copyfile(text, os.path.join(out, "licenses", package))
    for package in CARRIED:
        shutil.copyfile(_copyright(package), os.path.join(out, "licenses", package))


def files(folder):
    """(path below `folder`, path, mode) of every file, sorted: the same wherever and whenever it was made."""
    found = []
    for at, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(at, name)
            below = os.path.relpath(path, folder)
            found.append((below, path, 0o755 if os.access(path, os.X_OK) and not below.startswith("lib/") else 0o644))
    return sorted(found)
