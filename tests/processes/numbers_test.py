#!/usr/bin/env python3
"""Ranks that are processes compute what ranks that are threads do, bit for bit."""
import json
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, ProcessesTest, numbers, saved  # noqa: E402
from programs import (JOB, LIMIT_S, WEIGHTS, command, contents, corpus, main, metrics, saved_step,  # noqa: E402
                      write_safetensors)


class NumbersTest(ProcessesTest):
    def test_same_numbers_and_checkpoints(self):
        for name in ("data", "tensor", "pipeline", "data x tensor x pipeline"):
            with self.subTest(layout=name):
                overrides, processes = LAYOUTS[name]
                plan = self.plan(*MICRO, *overrides)
                flags = ("--init", WEIGHTS, "--checkpoint-every", 2)
                threads, apart = self.path("threads " + name), self.path("apart " + name)
                self.train(plan, 5, *flags, "--checkpoint-dir", threads, "--metrics", threads + ".jsonl")
                self.run_processes(processes, plan, "--steps", 5, *flags, "--checkpoint-dir", apart, "--metrics",
                                   apart + ".jsonl")
                self.assertEqual(numbers(apart + ".jsonl"), numbers(threads + ".jsonl"))
                self.assertEqual(len(numbers(apart + ".jsonl")), 5)
                self.assertEqual(saved(apart), saved(threads))
                self.assertEqual(sorted(os.listdir(apart)), sorted(os.listdir(threads)))

    def test_one_timeline_of_all(self):
        overrides, processes = LAYOUTS["data x pipeline"]
        self.run_processes(processes, self.plan(*MICRO, *overrides), "--steps", 2, "--trace", self.path("t.json"))
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        acts = [event for event in events if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in acts}, set(range(processes)))
        self.assertEqual({event["args"]["step"] for event in acts}, {1, 2})
        self.assertEqual(os.listdir(self.folder), ["t.json"])

    def test_generated_text(self):
        for name in ("tensor", "pipeline", "data x tensor x pipeline"):
            with self.subTest(layout=name):
                overrides, processes = LAYOUTS[name]
                line = command("weft-generate", JOB, *overrides, "--init", WEIGHTS, "--prompt-ids", "72,101,108;65",
                               "--tokens", 12, "--temperature", 1, "--threads", 1, "--quiet")
                launched = [*command("weft-launch", "-n", processes, "generate"), *line[1:]]
                threads, apart, launched = [subprocess.run(one, capture_output=True, text=True, timeout=LIMIT_S)
                                            for one in (line, ["tools/build_defs/mpirun.sh", str(processes), *line], launched)]
                self.assertEqual((threads.returncode, apart.returncode, launched.returncode), (0, 0, 0),
                                 threads.stderr + apart.stderr + launched.stderr)
                self.assertEqual((apart.stdout, launched.stdout), (threads.stdout, threads.stdout))
                self.assertEqual((launched.stderr, [len(row.split(",")) for row in threads.stdout.splitlines()]), ("", [12, 12]))

    def test_functions(self):
        x = self.path("x.safetensors")
        write_safetensors(x, {"x": ("F32", [16, 8], struct.pack("<128f", *[1000.0 * i for i in range(128)]))})
        plan = self.plan(job="models/noise/noise.job")
        flags = (plan, "--inputs", x, "--show-shards", "--outputs")
        one, apart = (self.run_ok(*program, *flags, self.path(name + ".safetensors"))
                      for name, program in (("one", ("weft-run",)), ("apart", ("weft-launch", "-n", 4, "--"))))
        self.assertIn("  rank 3: local shape [8,4]", apart.out)
        self.assertEqual(apart.out, one.out)
        self.assertEqual(contents(self.path("apart.safetensors")), contents(self.path("one.safetensors")))

    def test_evaluations(self):
        text = self.write("ten.txt", corpus(10))  # two batches and half a third
        for overrides in (("dist.data=2", "dist.tensor=2"), ("dist.data=2", "dist.pipeline=2")):
            with self.subTest(layout=overrides):
                plan = self.plan("model.graph=evaluate", "data.format=TEXT", *overrides)
                flags = (plan, "--data", text, "--init", WEIGHTS)
                found = []
                for name, program in (("one", ("weft-run",)), ("apart", ("weft-launch", "-n", 4, "--"))):
                    metrics, outputs = self.path(name + ".jsonl"), self.path(name + ".safetensors")
                    run = self.run_ok(*program, *flags, "--metrics", metrics, "--outputs", outputs)
                    found.append((run.out, contents(metrics).splitlines()[1], contents(outputs)))
                self.assertEqual(*found)
                self.assertTrue(found[0][0].startswith("10 samples\nloss  "), found[0][0])

    def test_evaluations_between_steps(self):
        text = self.write("ten.txt", corpus(10))
        asked = "evaluation={graph: \"evaluate\" every: 2 metric: \"loss\" best: MIN patience: 1}"
        for overrides in (("dist.data=2", "dist.tensor=2", "zero.stage=3"), ("dist.data=2", "dist.pipeline=2", "zero.stage=1")):
            with self.subTest(layout=overrides):
                # A rate that spoils what was learnt after four steps.
                plan = self.plan(*MICRO, asked, *overrides,
                                 "optimizer.schedule={step { warmup: 1 milestones: 5 factor: 10000 }}")
                found = []
                for name in ("threads", "apart"):
                    runs, path = self.path(name), self.path(name + ".jsonl")
                    flags = ("--eval-data", text, "--init", WEIGHTS, "--checkpoint-dir", runs, "--metrics", path)
                    if name == "threads":
                        self.train(plan, 40, *flags)
                    else:
                        self.run_processes(4, plan, "--steps", 40, *flags)
                    found.append(([(line["step"], line["loss"], line.get("eval_loss")) for line in metrics(path)],
                                  os.readlink(runs + "/best"), saved_step(runs + "/best"), saved(runs)))
                    shutil.rmtree(runs)
                self.assertEqual(*found)
                self.assertEqual((len(found[0][0]), found[0][1]), (6, "step-00000004"))


if __name__ == "__main__":
    main()
