#!/usr/bin/env python3
"""A run that is stopped, killed or laid out otherwise goes on as if nothing had happened."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, "tests/support")
from programs import ProgramTest, command, contents, corpus, losses, main, metrics, relative, saved_step  # noqa: E402

# Dropout and a new permutation every epoch: both must come back from the step alone.
NOISY = ("model.set=dropout=0.1", "data.order=SHUFFLED", "optimizer.clip_norm=1.0",
         "optimizer.schedule={warmup_cosine { warmup: 3 total: 20 min_ratio: 0.1 }}")
LAYOUTS = {"one": (), "2x2": ("dist.data=2", "dist.tensor=2")}
EPOCH = 10  # steps of 4 sequences, in a file of 40


class ResumeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.write("corpus.txt", corpus(4 * EPOCH))

    def noisy(self, layout):
        return self.plan(*NOISY, *layout)

    def undisturbed(self, plan, steps, name="whole"):
        self.train(plan, steps, "--checkpoint-dir", self.path(name), "--metrics", self.path(name + ".jsonl"),
                   data=self.data)
        return losses(self.path(name + ".jsonl"))

    def saved(self, name, step):
        return saved_step(f"{self.path(name)}/step-{step:08d}")

    def test_stopped_and_resumed_is_bit_identical(self):
        # In the last one updates write narrow copies, which no file has.
        copies = ("precision.compute=BF16", "batch={global: 4 micro: 2}")
        self.assertIn("adam+cast", self.run_ok("weft-plan", "show", self.noisy(copies), "--kernels").out)
        for name, layout in {**LAYOUTS, "copies": copies, "shared": ("dist.data=2", "zero.stage=3", *copies)}.items():
            with self.subTest(layout=name):
                plan, whole, parts = self.noisy(layout), "whole-" + name, "parts-" + name
                expected = self.undisturbed(plan, 14, whole)
                flags = ("--checkpoint-dir", self.path(parts), "--metrics", self.path(parts + ".jsonl"), "--resume")
                for stop in (7, 9, 14):  # within an epoch, twice; then over its end
                    self.train(plan, stop, *flags, data=self.data)
                self.assertEqual(losses(self.path(parts + ".jsonl")), expected)
                self.assertEqual(self.saved(parts, 14), self.saved(whole, 14))

    def test_checkpoints_on_the_way_change_nothing(self):
        plan = self.noisy(())
        expected = self.undisturbed(plan, 6)
        self.train(plan, 6, "--checkpoint-dir", self.path("often"), "--checkpoint-every", 1, "--checkpoint-keep", 2,
                   "--metrics", self.path("often.jsonl"), data=self.data)
        self.assertEqual(losses(self.path("often.jsonl")), expected)
        self.assertEqual(self.saved("often", 6), self.saved("whole", 6))
        self.assertEqual(sorted(os.listdir(self.path("often"))), ["latest", "step-00000005", "step-00000006"])

    def test_written_aside_or_not_is_the_same(self):
        for name, layout in LAYOUTS.items():
            with self.subTest(layout=name):
                plan = self.noisy(layout)
                for asked in ("on", "off"):
                    self.train(plan, 12, "--checkpoint-dir", self.path(name + asked), "--checkpoint-every", 1, "--checkpoint-async",
                               asked, "--metrics", self.path(name + asked + ".jsonl"), data=self.data)
                self.assertEqual(losses(self.path(name + "on.jsonl")), losses(self.path(name + "off.jsonl")))
                for step in range(1, 13):
                    self.assertEqual(self.saved(name + "on", step), self.saved(name + "off", step), step)
                with open(self.path(name + "on.jsonl"), encoding="utf-8") as file:
                    lines = [json.loads(line)["checkpoint"] for line in file if line.startswith('{"checkpoint"')]
                self.assertEqual([line["step"] for line in lines], list(range(1, 13)))
                self.assertTrue(all(0 <= line["stood_s"] <= line["write_s"] for line in lines), lines)

    def test_init_counts_until_there_is_a_checkpoint(self):
        plan, flags = self.noisy(()), ("--checkpoint-dir", self.path("c"), "--resume")
        self.train(plan, 1, "--checkpoint-dir", self.path("init"), data=self.data)
        init = self.path("init") + "/step-00000001"
        said = []
        for step in (1, 2):
            said.append(self.run_ok("weft-run", plan, "--data", self.data, "--steps", step, "--init", init, *flags).err)
        self.assertIn("loaded 28 of 28 parameters", said[0])
        self.assertIn("resuming after step 1 from", said[1])
        self.assertNotIn("parameters", said[1])

    def test_saves_by_the_clock(self):
        for name, layout in LAYOUTS.items():
            with self.subTest(layout=name):
                plan, folder = self.noisy(layout), "clock-" + name
                run = subprocess.Popen(command("weft-run", plan, "--data", self.data, "--steps", 10**9, "--quiet", "--threads", 1,
                                               "--checkpoint-dir", self.path(folder), "--checkpoint-every", "1s",
                                               "--metrics", self.path(folder + ".jsonl")))
                while not os.path.exists(self.path(folder) + "/latest"):
                    self.assertIsNone(run.poll(), "ended before it has saved")
                    time.sleep(0.02)
                run.send_signal(signal.SIGTERM)
                self.assertEqual(run.wait(), 0)
                steps = [int(step.removeprefix("step-")) for step in os.listdir(self.path(folder)) if step.startswith("step-")]
                self.assertGreaterEqual(len(steps), 2)
                self.undisturbed(plan, min(steps), "whole-" + folder)
                self.assertEqual(self.saved(folder, min(steps)), self.saved("whole-" + folder, min(steps)))

    def test_resumes_under_another_layout(self):
        before, after = self.noisy(("dist.data=4",)), self.noisy(("dist.tensor=2", "dist.data=2"))
        expected = self.undisturbed(before, 14)
        flags = ("--checkpoint-dir", self.path("parts"), "--metrics", self.path("parts.jsonl"), "--resume")
        self.train(before, 7, *flags, data=self.data)
        shutil.copytree(self.path("parts"), self.path("other"))
        self.train(after, 14, *flags, data=self.data)
        got = losses(self.path("parts.jsonl"))
        self.assertEqual(got[:7], expected[:7])
        self.assertEqual(len(got), 14)
        for step, (loss, whole) in enumerate(zip(got, expected)):
            self.assertLess(relative(loss, whole), 2e-5, f"step {step}")
        # The bound sees tokens in another order: the same run resumed on them is far off at every step.
        self.train(self.plan(*NOISY, "data.order=SEQUENTIAL", "dist.tensor=2", "dist.data=2"), 14, "--checkpoint-dir",
                   self.path("other"), "--metrics", self.path("other.jsonl"), "--resume", data=self.data)
        other = [line["loss"] for line in metrics(self.path("other.jsonl"))]
        self.assertEqual(len(other), 7)
        self.assertTrue(all(relative(a, b) > 1e-3 for a, b in zip(other, expected[7:])), other)

    def killed(self, plan, steps):
        """Kills a run that saves every 3 steps after it told of `steps`, and returns the step it saved last.

        Its metrics go into a pipe of one page that nobody empties then, so that it cannot run away.
        """
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, 1031, 4096)  # F_SETPIPE_SZ
        os.set_blocking(reader, True)
        run = subprocess.Popen(command("weft-run", plan, "--data", self.data, "--steps", 100000, "--quiet",
                                       "--threads", 1, "--checkpoint-dir", self.path("killed"),
                                       "--checkpoint-every", 3, "--metrics", pipe))
        text = b""
        while text.count(b'{"step":') < steps:
            part = os.read(reader, 64)
            if not part:  # the run has not opened the pipe yet
                self.assertIsNone(run.poll(), "ended before it was killed")
                time.sleep(0.005)
            text += part
        run.send_signal(signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGKILL)
        os.close(reader)
        return int(contents(self.path("killed") + "/latest").decode().strip().removeprefix("step-"))

    def test_killed_and_resumed_is_bit_identical(self):
        for name, layout in LAYOUTS.items():
            with self.subTest(layout=name):
                self.setUp()
                plan = self.noisy(layout)
                last = self.killed(plan, 8)
                self.assertGreaterEqual(last, 3)  # that of step 6 may have been half-written
                # What a kill in the middle of a save leaves.
                partial = f"{self.path('killed')}/.step-{last + 2:08d}.partial"
                os.makedirs(partial, exist_ok=True)
                with open(partial + "/model.safetensors", "wb") as file:
                    file.write(b"half")
                self.train(plan, last + 2, "--checkpoint-dir", self.path("killed"), "--resume", "--metrics",
                           self.path("rest.jsonl"), data=self.data)
                expected = self.undisturbed(plan, last + 2)
                self.assertEqual([line["loss"] for line in metrics(self.path("rest.jsonl"))], expected[last:])
                self.assertEqual(self.saved("killed", last + 2), self.saved("whole", last + 2))
                self.assertFalse(os.path.exists(partial))

    def test_interrupt_saves_and_resumes(self):
        plan = self.noisy(())
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        run = subprocess.Popen(command("weft-run", plan, "--data", self.data, "--steps", 100000, "--quiet",
                                       "--checkpoint-dir", self.path("parts"), "--metrics", pipe),
                               stderr=subprocess.PIPE)
        with open(pipe, "rb") as lines:
            for _ in range(3):
                lines.readline()
            run.send_signal(signal.SIGINT)
            for _ in lines:
                pass
        err = run.communicate()[1].decode()
        self.assertEqual(run.returncode, 1, err)
        done = int(contents(self.path("parts") + "/latest").decode().strip().removeprefix("step-"))
        self.assertIn(f"interrupted after step {done}, which was saved", err)
        self.undisturbed(plan, done)
        self.assertEqual(self.saved("parts", done), self.saved("whole", done))

    def test_resume_without_a_checkpoint_starts_and_says_so(self):
        plan = self.noisy(())
        result = self.run_ok("weft-run", plan, "--data", self.data, "--steps", 1, "--checkpoint-dir",
                             self.path("new"), "--resume")
        self.assertIn(f"no checkpoint in {self.path('new')} yet: starting at step 1", result.err)
        result = self.run_ok("weft-run", plan, "--data", self.data, "--steps", 1, "--checkpoint-dir",
                             self.path("new"), "--resume")
        self.assertIn("nothing to do: 1 steps are done, --steps asks for 1", result.err)


if __name__ == "__main__":
    main()
