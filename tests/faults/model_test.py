#!/usr/bin/env python3
"""Models that are wrong: the error points at the line, and notes lead from there to the graph."""
import os
import re
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import call, main  # noqa: E402

MODEL = """\
model.config @layers = 3
model.config @hidden = 8
model.layer @inner(%x) [hidden] {
  %w = weft.parameter "weight" [hidden, hidden] init(normal 0.02)
  %y = weft.einsum "bi,io->bo" %x, %w
  model.return %y
}
model.layer @block(%x) {
  %0 = model.call @inner "fc" (%x) [hidden]
  model.return %0
}
model.graph @f(%x [batch, hidden] f32) {
  %h = model.repeat layers "h" @block(%x)
  weft.output "y" %h
}
"""
IN_LAYER = [(9, "called from"), (13, "called from")]
TAIL = '  weft.output "y" %h\n'


TRAINED = "  %m = weft.reduce mean %h over [0, 1]\n  weft.minimize %m\n"
SGD = "optimizer={sgd { lr: 0.1 }}"


def behind(line, text):
    return (TAIL, f'  %z = {line}\n  weft.output "y" %z\n', text)


# (what is replaced, by what, the error as "line:column: text", the lines of its notes, overrides)
CASES = [
    # Shapes, inside a layer that is repeated.
    ("[hidden, hidden]", "[hidden + 1, hidden]",
     "5:8: error: 'weft.einsum' op rhs: expected 8 for 'i', got 9 in 'tensor<9x8xf32>'", IN_LAYER, []),
    ("bi,io->bo", "bi,io->bob", "5:8: error: 'weft.einsum' op equation: expected no letter twice in one tensor, got "
     "'b' twice in \"bob\"", IN_LAYER, []),
    ("hidden = 8", "hidden = 8", "12:16: error: input \"x\": expected at most 281474976710656 elements, got more", [],
     ["batch={global: 1000000000000000}"]),
    ("hidden = 8", "hidden = 99999999999", "4:8: error: 'weft.parameter' op shape: expected at most 281474976710656 "
     "elements, got more", IN_LAYER, []),
    # Names.
    ('@inner "fc"', '@iner "fc"', "9:8: error: unknown layer @iner: expected inner or block", IN_LAYER[1:], []),
    ('layers "h"', 'layrs "h"',
     '13:8: error: repeat: count: "layrs": unknown name layrs: expected batch, layers or hidden', [], []),
    # Text that does not parse.
    ('"y" %h', '"y" %h %', "14:22: error: invalid SSA name", [], []),
    ("weft.output", "weft.outputs", "14:3: error: unknown op weft.outputs: expected one of weft or model, such as "
     "weft.add; did you mean weft.output?", [], []),
    ("weft.einsum", "weft.ensum", "5:8: error: unknown op weft.ensum: expected one of weft or model, such as weft.add; "
     "did you mean weft.einsum?", [], []),
    ("weft.einsum", "einsum", "5:8: error: unknown op einsum: expected weft.einsum", [], []),
    ("weft.einsum", "wft.einsum", "5:8: error: unknown op wft.einsum: expected weft.einsum", [], []),
    ("weft.einsum", "weft.colour", "5:8: error: unknown op weft.colour: expected one of weft or model, such as weft.add",
     [], []),
    ("  model.return %y", "  return %y", "6:3: error: unknown op return: expected model.return", [], []),
    ("model.config @layers", "# comment\nmodel.config @layers",
     "1:1: error: expected an op, got #: a comment begins with //", [], []),
    ("[hidden] {", "[hidden] { # comment", "3:35: error: expected an op, got #: a comment begins with //", [], []),
    (*behind("%h + %h", "14:7: error: expected an op, got an operator: write %z = weft.add %x, %y, or weft.sub, "
             "weft.mul, weft.div"), [], []),
    (*behind("weft.add %h + %h", "14:19: error: expected an op, got an operator: write %z = weft.add %x, %y, or "
             "weft.sub, weft.mul, weft.div"), [], []),
    # Graphs that are there for nothing, or for what nobody takes.
    (TAIL, "", "12:1: error: graph @f: expected weft.minimize, which trains, or weft.output, which yields a tensor, "
     "got neither", [], []),
    (TAIL, '  %m = weft.reduce mean %h over [0, 1]\n  weft.output "m" metric %m\n',
     "15:3: error: 'weft.output' op \"m\": expected a tensor, no metric, as the graph is a function, got one", [], []),
    (TAIL, TAIL * 2, "15:3: error: 'weft.output' op \"y\": expected distinct names of outputs, got it twice", [], []),
    (TAIL, TRAINED + TAIL, "16:3: error: 'weft.output' op \"y\": expected a metric, as the graph is trained, got a tensor "
     "that nobody takes", [], [SGD]),
    (TAIL, TRAINED + '  weft.output "lr" metric %m\n', "16:3: error: 'weft.output' op \"lr\": expected a name that every "
     "step does not report already", [], [SGD]),
    (TAIL, TRAINED + '  weft.output "a b" metric %m\n', "16:3: error: 'weft.output' op metric: expected a name of "
     "letters, digits, _, . and -, got \"a b\"", [], [SGD]),
    # What is kept from step to step.
    (TAIL, '  %s = weft.parameter "s" [] init(zeros) state\n  weft.assign %s, %s\n' + TAIL,
     "15:3: error: 'weft.assign' op parameter s: expected a graph that is trained, got a function, which keeps nothing",
     [], []),
    (TAIL, TRAINED + '  %s = weft.parameter "s" [] init(zeros) state\n  weft.assign %s, %s\n  weft.assign %s, %s\n',
     "18:3: error: 'weft.assign' op parameter s: expected one assignment, got another", [], [SGD]),
    ("%x, %w", "%x, %q", "5:36: error: use of undeclared SSA value name", [], []),
    ("init(normal 0.02)", "init(normal 0.02", "4:65: error: expected ')'", [], []),
    # Pins that cannot be met.
    ("init(normal 0.02)", "init(normal 0.02) sbp(tensor = S(2))",
     "4:8: error: 'weft.parameter' op sbp: tensor = S(2): expected a dimension below 2, got 2", IN_LAYER,
     ["dist.tensor=2"]),
    ("init(normal 0.02)", "init(normal 0.02) sbp(tensor = P)",
     "4:8: error: 'weft.parameter' op sbp: tensor = P: expected S(dim) or B for a parameter", IN_LAYER,
     ["dist.tensor=2"]),
    ("init(normal 0.02)", "init(normal 0.02) sbp(rows = S(0))",
     "4:8: error: 'weft.parameter' op sbp: expected axis data, expert, context or tensor, got rows", IN_LAYER, []),
    (*behind("weft.to_global %h sbp(tensor = S(7))",
             "14:8: error: 'weft.to_global' op sbp: tensor = S(7): expected a dimension below 2, got 7"), [],
     ["dist.tensor=2"]),
    # Placements on what is not there.
    (*behind('weft.to_global %h sbp(S(0)) placement("cpu", [0, 1, 2, 99])',
             "14:8: error: placement: expected ranks 0 to 63 of the local machine, got 99"), [], []),
    (*behind('weft.to_global %h sbp(S(0)) placement("cuda", [0, 1])',
             "14:8: error: placement: expected device cpu, got cuda"), [], []),
    (*behind('weft.to_global %h sbp(S(0), S(1)) placement("cpu", [[0, 1], [2]])',
             "14:8: error: 'weft.to_global' op placement: expected rows of 2, got one of 1"), [], []),
]


class ModelTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("m.job", 'model { file: "m.mlir" } batch { global: 4 }')
        self.model = self.path("m.mlir")
        self.plan_path = self.write("earlier.plan", "the plan of before")

    def places(self, *arguments):
        """The error line, its notes as (place, text), and all lines that a failed compilation prints."""
        before = self.files()
        result = call("weft-compile", *arguments, "-o", self.plan_path)
        self.assertEqual(result.status, 2, result.out + result.err)
        self.assertEqual(self.files(), before)
        lines = result.err.splitlines()
        # Nothing but one error and its notes, each with its line and a caret under it if it has one.
        self.assertEqual(sum(": error: " in line for line in lines), 1, result.err)
        self.assertNotIn("weft-compile", result.err)
        notes = [line.split(": note: ") for line in lines if ": note: " in line]
        return lines[0], notes, lines

    def test_the_model_is_good_as_it_stands(self):
        self.write("m.mlir", MODEL)
        self.run_ok("weft-compile", self.job, "-o", self.path("m.plan"), "dist.data=2", "--quiet")

    def test_errors_point_at_the_line_and_at_the_calls(self):
        for old, new, error, calls, overrides in CASES:
            with self.subTest(error=error):
                self.assertEqual(MODEL.count(old), 1, old)
                self.write("m.mlir", MODEL.replace(old, new))
                first, notes, lines = self.places(self.job, *overrides)
                self.assertEqual(first, f"{self.model}:{error}")
                # The line of the file stands under the error.
                number = int(error.split(":")[0])
                self.assertEqual(lines[1], MODEL.replace(old, new).splitlines()[number - 1])
                places = [(int(place.removeprefix(self.model + ":").split(":")[0]), text) for place, text in notes]
                self.assertEqual(places, calls)

    def test_errors_about_the_whole_file(self):
        self.write("m.mlir", MODEL)
        for text, overrides, error in [
                (MODEL, ["--set", "leyers=2"], "set: unknown config leyers: expected layers or hidden"),
                (MODEL, ["model.graph=g"], "graph: expected f, got g"),
                ("", [], "graph: expected a model.graph in the file, got none")]:
            with self.subTest(error=error):
                self.write("m.mlir", text)
                self.assertEqual(self.places(self.job, *overrides)[0], f"{self.model}: error: {error}")

    def test_what_is_no_model(self):
        for content in (b"\xff\x00\x01 nothing", b'model { file: "m.mlir" }'):
            self.write("m.mlir", content)
            self.assertTrue(self.places(self.job)[0].startswith(f"{self.model}:1:1: error: "))

    def test_imports(self):
        self.write("m.mlir", 'model.import "none.mlir"\n' + MODEL)
        self.assertEqual(self.places(self.job)[0], f'{self.model}:1:1: error: import "none.mlir": expected a file, '
                         f'found none at {self.path("none.mlir")}')

    def test_a_graph_that_minimizes_needs_an_optimizer(self):
        self.write("m.job", f'model {{ file: "{os.path.abspath("models/gpt2/gpt2.mlir")}" graph: "train" }}')
        first = self.places(self.job)[0]
        self.assertRegex(first, r"gpt2\.mlir:\d+:3: error: optimizer: expected sgd, adam, adamw, lion, adafactor, lamb, "
                         r"lars or muon in the job, got none$")

    def test_patterns_that_fit_no_parameter(self):
        self.write("m.mlir", MODEL.replace(TAIL, TRAINED))
        one = "which fits none; the first of 3 is h.0.fc.weight"
        for override, error in [
                ("optimizer={sgd {lr: 1} frozen: 'h'}",
                 "optimizer.frozen: expected a regular expression that fits a trained parameter, got h, " + one),
                ("optimizer={sgd {lr: 1} groups {pattern: 'h.0.fc.weigh' lr_scale: 2}}",
                 "optimizer.groups: expected a regular expression that fits a trained parameter, got h.0.fc.weigh, " + one),
                ("optimizer={sgd {lr: 1} frozen: '(h'}",
                 "optimizer.frozen: expected a regular expression, got (h: parentheses not balanced")]:
            with self.subTest(override=override):
                places = self.places(self.job, override)
                self.assertRegex(places[0], r"m\.mlir:\d+:1: error: " + re.escape(error) + "$")
                self.assertEqual(sum("error: " in line for line in places), 1)

    def test_what_the_optimizer_updates_is_not_assigned(self):
        model = MODEL.replace("  model.return %y", "  weft.assign %w, %w\n  model.return %y")
        self.write("m.mlir", model)
        first = self.places(self.job)[0]
        self.assertEqual(first, f"{self.model}:6:3: error: 'weft.assign' op parameter h.0.fc.weight: expected a graph that "
                         "is trained, got a function, which keeps nothing")
        self.write("m.mlir", model.replace(TAIL, TRAINED))
        first = self.places(self.job, SGD)[0]
        self.assertEqual(first, f"{self.model}:6:3: error: 'weft.assign' op parameter h.0.fc.weight: expected one that "
                         "the optimizer does not update, got one that influences the loss")

    def test_work_without_bound(self):
        twice = "model.layer @l0(%x) {\n  model.return %x\n}\n" + "".join(
            f"model.layer @l{i}(%x) {{\n  %0 = model.call @l{i - 1} \"a\" (%x)\n  %1 = model.call @l{i - 1} \"b\" (%0)\n"
            "  model.return %1\n}\n" for i in range(1, 41))
        self.write("m.mlir", twice + 'model.graph @f(%x [batch] f32) {\n  %y = model.call @l40 (%x)\n'
                   '  weft.output "y" %y\n}\n')
        self.assertRegex(self.places(self.job)[0], r":\d+:8: error: expected at most 1048576 ops and calls in a graph, "
                         "got more$")

    def test_texts_without_bound(self):
        self.write("m.mlir", MODEL.replace("hidden = 8", "hidden = 8" + " + 1" * 300000))
        self.assertRegex(self.places(self.job)[0], r":2:\d+: error: custom op 'model.config' expression: expected at "
                         "most 65536 letters, got more$")

    def test_files_without_bound(self):
        self.write("m.mlir", b"/" * (16777216 + 1))
        self.refused("weft-compile", self.job, "-o", self.plan_path,
                     line=f"{self.model}: expected at most 16777216 bytes, got more")

if __name__ == "__main__":
    main()
