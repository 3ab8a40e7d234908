"""A wheel: the Python package `weft` where the checkout has one, and the programs for whoever installs it."""
import base64
import hashlib
import os
import time
import zipfile

import tree

TAG = "py3-none-manylinux_%d_%d_x86_64" % tree.GLIBC
METADATA = """Metadata-Version: 2.1
Name: weft
Version: {version}
Summary: Ahead-of-time compiler and runtime for distributed training
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: arrays
Requires-Dist: numpy; extra == 'arrays'
Provides-Extra: torch
Requires-Dist: torch>=2.6; extra == 'torch'
Requires-Dist: numpy; extra == 'torch'
Provides-Extra: onnx
Requires-Dist: onnx; extra == 'onnx'
"""
# pip writes the path of its own Python into the first line. The program takes the script's place.
SCRIPT = """#!python
import sys
from weft_programs import become
become({program!r}, sys.argv[1:])
"""
LAUNCHER = '''"""The programs of Weft, as this wheel has brought them: bin/, and what they need beside it."""
import os

HOME = os.path.dirname(os.path.abspath(__file__))


def become(program, arguments):
    """Runs a program in place of this process."""
    path = os.path.join(HOME, "bin", program)
    os.execv(path, [path, *arguments])
'''


def _contents(folder, version):
    """(name in the wheel, content, mode)."""
    info = "weft-%s.dist-info/" % version
    for below, path, mode in tree.files(folder):
        name = "weft_programs/" + below
        if below.startswith("share/"):  # beside the bin of a virtual environment
            name = "weft-%s.data/data/%s" % (version, below)
        elif below.startswith("python/weft/"):  # the package itself, rather than a copy among the programs' files
            name = below[len("python/"):]
        elif below.startswith("python/"):
            continue
        with open(path, "rb") as file:
            yield name, file.read(), mode
    yield "weft_programs/__init__.py", LAUNCHER.encode(), 0o644
    for program in sorted(os.listdir(os.path.join(folder, "bin"))):
        yield "weft-%s.data/scripts/%s" % (version, program), SCRIPT.format(program=program).encode(), 0o755
    yield info + "METADATA", METADATA.format(version=version).encode(), 0o644
    yield info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: %s\n" % TAG).encode(), 0o644


def name_of(version):
    return "weft-%s-%s.whl" % (version, TAG)


def write(folder, version, epoch, out):
    """Writes the wheel to the file `out`."""
    record = ""
    date = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix
            wheel.writestr(entry, content)

        for name, content, mode in _contents(folder, version):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (name, digest, len(content))
            add(name, content, mode)
        path = "weft-%s.dist-info/RECORD" % version
        add(path, (record + path + ",,\n").encode(), 0o644)
