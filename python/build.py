"""Builds the wheel of the package `weft` for pip (PEP 517 and 660): files in a zip, by the standard library alone."""
import base64
import hashlib
import os
import re
import zipfile

_HERE = os.path.dirname(os.path.abspath(__file__))
_METADATA = """Metadata-Version: 2.1
Name: weft
Version: {version}
Summary: Compile, look at and run plans of Weft
Requires-Python: >=3.9
Provides-Extra: arrays
Requires-Dist: numpy; extra == 'arrays'
Provides-Extra: torch
Requires-Dist: torch>=2.6; extra == 'torch'
Requires-Dist: numpy; extra == 'torch'
Provides-Extra: onnx
Requires-Dist: onnx; extra == 'onnx'
"""


def version():
    """That of the programs."""
    with open(os.path.join(_HERE, "..", "runtime", "version", "BUILD"), encoding="utf-8") as file:
        return re.search(r'^NUMBER = "(.+)"$', file.read(), re.M).group(1)


def _files():
    """The package's, by their names in the wheel."""
    for folder, _, names in sorted(os.walk(os.path.join(_HERE, "weft"))):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith((".py", ".typed")):
                with open(path, "rb") as file:
                    yield os.path.relpath(path, _HERE), file.read()


def _wheel(folder, files):
    name = "weft-" + version()
    files = [*files,
             (name + ".dist-info/METADATA", _METADATA.format(version=version()).encode()),
             (name + ".dist-info/WHEEL", b"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
    record = ""
    with zipfile.ZipFile(os.path.join(folder, name + "-py3-none-any.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(content))
            wheel.writestr(zipfile.ZipInfo(path), content)
        path = name + ".dist-info/RECORD"
        wheel.writestr(zipfile.ZipInfo(path), record + path + ",,\n")
    return name + "-py3-none-any.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, _files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, [("weft.pth", (_HERE + "\n").encode())])


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("expected the checkout: Weft has no source package of its Python part alone")
