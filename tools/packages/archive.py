"""A tarball of a folder, the same bytes whenever and wherever it is made."""
import gzip
import io
import tarfile

import tree


def entry(name, size, mode, epoch):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, mode, epoch
    info.uname = info.gname = "root"
    return info


def write(folder, name, epoch, out):
    """Writes `folder` to the file `out`, as the folder `name`."""
    # gzip, as a bare Debian has no xz.
    with open(out, "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for below, path, mode in tree.files(folder):
            with open(path, "rb") as part:
                content = part.read()
            archive.addfile(entry(name + "/" + below, len(content), mode, epoch), io.BytesIO(content))
