"""The files that lint looks at, and what it says about them."""

import os
import re
import subprocess

BINARY = (".safetensors", ".bin", ".png", ".idx", ".plan")


class Finding:
    """One broken rule. line: 1-based, 0 for the whole file."""

    def __init__(self, path, line, message):
        self.path, self.line, self.message = path, line, message

    def __str__(self):
        place = "%s:%d" % (self.path, self.line) if self.line else self.path
        return "%s: %s" % (place, self.message)


class Tree:
    """The text files of a checkout: {path relative to its root: text}. Reads a file when it is first asked for.

    `in` knows the others too, which documents show.
    """

    def __init__(self, root, paths, others=()):
        self.root = root
        self._others = set(others)
        self._texts = {path: None for path in sorted(paths)}

    @classmethod
    def of_texts(cls, texts):
        """A tree that exists only in memory, for tests."""
        tree = cls("", texts)
        tree._texts.update(texts)
        return tree

    @classmethod
    def of_checkout(cls, root):
        """What git tracks and what it would add; every file where there is no git (an unpacked archive)."""
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True)
        if listed.returncode == 0:
            paths = listed.stdout.splitlines()
        else:
            paths = [os.path.relpath(os.path.join(folder, name), root)
                     for folder, _, names in os.walk(root) for name in names
                     if not re.search(r"/(\.git|out|bazel-[^/]*)(/|$)", folder[len(root):] + "/")]
        paths = [path for path in paths if os.path.isfile(os.path.join(root, path))]
        return cls(root, [path for path in paths if not path.endswith(BINARY)],
                   [path for path in paths if path.endswith(BINARY)])

    def paths(self, pattern="**"):
        """The paths that match a pattern (see `matches`)."""
        return [path for path in self._texts if matches(path, pattern)]

    def __contains__(self, path):
        return path in self._texts or path in self._others

    def has_folder(self, path):
        return any(name.startswith(path.rstrip("/") + "/") for name in self._texts)

    def text(self, path):
        if self._texts[path] is None:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def lines(self, path):
        """(1-based number, line) pairs."""
        return enumerate(self.text(path).splitlines(), 1)


_compiled = {}


def matches(path, pattern):
    """Whether a path matches: `**` stands for any path, `*` for anything but a slash, [ ] and { , } as in a shell."""
    if pattern not in _compiled:
        _compiled[pattern] = re.compile(_expression(pattern))
    return _compiled[pattern].fullmatch(path) is not None


def matches_any(path, patterns):
    return any(matches(path, pattern) for pattern in patterns)


def _expression(pattern):
    # A bracket followed by `*` is a name made of such characters: `[a-z_]*`.
    parts = re.split(r"(\*\*/|\*\*|\[[^]]*\]\*|\*|\{[^}]*\})", pattern)
    return "".join(_part(part) for part in parts)


def _part(part):
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part == "*":
        return "[^/]*"
    if part.startswith("[") and part.endswith("]*"):
        return part
    if part.startswith("{") and part.endswith("}"):
        return "(?:%s)" % "|".join(re.escape(choice) for choice in part[1:-1].split(","))
    return re.escape(part)
