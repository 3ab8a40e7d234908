"""Masks of long sequences, which the importers look at but do not write."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from weft.importing.attention import known_mask  # noqa: E402
from weft.importing.graph import Graph  # noqa: E402

LONG = 3000  # rows: as many truth values as 2 ** 22 and more


def attention_under(rule, keys=LONG):
    """What becomes of attention whose mask compares each key's position with each row's."""
    graph = Graph()
    shape = (1, 1, LONG, keys)
    q, k, v = (graph.append("parameter", [], {"name": name}, ((1, size, 1, 8), "f32")).output
               for name, size in (("q", LONG), ("k", keys), ("v", keys)))
    key, row = (graph.append("iota", [], {"shape": shape, "dim": dim}, (shape, "i32")).output for dim in (3, 2))
    mask = rule(lambda kind, *inputs: graph.append(kind, list(inputs), {}, (shape, "i8")).output, key, row)
    op = graph.append("attention", [q, k, v, mask], {"mask": True, "causal": False}, (q.shape, "f32"))
    found = known_mask(graph, op)
    return None if found is None else {name: x for name, x in found.op.attributes.items() if name != "mask"}


class ImportMasksTest(unittest.TestCase):
    def test_one_that_hides_what_comes_later_is_causal(self):
        self.assertEqual(attention_under(lambda op, key, row: op("less_equal", key, row)), {"causal": True})

    def test_one_that_hides_more_is_none(self):
        self.assertIsNone(attention_under(lambda op, key, row: op("less", key, row)))

    def test_one_that_hides_the_row_of_another_is_none(self):
        self.assertIsNone(attention_under(lambda op, key, row: op("less_equal", row, key)))

    def test_one_that_is_too_large_to_look_at_stays(self):
        self.assertIsNone(attention_under(lambda op, key, row: op("less_equal", key, row), keys=1 << 20))


if __name__ == "__main__":
    unittest.main()
