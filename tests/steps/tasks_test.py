#!/usr/bin/env python3
"""Tasks that people come with, as they would type them, and the facts that they must get.

What a task begins with (a plan, a run) is there; what is typed for it is counted, and printed at the end.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path[:0] = ["tests/support", "tests/processes", "tools/lsp"]
from editor import Editor  # noqa: E402
from programs import (LIMIT_S, PROGRAMS, ProgramTest, call, command, contents, corpus, losses, main, metrics,  # noqa: E402
                      raw_safetensors, relative)

try:
    from slurm_case import STEPS, SlurmCase
except ImportError:  # built without MPI
    SlurmCase = None

GPT2 = "models/gpt2/"
EIGHT_OF_80_GB = """device { kind: "cuda" memory_bytes: 80000000000
  contraction_flops: 312e12 other_flops: 19.5e12 memory_bytes_s: 2.039e12 launch_s: 3e-6 }
node { count: 1 ranks: 8 link_bytes_s: 300e9 latency_s: 5e-6 }
"""
GB = 80_000_000_000
# Sums over ranks are added in another order.
CLOSE = 1e-5


# Commands of each task, by its name.
TYPED = {}


class Task(ProgramTest):
    """A test whose name is a task: `types` runs a command of it."""

    def setUp(self):
        super().setUp()
        self.task = self.id().rsplit(".test_")[-1].replace("_", " ")
        TYPED[self.task] = 0

    def types(self, program, *arguments, status=0):
        TYPED[self.task] += 1
        result = call(program, *arguments)
        self.assertEqual(result.status, status, result.err)
        return result

    def text(self):
        return self.write("text", corpus(400))


class TasksTest(Task):
    def test_why_is_my_step_slow(self):
        # Ranks that share every matrix, over a network of 10 MB/s.
        slow = self.write("slow.cluster", """device { kind: "cpu" contraction_flops: 1e11 other_flops: 1e10 memory_bytes_s: 1e10 }
            node { count: 1 ranks: 2 link_bytes_s: 1e7 latency_s: 1e-5 }""")
        plan = self.plan("dist.tensor=2", "cluster=" + slow, job=GPT2 + "tiny.job")
        said = self.types("weft", "plan", "explain", plan).out
        found = json.loads(self.run_ok("weft", "plan", "explain", plan, "--json").out)
        # Where the time goes: the parts are the step, and most of it is communication that nothing hides.
        self.assertAlmostEqual(sum(found["division"].values()), found["step_s"], delta=1e-9 * found["step_s"])
        largest = max(found["division"], key=found["division"].get)
        self.assertEqual(largest, "exposed_comm_s")
        self.assertRegex(said, r"\n *exposed communication +\S+ \S+ +%.1f ?%%" % (
            100 * found["division"]["exposed_comm_s"] / found["step_s"]))
        # Which tensor costs most, at which line of the model.
        worst = max(found["communication"], key=lambda one: one["exposed_comm_s"])
        self.assertEqual(worst, found["communication"][0])
        self.assertRegex(worst["location"], r"\.mlir:\d+:\d+")
        self.assertIn(worst["location"], said)
        # What would help: twice the network's rate, and it does.
        best = max(found["prices"], key=lambda one: one["saved_s"])
        self.assertEqual(best["key"], "cluster.node.link_bytes_s=2x")
        faster = json.loads(self.run_ok("weft", "plan", "simulate", plan, best["key"], "--json").out)["step_s"]
        self.assertEqual(faster, best["step_s"])
        self.assertLess(faster, found["step_s"] * 0.75)

    def test_which_rank_holds_this_weight(self):
        plan = self.plan("dist.data=2", "dist.tensor=2", job=GPT2 + "tiny.job")
        said = self.types("weft", "plan", "sharding", plan, "h.1.mlp.c_fc.weight").out
        (stage,) = json.loads(self.run_ok("weft", "plan", "sharding", plan, "h.1.mlp.c_fc.weight", "--json").out)["stages"]
        # [64, 256], cut by columns over `tensor`, which is the inner axis; each half is on a rank of every `data`.
        self.assertEqual([(part["origin"], part["shape"], part["ranks"]) for part in stage["parts"]],
                         [([0, 0], [64, 128], [0, 2]), ([0, 128], [64, 128], [1, 3])])
        self.assertTrue(said.startswith("h.1.mlp.c_fc.weight: parameter f32[64,256], tensor=S(1)\n"), said)
        self.assertIn("| 0, 2  | 1, 3    |\n", said)

    def test_watch_it(self):
        runs = self.path("runs")
        os.mkdir(runs)
        path = runs + "/metrics.jsonl"
        run = subprocess.Popen(command("weft", "run", self.plan("dist.data=2", job=GPT2 + "tiny.job"), "--data", self.text(), "--steps",
                                       1000000, "--threads", 1, "--quiet", "--metrics", path),
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while run.poll() is None and not (os.path.exists(path) and contents(path).count(b'{"step":') >= 3):
                time.sleep(0.01)
            self.assertIsNone(run.poll())
            frame = self.types("weft", "watch", runs, "--once").out
            self.assertIsNone(run.poll())  # it goes on
        finally:
            run.send_signal(signal.SIGTERM)
            run.wait(LIMIT_S)
        step = int(re.match(r"step (\d+)/1000000, ", frame)[1])
        self.assertGreaterEqual(step, 3)
        self.assertIn("\n2 ranks (data = 2), on ", frame)
        self.assertRegex(frame, r"\n  loss +%.5g  " % metrics(path)[step - 1]["loss"])

    def test_plot_two_runs(self):
        runs, text, job = self.path("runs"), self.text(), GPT2 + "tiny.job"
        for name, rate in (("fast", "3e-3"), ("slow", "1e-4")):
            os.makedirs(f"{runs}/{name}")
            self.run_ok("weft", "run", self.plan("optimizer.adamw.lr=" + rate, job=job), "--data", text, "--steps", 6, "--threads", 1,
                        "--quiet", "--metrics", f"{runs}/{name}/metrics.jsonl", "--tensorboard", f"{runs}/{name}")
        both = self.types("weft", "watch", runs).out.splitlines()
        self.assertEqual([line.split()[0] for line in both], ["run", "fast", "slow"])
        for line in both[1:]:
            last = metrics(f"{runs}/{line.split()[0]}/metrics.jsonl")[-1]
            self.assertIn(" %.5g " % last["loss"], line)
        # The course of each, and what TensorBoard draws over each other: a run a folder.
        for name in ("fast", "slow"):
            frame = self.types("weft", "watch", f"{runs}/{name}", "--once").out
            self.assertRegex(frame, r"\n  loss .* [▁▂▃▄▅▆▇█]{6}\n")
        for name in ("fast", "slow"):
            self.assertEqual(sum("tfevents" in file for file in os.listdir(f"{runs}/{name}")), 1)

    def test_load_the_weights_in_python(self):
        runs = self.path("runs")
        self.run_ok("weft", "run", self.plan("dist.data=2", "dist.tensor=2", job=GPT2 + "tiny.job"), "--data", self.text(), "--steps", 2,
                    "--threads", 1, "--quiet", "--checkpoint-dir", runs)
        script = ("import weft; found = weft.load('%s'); weight = found['h.0.mlp.c_fc.weight']; "
                  "print(found.step, weight.dtype, weight.shape, weight.tobytes().hex())" % runs)
        TYPED[self.task] += 1
        done = subprocess.run(["/usr/bin/python3", "-c", script], env={**os.environ, "PYTHONPATH": "python"}, capture_output=True,
                              text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        step, dtype, shape, numbers = re.fullmatch(r"(\d+) (\w+) (\(.*?\)) (\w+)\n", done.stdout).groups()
        self.assertEqual((step, dtype, shape), ("2", "float32", "(64, 256)"))
        # The whole tensor, as any program reads it that knows safetensors.
        self.run_ok("weft-export", runs, "--models", "models", "-o", self.path("exported"), "--quiet")
        (name,) = [one for one in os.listdir(self.path("exported")) if one.endswith(".safetensors")]
        tensors = raw_safetensors(self.path("exported") + "/" + name)
        (weight,) = [tensor for key, tensor in tensors.items() if key.endswith("h.0.mlp.c_fc.weight")]
        self.assertEqual(numbers, weight[2].hex())

    def test_add_a_layer_with_editor_help(self):
        shutil.copytree("models", self.path("models"))
        path = self.path("models/gpt2/gpt2.mlir")
        before = contents(path).decode()
        editor = Editor(os.path.abspath("tools/lsp/weft-lsp"))
        self.addCleanup(editor.stop)
        editor.ask("initialize", {"capabilities": {}})
        self.assertEqual(editor.open(path, before), [])
        # One more norm before the head: the editor ends its name, says how it is called, and what is wrong without.
        line = before[:before.index("  %6 = model.call @tied_head (%5")].count("\n")
        lines = before.split("\n")
        typed = [*lines[:line], "%n = model.call @rms_", *lines[line:]]
        editor.change(path, "\n".join(typed), 2)
        labels = [item["label"] for item in editor.ask_at("completion", path, line, len(typed[line]))["items"]]
        self.assertEqual(labels, ["@rms_norm"])
        typed[line] = '%n = model.call @rms_norm "ln_g" (%5)'
        (wrong,) = {one["message"] for one in editor.change(path, "\n".join(typed), 3)}
        self.assertEqual(wrong, "layer @rms_norm: parameters: expected 1 to 2 (hidden, eps), got 0")
        head = editor.ask_at("hover", path, line, typed[line].index("@rms") + 1)["contents"]["value"]
        self.assertIn("model.layer @rms_norm(%x) [hidden, eps = 1.0e-6]", head)
        typed[line] += " [hidden]"
        typed[line + 1] = typed[line + 1].replace("%5", "%n")
        self.assertEqual(editor.change(path, "\n".join(typed), 4), [])
        shape = editor.ask_at("hover", path, line, 1)["contents"]["value"]
        self.assertRegex(shape, r"%n: f32\[\d+,64,64\]\n")
        (edit,) = editor.ask("textDocument/formatting", {"textDocument": {"uri": "file://" + path}, "options": {}})
        self.write("models/gpt2/gpt2.mlir", edit["newText"])
        self.assertEqual(edit["newText"].split("\n")[line], '  %n = model.call @rms_norm "ln_g" (%5) [hidden]')
        self.run_ok("weft", "fmt", "--check", path)
        self.types("weft", "compile", self.path("models/gpt2/tiny.job"), "-o", self.path("plan"), "--quiet")
        shown = self.run_ok("weft", "plan", "show", self.path("plan")).out
        self.assertRegex(shown, r"ln_g\.weight +f32\[64\]")

    def test_what_fits_on_eight_gpus_of_80_gb(self):
        cluster, plan = "cluster=" + self.write("8x80gb.cluster", EIGHT_OF_80_GB), self.path("plan")
        found = self.types("weft", "compile", GPT2 + "345m.job", cluster, "graph.auto_parallel=true", "batch.micro=0",
                            "precision.compute=BF16", "-o", plan)
        self.assertRegex(found.out + found.err, r"chosen: dist\.data=8 batch\.micro=\d+")
        shown = json.loads(self.run_ok("weft", "plan", "show", plan, "--json").out)
        ranks = sum(len(stage["placement"]["ranks"]) for stage in shown["stages"])
        self.assertEqual(ranks, 8)
        for stage in shown["stages"]:
            self.assertLess(stage["memory"]["arena_bytes"], GB)
        # 175 billion parameters of 16 bytes are 2.8 TB, and eight such GPUs 0.64: refused, with the bytes of a rank.
        refused = self.types("weft", "compile", GPT2 + "175b.job", cluster, "dist.data=1", "dist.pipeline=1", "dist.tensor=8",
                             "zero.stage=0", "-o", self.path("large"), status=2)
        said = re.search(r"expected at most 80,000,000,000 bytes \(74\.5 GiB\), got ([\d,]+)", refused.err)
        self.assertGreater(int(said[1].replace(",", "")), 175e9 * 14 / 8)
        self.assertFalse(os.path.exists(self.path("large")))

    def test_what_changed_between_two_plans(self):
        job = GPT2 + "tiny.job"
        before, after = self.plan("dist.data=2", "dist.tensor=2", job=job), self.plan("dist.tensor=4",
                                                                                     "optimizer.adamw.lr=1e-3", job=job)
        compared = self.types("weft", "plan", "diff", before, after, status=1)  # they differ
        self.assertEqual(compared.err, "")
        out = compared.out
        job_lines = re.search(r"^job\n((?:  .*\n)+)", out, re.M)[1]
        self.assertEqual(job_lines, "  dist.data: 2 -> 1\n  dist.tensor: 2 -> 4\n  optimizer.adamw.lr: 0.003 -> 0.001\n")
        self.assertIn("- stage 0: data x tensor = 2 x 2 on cpu, ranks 0 to 3\n+ stage 0: tensor = 4 on cpu, ranks 0 to 3\n", out)
        shown = [json.loads(self.run_ok("weft", "plan", "show", plan, "--json").out) for plan in (before, after)]
        sent = [round(one["prediction"]["communication_bytes"] / 2**20, 2) for one in shown]
        self.assertRegex(out, r"sent by a rank a step +%.2f MiB +%.2f MiB" % tuple(sent))

    def test_resume_it_elsewhere(self):
        job, text = GPT2 + "tiny.job", self.write("text", corpus(400))
        four, two = self.plan("dist.data=2", "dist.tensor=2", job=job), self.path("two.plan")

        def run(plan, steps, name, *flags, by=self.run_ok):
            by("weft", "run", plan, "--data", text, "--steps", steps, "--threads", 1, "--quiet", "--metrics", self.path(name),
               *flags)

        run(four, 6, "whole.jsonl")
        run(four, 3, "parts.jsonl", "--checkpoint-dir", self.path("runs"))
        # The folder goes to another machine, whose ranks are two stages and take other micro-batches.
        self.types("weft", "compile", job, "dist.pipeline=2", "batch.micro=8", "-o", two)
        run(two, 6, "parts.jsonl", "--checkpoint-dir", self.path("runs"), "--resume", by=self.types)
        whole, parts = losses(self.path("whole.jsonl")), losses(self.path("parts.jsonl"))
        self.assertEqual(len(parts), 6)
        self.assertEqual(parts[:3], whole[:3])
        for one, other in zip(parts[3:], whole[3:]):
            self.assertLess(relative(one, other), CLOSE)


if SlurmCase is not None:
    class SlurmTaskTest(SlurmCase):
        def test_run_it_under_Slurm_on_two_nodes(self):
            TYPED["run it under Slurm on two nodes"] = 1
            self.sbatch()
            self.assertEqual(len(set(line.split()[1] for line in contents(self.path("tasks")).decode().splitlines())), 2)
            steps = metrics(self.path("gpt2.jsonl"))
            self.assertEqual([line["step"] for line in steps], list(range(1, STEPS + 1)))
            self.assertLess(steps[-1]["loss"], steps[0]["loss"])
            self.assertEqual(contents(self.path("runs/gpt2/latest")).decode(), f"step-{STEPS:08}\n")


def tearDownModule():
    for task, commands in TYPED.items():
        print("%2d  %s" % (commands, task))


if __name__ == "__main__":
    main()
