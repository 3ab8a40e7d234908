#!/usr/bin/env python3
"""Jobs and overrides that ask for what there is not."""
import os
import shutil
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import JOB, call, contents, main  # noqa: E402

# Overrides of a good job -> the error behind "weft-compile: "; {job} is the job's path.
OVERRIDES = [
    (["colour=1"], "colour: unknown key colour: expected model, batch, precision, optimizer, dist, graph, data, "
                   "cluster, seed, checkpoint, pipeline, zero, recompute, auto, evaluation, generate"),
    (["batch.size=1"], "batch.size: unknown key size: expected global, micro, overlap"),
    (["batch=3"], 'batch: expected one of its keys (global, micro, overlap) or {...}, got "3"'),
    (["=3"], 'override: expected key.path=value, got "=3"'),
    (["dist.data"], "expected key.path=value after the job, got dist.data"),
    (["batch.global=many"], 'batch.global: expected a whole number, got "many"'),
    (["batch.global=4.5"], 'batch.global: expected a whole number, got "4.5"'),
    (["batch.global=99999999999999999999"], 'batch.global: expected a whole number, got "99999999999999999999"'),
    (["seed=-1"], 'seed: expected a whole number of 0 or more, got "-1"'),
    (["seed.low=1"], "seed.low: seed has no keys"),
    (["precision.compute=F8"], 'precision.compute: expected F32, BF16, F16, got "F8"'),
    (["batch.micro=-4"], "{job}: batch.micro: expected 1 or more, got -4"),
    (["batch.global=3"], "{job}: batch.global: expected at least batch.micro (4), got 3"),
    (["batch.global=1000000000000"],
     "batch.global: expected at most 1048576 micro-batches of 4, got 1000000000000"),
    (["batch={global: 2000000000}"],
     "the plan does not fit: stage 0: memory of a rank: expected at most 1125899906842624 bytes, got 1287680001512576"),
    (["optimizer.adamw.lr=nan"], "{job}: optimizer.adamw.lr: expected a number above 0, got nan"),
    # Numbers that float32 makes infinite, or 0.
    *[([f"{key}={value}"], f"{{job}}: {key}: expected 0 or a number of 1.17549e-38 to 3.40282e+38, which float32 holds, "
       f"got {got}") for key, value, got in [
           ("optimizer.adamw.lr", "1e400", "inf"), ("optimizer.adamw.lr", "1e39", "1e+39"),
           ("optimizer.adamw.lr", "1e-46", "1e-46"), ("optimizer.adamw.eps", "1e-50", "1e-50"),
           ("optimizer.adamw.weight_decay", "1e39", "1e+39"), ("optimizer.clip_norm", "1e-39", "1e-39")]],
    (["optimizer={clip_norm: 1}"], "{job}: optimizer: expected sgd, adam, adamw, lion, adafactor, lamb, lars or muon, got none"),
    # The optimizer.
    (["optimizer.madgrad={lr: 1}"], "optimizer.madgrad: unknown key madgrad: expected sgd, adam, adamw, lion, adafactor, "
                                    "lamb, lars, muon, clip_norm, schedule, groups, frozen"),
    (["optimizer.groups={pattern: '.*' momentum: 1}"],
     "optimizer.groups:1:15: unknown key momentum: expected pattern, weight_decay, lr_scale, adamw"),
    (["--set", "layers"], '{job}: model.set: expected name=expression, got "layers"'),
    (["--set", "batch=3"],
     "{job}: model.set: batch: expected a config of the model, got the one that batch.micro sets"),
    # More ranks than the machine has, and meshes that do not fit.
    (["dist.data=128", "batch={global: 128}"],
     "{job}: dist: expected at most 64 ranks on the local machine, got data 128"),
    (["dist={data: 16 tensor: 8}", "batch={global: 16}"],
     "{job}: dist: expected at most 64 ranks on the local machine, got data 16 x tensor 8 = 128"),
    (["cluster=../../clusters/laptop.cluster", "dist.tensor=8"],
     "dist: expected at most 4 ranks of clusters/laptop.cluster, got tensor 8"),
    (["cluster=tiny.job"],
     "{folder}/tiny.job:2:1: unknown key model: expected device, node, network, calibration, calibration_file, tier"),
    (["dist.data=0", "dist.tensor=-2"], "{job}: dist.tensor: expected 1 or more, got -2"),
    (["batch={global: 3}", "dist.data=4"],
     "{job}: batch.micro: expected at least dist.data (4), which splits each micro-batch, got 3"),
    (["cluster=none.cluster"], "{folder}/none.cluster: expected a cluster file, found none"),
    (["model.file=none.mlir"], "{folder}/none.mlir: expected a model file, found none"),
    (["model.file=."], "{folder}/: expected a model file, found none"),
    (["model.file="], "{job}: model.file: expected the path of a model file, got none"),
]

# The text of a job -> the error behind its path.
TEXTS = [
    ('model { file: "m.mlir" }\nbatch { globl: 4 }\n', ":2:9: unknown key globl: expected global, micro, overlap; did you mean global?"),
    ('model { file: "m.mlir" }\nprecision { compute: F7 }\n', ":2:25: compute: expected F32, BF16, F16, got F7"),
    ('model { file: "m.mlir" }\nseed: 1\nseed: 2\n', ":3:5: seed: expected once, got it twice"),
    ("", ": model.file: expected the path of a model file, got none"),
]


class JobTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.plan_path = self.write("earlier.plan", "the plan of before")

    def test_overrides(self):
        for overrides, line in OVERRIDES:
            with self.subTest(overrides=overrides):
                self.refused("weft-compile", JOB, *overrides, "-o", self.plan_path,
                             line=line.replace("{job}", JOB).replace("{folder}", os.path.dirname(JOB)))

    def test_a_plan_that_the_cluster_has_no_memory_for(self):
        self.refused("weft-compile", JOB, "cluster=../../clusters/laptop.cluster", "--set", "hidden=4096", "-o",
                     self.plan_path, says=["the plan does not fit: stage 0: memory of a rank: expected at most "
                                           "2,147,483,648 bytes (2.00 GiB), got ",
                                           "\n  at the peak: parameters ", "\n  the largest tensors there:\n    "], notes=True)

    def test_what_would_make_it_fit(self):
        cluster = self.write("small.cluster", 'device { kind: "cpu" memory_bytes: 2500000 } node { count: 1 ranks: 2 }')
        self.refused("weft-compile", JOB, "cluster=" + cluster, "-o", self.plan_path,
                     says=["it would fit (predicted step now ", "\n    dist.tensor=2: ", "\n    dist.pipeline=2: ",
                           " MiB a rank, predicted step "], notes=True)

    def test_what_cannot_be_tried_is_said_too(self):
        cluster = self.write("tiny.cluster", 'device { kind: "cpu" memory_bytes: 400000 } node { count: 1 ranks: 1 }')
        result = self.refused("weft-compile", JOB, "cluster=" + cluster, "-o", self.plan_path, notes=True, says=[
            "\n  nothing tried makes it fit (predicted step now ",
            "\n  tried, and too large, the nearest first\n    recompute.policy=FULL batch.micro=1: ",
            "\n  not tried, or impossible\n",
            "\n    dist.tensor=2: dist: expected at most 1 ranks of " + cluster])
        self.assertLess(max(map(len, result.err.replace(cluster, "").splitlines())), 160)

    def test_a_model_where_a_job_is_expected(self):
        model = self.write("m.mlir", "model.graph @m {}")
        self.refused("weft-compile", model, "-o", self.plan_path, notes=True, says=[
            model + ": expected a job file, got a model file; a job that names it begins with\n"
            "  model { file: \"m.mlir\" }\n"])

    def test_a_plan_does_not_depend_on_how_its_job_was_named(self):
        job = "models/gpt2/tiny.job"
        names = [(".", job), (".", "./models/../" + job), ("models", "gpt2/tiny.job"), ("models/gpt2", "tiny.job"),
                 ("tests/oracle", "../../" + job), ("/", os.path.abspath(job))]
        plans = set()
        for number, (folder, name) in enumerate(names):
            plan = self.path(f"{number}.plan")
            result = call("weft-compile", name, "dist.data=2", "-o", plan, "--quiet", shell="cd " + folder)
            self.assertEqual(result.status, 0, result.err)
            plans.add(contents(plan))
        self.assertEqual(len(plans), 1)

    def test_a_plan_gives_its_job_back(self):
        shutil.copytree("models", self.path("models"))
        cases = [("345m.job", ["--set", "layers=2", "dist={data: 2 tensor: 2}", "precision.compute=BF16"]),
                 ("tiny.job", ["dist.pipeline=2", "pipeline.schedule=INTERLEAVED", "recompute.policy=AUTO",
                               "optimizer.adamw.lr=1.2345678901234567e-3"])]
        for name, overrides in cases:
            plan = self.path("before.plan")
            self.run_ok("weft-compile", self.path("models/gpt2/" + name), *overrides, "-o", plan, "--quiet")
            job = self.write("models/gpt2/again.job", self.run_ok("weft-plan", "job", plan).out)
            self.run_ok("weft-compile", job, "-o", self.path("after.plan"), "--quiet")
            self.assertEqual(contents(self.path("after.plan")), contents(plan), name)

    def test_texts(self):
        for number, (text, line) in enumerate(TEXTS):
            with self.subTest(text=text):
                job = self.write(f"{number}.job", text)
                self.refused("weft-compile", job, "-o", self.plan_path, line=job + line)

    def test_what_is_no_job(self):
        job = self.write("open.job", 'model { file: "m.mlir"\nbatch { global: 4 }\n')
        self.refused("weft-compile", job, "-o", self.plan_path,
                     line=job + ":2:1: unknown key batch: expected file, set, graph")
        bytes_job = self.write("bytes.job", bytes(range(256)))
        self.refused("weft-compile", bytes_job, "-o", self.plan_path, says=[bytes_job + ":1:"])
        self.refused("weft-compile", self.path("none.job"), "-o", self.plan_path,
                     line=self.path("none.job") + ": expected a job file, found none")
        self.refused("weft-compile", self.folder, "-o", self.plan_path,
                     line=self.folder + ": expected a job file, found none")


if __name__ == "__main__":
    main()
