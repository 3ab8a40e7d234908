#!/usr/bin/env python3
"""The Python package does what the programs do, also where pip has installed it."""
import inspect
import json
import os
import shutil
import subprocess
import sys

sys.path[:0] = ["tests/support", "python"]
from programs import ProgramTest, call, contents, main, metrics, raw_safetensors, write_safetensors  # noqa: E402
import weft  # noqa: E402

JOB = "models/gpt2/tiny.job"
TEXT = "models/layers.mlir"


class PackageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        weft.use("tools/weft")

    def text(self):
        return self.write("text", contents(TEXT))

    def test_compile_takes_keys_of_any_kind(self):
        plan = weft.compile(JOB, self.path("a.plan"), set={"layers": 1}, dist={"data": 2, "tensor": 2}, graph={"fusion": False},
                            batch={"micro": 16})
        self.run_ok("weft-compile", JOB, "--set", "layers=1", "dist.data=2", "dist.tensor=2", "graph.fusion=false",
                    "batch.micro=16", "-o", self.path("b.plan"))
        self.assertEqual(contents(plan.path), contents(self.path("b.plan")))

    def test_a_plan_is_there_as_long_as_it_is_used(self):
        plan = weft.compile(JOB)
        path, kept = plan.path, plan.save(self.path("kept.plan"))
        self.assertEqual(contents(path), contents(kept.path))
        del plan
        self.assertFalse(os.path.exists(path))

    def test_plans_as_data(self):
        plan = weft.Plan(self.plan("dist.tensor=2", job=JOB))
        for name, found in (("show", plan.show()), ("memory", plan.memory()), ("simulate", plan.simulate()),
                            ("explain", plan.explain()), ("report", plan.report()), ("verify", plan.verify())):
            self.assertEqual(found, json.loads(self.run_ok("weft-plan", name, plan.path, "--json").out), name)
        kernels = self.run_ok("weft-plan", "show", plan.path, "--kernels", "--json").out
        self.assertEqual(plan.show(kernels=True), json.loads(kernels))
        self.assertNotEqual(plan.show(kernels=True), plan.show())
        self.assertLess(plan.simulate(node={"link_bytes_s": "2x"})["step_s"], plan.simulate()["step_s"])
        self.assertEqual(plan.simulate(unit_times=True)["unit_times"], True)
        self.assertNotEqual(plan.explain("h.1.mlp"), plan.explain())
        held = plan.sharding("wte.weight")["stages"][0]["parts"]
        self.assertEqual([(part["origin"], part["shape"], part["ranks"]) for part in held],
                         [([0, 0], [128, 64], [0]), ([128, 0], [128, 64], [1])])
        self.assertEqual(plan.job(), self.run_ok("weft-plan", "job", plan.path).out)

    def test_errors_are_what_the_programs_say(self):
        with self.assertRaises(weft.RequestError) as caught:
            weft.compile(JOB, dist={"tenser": 2})
        said = call("weft-compile", JOB, "dist.tenser=2", "-o", self.path("a.plan"))
        self.assertEqual((str(caught.exception), caught.exception.status), (said.err.strip(), 2))
        self.assertFalse(os.path.exists(self.path("a.plan")))
        plan = weft.Plan(self.plan(job=JOB))
        with self.assertRaisesRegex(weft.RequestError, "cluster.nod"):
            plan.simulate(nod={"x": 1})
        with self.assertRaisesRegex(weft.RequestError, "^weft-run: --data: expected a file"):
            weft.run(plan).wait()
        with self.assertRaisesRegex(FileNotFoundError, "none.plan: expected a plan, found none"):
            weft.Plan("none.plan")

    def test_a_run_that_fails(self):
        plan = weft.compile(JOB, optimizer={"adamw": {"lr": 1e30}, "schedule": {"constant": "{}"}})
        steps = weft.run(plan, self.text(), steps=50, threads=1)
        seen = []
        with self.assertRaisesRegex(weft.WorkError, "weft-run: step .*: expected a finite number") as caught:
            seen.extend(iter(steps))
        self.assertEqual(caught.exception.status, 1)

    def test_metrics_come_while_the_run_goes_on(self):
        plan, runs = weft.Plan(self.plan(job=JOB)), self.path("runs")
        run = weft.run(plan, self.text(), steps=1000000, checkpoint_dir=runs, threads=1)
        self.assertEqual([next(run)["step"] for _ in range(3)], [1, 2, 3])
        self.assertEqual(run.about["data_form"], "text")
        run.stop()
        self.assertLess(weft.load(runs).step, 1000000)

    def test_metrics_are_those_of_the_file_and_of_this_run_alone(self):
        plan, file, runs = weft.Plan(self.plan(job=JOB)), self.path("metrics.jsonl"), self.path("runs")
        flags = {"metrics": file, "checkpoint_dir": runs, "threads": 1}
        first = list(weft.run(plan, self.text(), steps=3, **flags))
        self.assertEqual(first, metrics(file))
        more = list(weft.run(plan, self.text(), steps=5, resume=True, **flags))
        self.assertEqual([line["step"] for line in more], [4, 5])
        self.assertEqual(first + more, metrics(file))
        again = weft.run(plan, self.text(), steps=2, metrics=file, threads=1).wait()
        self.assertEqual(again["step"], 2)

    def test_a_checkpoint_as_arrays(self):
        plan, runs = weft.Plan(self.plan(job=JOB)), self.path("runs")
        weft.run(plan, self.text(), steps=2, checkpoint_dir=runs, threads=1).wait()
        found = weft.load(runs)
        self.assertEqual((found.step, found.seed, found.run["data_form"]), (2, 1, "text"))
        self.assertEqual(found.path, runs + "/step-00000002")
        written = self.path("again.safetensors")
        write_safetensors(written, {name: ("F32", list(x.shape), x.tobytes()) for name, x in found.items()})
        self.assertEqual(raw_safetensors(written), raw_safetensors(found.path + "/model.safetensors"))
        self.assertEqual(len(found.optimizer), 2 * len(found))
        self.assertGreater(abs(found.optimizer["adam_m.wte.weight"]).max(), 0)

    def test_other_types_and_broken_files(self):
        path = self.path("a.safetensors")
        # 1.0, -2.5 and the smallest above 1, as bfloat16.
        write_safetensors(path, {"b": ("BF16", [3], bytes.fromhex("803f20c0813f")), "i": ("I64", [1, 1], b"\xff" * 8)})
        found = weft.load(path)
        self.assertEqual(found["b"].tolist(), [1.0, -2.5, 1.0078125])
        self.assertEqual(found["i"].tolist(), [[-1]])
        with self.assertRaises(KeyError):
            found["none"]
        self.write("cut.safetensors", contents(path)[:-1])
        with self.assertRaisesRegex(ValueError, r"cut.safetensors: expected \d+ bytes, found \d+"):
            weft.load(self.path("cut.safetensors"))
        self.write("text", "no tensors")
        with self.assertRaisesRegex(ValueError, "text: expected a safetensors file, found another"):
            weft.load(self.path("text"))
        with self.assertRaisesRegex(FileNotFoundError, "nowhere: expected a checkpoint, found none"):
            weft.load(self.path("nowhere"))

    def test_everything_public_has_types(self):
        for name in weft.__all__:
            thing = getattr(weft, name)
            for function in [thing] if inspect.isfunction(thing) else inspect.getmembers(thing, inspect.isfunction):
                function = function[1] if isinstance(function, tuple) else function
                if function.__module__.startswith("weft"):
                    missing = [p for p in inspect.signature(function).parameters.values()
                               if p.annotation is p.empty and p.name != "self"]
                    self.assertFalse(missing, "%s of %s" % (missing, function))
                    self.assertIn("return", function.__annotations__, function)

    def test_metrics_go_to_weights_and_biases(self):
        """By the example, to a module of wandb's name that keeps what it is given."""
        self.write("wandb.py", """
import json, sys
class Config:
    def update(self, about, allow_val_change): print(json.dumps(["config", about["data_form"]]))
class Run:
    config = Config()
    def log(self, numbers, step): print(json.dumps([step, numbers]))
    def finish(self): print(json.dumps(["finish"]))
def init(project):
    print(json.dumps([project]))
    return Run()
""")
        plan, file = self.plan(job=JOB), self.path("metrics.jsonl")

        def printed(*arguments):
            path = "%s:%s" % (os.path.abspath("tools/weft"), os.environ["PATH"])
            done = subprocess.run([sys.executable, "python/examples/to_wandb.py", *arguments], capture_output=True, text=True,
                                  check=False, env={**os.environ, "PATH": path, "PYTHONPATH": self.folder + ":python"})
            self.assertEqual(done.returncode, 0, done.stderr)
            return [json.loads(line) for line in done.stdout.splitlines()]
        live = printed(plan, "words", "data=" + self.text(), "steps=2", "metrics=" + file)
        steps = [[line.pop("step"), line] for line in metrics(file)]
        self.assertEqual(live, [["words"], ["config", "text"], steps[0], ["config", "text"], steps[1], ["finish"]])
        self.assertEqual(printed(file, "words"), [["words"], ["config", "text"], *steps, ["finish"]])


class InstalledTest(ProgramTest):
    def test_pip_installs_it_and_the_example_runs(self):
        tree = self.path("tree")
        shutil.copytree("python", tree + "/python")
        os.makedirs(tree + "/runtime/version")
        shutil.copy("runtime/version/BUILD", tree + "/runtime/version")
        venv = self.path("venv")

        def do(*words):
            path = "%s:%s" % (os.path.abspath("tools/weft"), os.environ["PATH"])
            done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder, check=False,
                                  env={**os.environ, "PATH": path, "PYTHONPATH": "", "HOME": self.folder})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout
        # NumPy is the system's: nothing is downloaded.
        do(sys.executable, "-m", "venv", "--system-site-packages", venv)
        do(venv + "/bin/pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", tree + "/python")
        shutil.rmtree(tree + "/python/weft")
        where = do(venv + "/bin/python", "-c", "import weft; print(weft.__file__)").strip()
        self.assertTrue(where.startswith(venv), where)
        folder = os.path.dirname(where)
        self.assertTrue(os.path.exists(folder + "/py.typed"))
        self.assertTrue(os.path.exists(folder + "/importing/from_torch/operators.py"))
        number = self.run_ok("weft", "--version").out.split()[1]
        self.assertIn("Version: %s\n" % number, do(venv + "/bin/pip", "show", "--disable-pip-version-check", "weft"))

        text = self.write("text", contents(TEXT))
        printed = do(venv + "/bin/python", tree + "/python/examples/gpt2.py", os.getcwd(), text, self.path("runs"))
        self.assertRegex(printed, r"\Adata +\d+\.\d\d ms a step, \d+ bytes a rank\ntensor +\d+\.\d\d ms a step, \d+ bytes a rank\n"
                         r"\d+\.\d\d ms instead of \d+\.\d\d ms a step\nloss 5\.\d+ to [345]\.\d+ in 20 steps\n"
                         r"weft\.Checkpoint\('.*/step-00000020', step 20, 28 tensors\) \(256, 64\) 0\.\d+\nweft-compile: .*tenser")


if __name__ == "__main__":
    main()
