import unittest

from markdown import page, table
from ods_page import summary_apart, tidy
from proto_page import parse, render

PROTO = """// What it is.
syntax = "proto3";
package weft;
extend google.protobuf.FieldOptions {
  optional double at_least = 1;
}
// The root.
message Job {
  // Which one.
  Kind kind = 1;
  // Exactly one.
  oneof rule {
    double lr = 2 [(at_least) = 0, (if_absent) = 1e-3];  // a rate
  }
  message Inner {}
  repeated Inner inner = 3;
  map<string, Inner> named = 4;
}
enum Kind {
  // The usual.
  USUAL = 0;
}
"""


class ProtoTest(unittest.TestCase):
    def test_messages_fields_and_values(self):
        blocks = parse(PROTO, "job.proto")
        self.assertEqual([(block.kind, block.name, block.comment) for block in blocks],
                         [("message", "Job", "The root."), ("message", "Job.Inner", ""), ("enum", "Kind", "")])
        self.assertEqual(blocks[0].entries,
                         [("kind", "Kind", "Which one.", None), ("lr", "double", "a rate (at least 0, if absent 1e-3)", "rule"),
                          ("inner", "repeated Inner", "", None), ("named", "map<string, Inner>", "", None)])
        self.assertEqual(blocks[2].entries, [("USUAL", "0", "The usual.", None)])

    def test_types_are_links(self):
        lines = render(parse(PROTO, "job.proto"))
        self.assertIn("| `kind` | [Kind](#kind) | Which one. |", lines)
        self.assertIn("| `lr` | `double` | a rate (at least 0, if absent 1e-3) (one of `rule`) |", lines)
        self.assertIn("| `inner` | [repeated Inner](#jobinner) |  |", lines)
        self.assertIn("| `named` | [map<string, Inner>](#jobinner) |  |", lines)

    def test_what_cannot_be_read_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, r"job.proto:2: expected a field.*'group X = 1'"):
            parse('syntax = "proto3";\ngroup X = 1', "job.proto")


class TidyTest(unittest.TestCase):
    def test_bookkeeping_of_cpp_goes(self):
        self.assertEqual(tidy("<!-- x -->\n# 'weft' Dialect\nsaid\n[TOC]\nTraits: `A`\nEffects: `B`"), ["said"])
        self.assertEqual(tidy("Interfaces: `ConditionallySpeculatable`, `DifferentiableOpInterface`"),
                         ["Interfaces: `DifferentiableOpInterface`"])
        self.assertEqual(tidy("Interfaces: `ConditionallySpeculatable`"), [])

    def test_formulas_keep_their_letters(self):
        for written, expected in (("_E^x_", "_e^x_"), ("_A + b, by_", "_a + b, by_"), ("_A b, by_", "_a b, by_"),
                                  ("_Max(a, b)_", "_max(a, b)_"), ("_X times y_", "_x times y_"),
                                  ("_A named number_", "_A named number_"), ("_Sum of_", "_Sum of_")):
            self.assertEqual(tidy(written), [expected])

    def test_syntax_has_no_empty_words(self):
        self.assertEqual(tidy("$x attr-dict `` custom<Types1>(type($x))"), ["$x attr-dict custom<Types1>(type($x))"])

    def test_tables(self):
        self.assertEqual(
            tidy("<table>\n<tr><th>A</th></tr>\n"
                 "<tr><td><code>x</code></td><td>::mlir::Attribute</td><td>a &lt; b</td></tr>\n</table>"),
            ["| Attribute | C++ type | Description |", "| --- | --- | --- |", "| `x` | `mlir::Attribute` | a < b |"])
        self.assertEqual(tidy("| `x` | ranked tensor"), ["| `x` | ranked tensor |"])

    def test_headings_stand_alone(self):
        self.assertEqual(tidy("said\n### next"), ["said", "", "### next"])
        self.assertEqual(summary_apart(["", "Summary", "text"]), ["", "_Summary_", "", "text"])
        self.assertEqual(summary_apart([]), [])


class PageTest(unittest.TestCase):
    def test_page(self):
        self.assertEqual(page("T", ["a", "b"], ["x  ", "", "", "y", "", ""]),
                         "<!-- Generated from a, b; run tools/docs after a change there. -->\n\n# T\n\nx\n\ny\n")

    def test_table(self):
        self.assertEqual(table(["A"], [["a|b"]]), ["| A |", "| --- |", "| a\\|b |"])
        self.assertEqual(table(["A"], []), [])


if __name__ == "__main__":
    unittest.main()
