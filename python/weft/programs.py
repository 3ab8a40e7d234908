"""Finds Weft's programs, runs them, and turns what they say into exceptions."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import List, NoReturn, Optional, Sequence, Tuple


class Error(Exception):
    """What a program of Weft said when it did not do what it was asked for. `status` is its exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RequestError(Error):
    """The request was wrong: a job, model, plan, data or flag. Exit status 2."""


class WorkError(Error):
    """The request was right, and the work failed. Exit status 1, or a signal (negative)."""


_folder: Optional[str] = None


def use(folder: str) -> None:
    """Takes the programs from `folder`, such as out/bin of a checkout; else from the folder of this Python's own programs,
    else from PATH."""
    global _folder
    if not os.access(os.path.join(folder, "weft"), os.X_OK):
        raise FileNotFoundError("%s: expected the program weft, found none" % folder)
    _folder = os.path.abspath(folder)


def weft() -> str:
    """The path of the program `weft`."""
    if _folder is not None:
        return os.path.join(_folder, "weft")
    found = shutil.which("weft", path=os.path.join(sys.prefix, "bin")) or shutil.which("weft")
    if found is None:
        raise FileNotFoundError("weft: expected on PATH, found none; weft.use(FOLDER) says where the programs are")
    return found


def command(arguments: Sequence[str]) -> List[str]:
    return [weft(), *arguments]


def call(arguments: Sequence[str], fine: Tuple[int, ...] = (0,)) -> str:
    """What `weft ARGUMENTS` prints. Raises if it ends with a status that is not `fine`."""
    done = subprocess.run(command(arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode not in fine:
        fail(done.stderr, done.returncode)
    return done.stdout


def fail(text: str, status: int) -> NoReturn:
    message = text.strip() or "weft ended with status %d and said nothing" % status
    raise (RequestError if status == 2 else WorkError)(message, status)
