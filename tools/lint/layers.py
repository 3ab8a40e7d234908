"""rules.toml as objects."""

import os
import tomllib

from tree import matches_any


class Rules:
    """Layers, vendors and words, in the order of the file."""

    def __init__(self, table):
        self._groups = table.get("groups", {})
        self.layers = table.get("layer", [])
        self.vendors = table.get("vendor", [])
        self.words = table.get("word", [])
        self._tests = table.get("tests", {"files": [], "may_include": []})

    @classmethod
    def read(cls, path):
        with open(path, "rb") as file:
            return cls(tomllib.load(file))

    def layer_of(self, path):
        """The first layer that has the file, or None."""
        return next((layer for layer in self.layers if matches_any(path, layer["files"])), None)

    def vendor_of(self, header):
        """The vendor of a header that is not Weft's, or None."""
        return next((vendor for vendor in self.vendors if matches_any(header, vendor["headers"])), None)

    def may_include(self, path, layer, header):
        """Whether a file of a layer may include one of Weft's headers."""
        if os.path.dirname(header) == os.path.dirname(path):
            return True
        if matches_any(header, self._expand(layer["may_include"])):
            return True
        return matches_any(path, self._tests["files"]) and matches_any(header, self._tests["may_include"])

    def may_know(self, path, vendor):
        """Whether a file may include a vendor's headers."""
        return matches_any(path, vendor["homes"]) and not matches_any(path, vendor.get("never", []))

    def _expand(self, patterns):
        expanded = []
        for pattern in patterns:
            expanded += self._groups[pattern[1:]] if pattern.startswith("@") else [pattern]
        return expanded
