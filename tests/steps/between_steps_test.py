#!/usr/bin/env python3
"""Evaluations between the steps of a training: the same numbers in every layout, no trace in the training, the best kept, an end
that comes early, and all of that over a resume."""
import json
import os
import shutil
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import WEIGHTS, corpus, losses, main, metrics, raw_safetensors, saved_step  # noqa: E402

ASKED = "evaluation={graph: \"evaluate\" every: 2 metric: \"loss\" best: MIN}"
TEXT = ("data.format=TEXT", ASKED)
LAYOUTS = (
    ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",), ("dist.data=2", "zero.stage=1"),
    ("dist.data=2", "dist.pipeline=2", "zero.stage=2"), ("dist.data=2", "dist.tensor=2", "zero.stage=3"),
    ("dist.data=4", "zero.stage=3", "zero.group=2"), ("dist.data=3", "evaluation.batch=3"),
    ("dist.pipeline=2", "batch.micro=2", "pipeline.schedule=ZERO_BUBBLE", "pipeline.form=V", "evaluation.batch=5"),
    ("dist.pipeline=2", "batch.micro=2", "pipeline.schedule=INTERLEAVED"),
)
CLOSE = 2e-5
# Six good steps, then a rate that spoils what was learnt.
SPOILT = ("optimizer.schedule={step { warmup: 1 milestones: 7 factor: 10000 }}",)


class BetweenStepsTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.trained = self.write("trained.txt", corpus(40))  # ten steps an epoch
        self.evaluated = self.write("evaluated.txt", corpus(10))  # two batches and half of a third

    def go(self, plan, steps, *flags, name="m", data=None):
        """The lines of the steps of a training from the oracle's weights, and what it printed."""
        path = self.path(name + ".jsonl")
        start = () if "--resume" in flags else ("--init", WEIGHTS)
        result = self.run_ok("weft-run", plan, "--data", data or self.trained, "--steps", steps, "--threads", 1, "--metrics",
                             path, *start, *flags)
        return metrics(path), result.err

    def evaluates(self, plan, steps, *flags, **more):
        return self.go(plan, steps, "--eval-data", self.evaluated, *flags, **more)

    @staticmethod
    def found(lines, name="eval_loss"):
        return {line["step"]: line[name] for line in lines if name in line}

    def of_function(self, weights, data, *layout):
        path = self.path("function.jsonl")
        self.run_ok("weft-run", self.plan(*TEXT, "model.graph=evaluate", *layout), "--data", data, "--quiet", "--metrics", path,
                    "--threads", 1, *weights)
        with open(path, encoding="utf-8") as file:
            return json.loads(file.readlines()[1])["means"]["loss"]

    # ---- what is found ------------------------------------------------------
    def test_every_layout_finds_what_one_rank_does(self):
        lines, _ = self.evaluates(self.plan(*TEXT), 5, "--checkpoint-dir", self.path("runs"))
        one = self.found(lines)
        self.assertEqual(sorted(one), [2, 4, 5])  # the last step too
        self.assertEqual(one[5], self.of_function(["--init", self.path("runs")], self.evaluated))
        self.assertLess(one[5], one[2] - 0.01)
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                found = self.found(self.evaluates(self.plan(*TEXT, *layout), 5)[0])
                self.assertEqual(sorted(found), [2, 4, 5])
                for step, loss in found.items():
                    self.assertAlmostEqual(loss, one[step], delta=CLOSE)

    def test_a_training_does_not_notice(self):
        for layout in ((), ("dist.data=2", "zero.stage=3")):
            with self.subTest(layout=layout):
                plan = self.plan(*TEXT, *layout)
                alone, _ = self.go(plan, 6, "--checkpoint-dir", self.path("alone"), name="alone")
                beside, _ = self.evaluates(plan, 6, "--checkpoint-dir", self.path("beside"), name="beside")
                self.assertEqual([line["loss"] for line in beside], [line["loss"] for line in alone])
                for file in ("model.safetensors", "optimizer.safetensors"):
                    self.assertEqual(raw_safetensors(self.path(f"beside/step-00000006/{file}")),
                                     raw_safetensors(self.path(f"alone/step-00000006/{file}")))
                shutil.rmtree(self.path("alone"))
                shutil.rmtree(self.path("beside"))

    def test_the_first_batches_alone(self):
        eight = self.write("eight.txt", corpus(8))
        lines, printed = self.evaluates(self.plan(*TEXT), 2, "--eval-batches", 2, "--checkpoint-dir", self.path("runs"))
        self.assertEqual(self.found(lines)[2], self.of_function(["--init", self.path("runs")], eight))
        self.assertIn("10 sequences of 64, the first 8, in 2 steps\n", printed)
        self.assertEqual(self.found(self.evaluates(self.plan(*TEXT, "evaluation.batches=2"), 2)[0]), self.found(lines))

    def test_an_epoch_is_all_of_the_data(self):
        plan = self.plan(*TEXT, "evaluation.every=0")
        lines, printed = self.evaluates(plan, 24, data=self.write("more.txt", corpus(42)))  # ten steps and a half
        self.assertEqual(sorted(self.found(lines)), [11, 21, 24])
        self.assertIn("evaluate after every epoch: ", printed)
        self.assertEqual(sorted(self.found(self.evaluates(plan, 5, "--eval-every", 3)[0])), [3, 5])

    def test_a_function_takes_a_folder_of_checkpoints(self):
        self.evaluates(self.plan(*TEXT), 2, "--checkpoint-dir", self.path("runs"))
        os.remove(self.path("runs/.lock")) if os.path.exists(self.path("runs/.lock")) else None
        before = self.files()
        self.assertEqual(self.of_function(["--checkpoint-dir", self.path("runs")], self.evaluated),
                         self.of_function(["--init", self.path("runs/step-00000002")], self.evaluated))
        after = self.files()
        del after[self.path("function.jsonl")]
        self.assertEqual(after, before)

    # ---- the best, and the end ----------------------------------------------
    def test_the_best_is_kept_and_patience_ends(self):
        runs = self.path("runs")
        lines, printed = self.evaluates(self.plan(*TEXT, *SPOILT, "evaluation.patience=2"), 40, "--checkpoint-dir", runs)
        found = self.found(lines)
        self.assertEqual(sorted(found), [2, 4, 6, 8, 10])
        self.assertEqual(min(found, key=found.get), 6)
        self.assertEqual(os.readlink(runs + "/best"), "step-00000006")
        # What was the best before is gone.
        self.assertEqual([name for name in sorted(os.listdir(runs)) if name[0] != "."],
                         ["best", "latest", "step-00000006", "step-00000010"])
        best = f"loss {found[6]:.6g} after step 6"
        self.assertIn(f"stopped after step 10: 2 evaluations in a row no better than {best}\n", printed)
        self.assertIn(f"best: {best}, in {runs}/best\n", printed)
        self.assertEqual(self.of_function(["--init", runs + "/best"], self.evaluated), found[6])
        self.assertRegex(printed, r"step  6/40  loss \d\.\d+  norm \S+  lr \S+  eval_loss \d\.\d+  ")

    def test_the_best_stays_where_others_go(self):
        runs = self.path("runs")
        self.evaluates(self.plan(*TEXT, *SPOILT), 12, "--checkpoint-dir", runs, "--checkpoint-every", 3, "--checkpoint-keep", 1)
        self.assertEqual([name for name in sorted(os.listdir(runs)) if name[0] != "."],
                         ["best", "latest", "step-00000006", "step-00000012"])
        self.assertEqual(os.readlink(runs + "/best"), "step-00000006")

    def test_what_was_asked_for_stays(self):
        runs = self.path("runs")
        self.evaluates(self.plan(*TEXT), 6, "--checkpoint-dir", runs, "--checkpoint-every", 2)
        self.assertEqual([name for name in sorted(os.listdir(runs)) if name[0] != "."],
                         ["best", "latest", "step-00000002", "step-00000004", "step-00000006"])

    def test_ends_where_it_is_good_enough(self):
        lines, _ = self.evaluates(self.plan(*TEXT), 6)
        found = self.found(lines)
        for flags, plan in ((("--stop-at", found[4]), self.plan(*TEXT)),
                            ((), self.plan(*TEXT, f"evaluation.stop_at={found[4]}"))):
            ended, printed = self.evaluates(plan, 40, *flags)
            self.assertEqual(self.found(ended), {2: found[2], 4: found[4]})
            self.assertIn(f"stopped after step 4: loss {found[4]:.6g} after step 4, which is ", printed)

    # ---- over a resume ------------------------------------------------------
    def test_a_resume_goes_on_with_the_best_and_the_patience(self):
        plan = self.plan(*TEXT, *SPOILT, "evaluation.patience=2")
        whole, _ = self.evaluates(plan, 40, "--checkpoint-dir", self.path("whole"), name="whole")
        flags = ("--checkpoint-dir", self.path("parts"))
        self.evaluates(plan, 4, *flags, name="parts")
        self.evaluates(plan, 8, *flags, "--resume", name="parts")  # one that was no better
        lines, printed = self.evaluates(plan, 40, *flags, "--resume", name="parts")
        self.assertEqual(losses(self.path("parts.jsonl")), losses(self.path("whole.jsonl")))
        self.assertEqual(self.found(lines), self.found(whole))
        self.assertIn("stopped after step 10: ", printed)
        self.assertEqual(saved_step(self.path("parts/best")), saved_step(self.path("whole/best")))
        self.assertEqual(saved_step(self.path("parts/step-00000010")), saved_step(self.path("whole/step-00000010")))
        _, printed = self.evaluates(plan, 40, *flags, "--resume", name="parts")
        self.assertIn("nothing to do: 2 evaluations in a row no better than ", printed)
        # More patience goes on.
        lines, _ = self.evaluates(plan, 40, *flags, "--resume", "--patience", 3, name="parts")
        self.assertEqual(max(self.found(lines)), 12)

    def test_the_best_of_other_data_does_not_count(self):
        flags = ("--checkpoint-dir", self.path("runs"))
        plan = self.plan(*TEXT, *SPOILT)
        self.evaluates(plan, 6, *flags)
        self.evaluated = self.write("other.txt", corpus(6))
        _, printed = self.evaluates(plan, 12, *flags, "--resume")
        self.assertIn("no evaluation of before counts: the best begins anew\n", printed)
        self.assertNotEqual(os.readlink(self.path("runs/best")), "step-00000006")

    # ---- what cannot be -----------------------------------------------------
    def refused_job(self, line, *overrides, says=()):
        self.refused("weft-compile", "tests/oracle/tiny.job", *overrides, "-o", self.path("x.plan"), line=line, says=says)

    def test_bad_jobs(self):
        graph = "evaluation.graph=evaluate"
        self.refused_job("tests/oracle/tiny.job: evaluation.graph: expected a graph of the model file, got none", "evaluation.every=2")
        self.refused_job("tests/oracle/tiny.job: evaluation.every: expected 0 or more, got -1", graph, "evaluation.every=-1")
        self.refused_job("tests/oracle/tiny.job: evaluation.metric: expected the output that evaluation.patience is of, got none", graph,
                         "evaluation.patience=2")
        self.refused_job("tests/oracle/tiny.job: evaluation.best: expected MIN or MAX, of evaluation.metric, got none", graph, "evaluation.metric=loss")
        self.refused_job("evaluation.metric: expected an output of evaluate that is one number a sample, loss, got accuracy", graph,
                         "evaluation.metric=accuracy", "evaluation.best=MAX")
        self.refused_job("evaluation.graph: logits: expected an output that is one number a sample, [batch], got none",
                         "evaluation.graph=logits")
        self.refused_job("evaluation.graph: expected a function, which minimizes and assigns nothing, got train",
                         "evaluation.graph=train")
        self.refused_job(None, "evaluation.graph=other", says=["evaluation.graph: expected ", "evaluate", ", got other"])

    def test_both_have_to_fit(self):
        fits = ("evaluation.graph=evaluate", "cluster.device.memory_bytes=5000000", "-o", self.path("x.plan"), "--quiet")
        self.run_ok("weft-compile", "tests/oracle/tiny.job", *fits)
        self.refused("weft-compile", "tests/oracle/tiny.job", "evaluation.batch=400", *fits, notes=True, says=[
            "evaluation: the plan does not fit: stage 0: memory of a rank: expected at most 5,000,000 bytes",
            "\n  fewer samples a step need less: evaluation.batch is 400\n"])

    def test_other_parameters(self):
        os.mkdir(self.path("m"))
        with open("models/mlp/mlp.mlir", encoding="utf-8") as file:
            text = file.read().replace("../layers.mlir", os.path.abspath("models/layers.mlir"))
        model = """
model.graph @other(%tokens [batch, seq] i32) {
  %x, %table = model.call @embedding "embedding" (%tokens) [vocab, WIDTH]
  %0 = weft.reduce mean %x over [1, 2]
  weft.output "loss" %0
  EXTRA
}
"""
        extra = """%1 = model.call @linear "more" (%x) [hidden, inner, S(1), S(0)]
  %2 = weft.reduce mean %1 over [1, 2]
  weft.output "more" %2"""
        for width, more, line in (
                ("2 * hidden", "", "evaluation.graph: other: parameter `embedding.weight`: expected [256,64], as train has it, "
                 "got [256,128]"),
                ("hidden", extra, "evaluation.graph: other: parameter `more.weight`: expected one that train has, found none of "
                 "this name")):
            self.write("m.mlir", text + model.replace("WIDTH", width).replace("EXTRA", more))
            job = self.write("m.job", 'model { file: "m.mlir" graph: "train" } optimizer { adam { lr: 1e-3 } }\n')
            self.refused("weft-compile", job, "evaluation.graph=other", "-o", self.path("x.plan"), line=line)

    def refused_run(self, plan, line, *flags):
        self.refused("weft-run", plan, "--data", self.trained, "--steps", 4, "--quiet", "--checkpoint-dir", self.path("runs"),
                     *flags, line=line)

    def test_bad_requests(self):
        plan, alone = self.plan(*TEXT), self.plan("data.format=TEXT")
        short = self.write("short.txt", corpus(1)[:40])
        self.refused_run(alone, "--eval-data: expected a plan of a job with evaluation.graph, got one without", "--eval-data",
                         self.evaluated)
        self.refused_run(plan, "--eval-data: expected, as --eval-every needs it (see --help)", "--eval-every", 2)
        self.refused_run(plan, f"--eval-batches: expected at most 3 of 4, as {self.evaluated} has 10 samples, got 4", "--eval-data",
                         self.evaluated, "--eval-batches", 4)
        self.refused_run(self.plan("data.format=TEXT", "evaluation.graph=evaluate"),
                         "--patience: expected a plan of a job with evaluation.metric, got one without", "--eval-data",
                         self.evaluated, "--patience", 2)
        result = self.refused("weft-run", plan, "--data", self.trained, "--eval-data", short, "--quiet")
        self.assertIn(short + ": expected at least ", result.err)
        self.refused_run(plan, "--eval-data: expected one data set, as each sample is read once, got a blend of 2", "--eval-data",
                         f"0.5 {self.evaluated} 0.5 {self.trained}")
        function = self.plan(*TEXT, "model.graph=evaluate")
        self.refused("weft-run", function, "--data", self.evaluated, "--checkpoint-dir", "a", "--init", "b", "--quiet",
                     line="--init: expected only with no --checkpoint-dir")
        self.refused("weft-run", function, "--data", self.evaluated, "--eval-data", "a", "--quiet",
                     line="--eval-data: expected only with a graph that trains, got graph `evaluate`")


if __name__ == "__main__":
    main()
