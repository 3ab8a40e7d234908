#!/usr/bin/env python3
"""The batch file of docs/howto/run_on_slurm.md, with two emulated nodes: it trains, stops before its time, and goes on."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/processes")
from processes import ProcessesTest, numbers  # noqa: E402
from programs import LIMIT_S, PROGRAMS, contents, corpus, main  # noqa: E402

PAGE = "docs/howto/run_on_slurm.md"
STEPS = 8


def block(mark):
    return re.search(rf"^```sh {mark}\n(.*?)^```$", contents(PAGE).decode(), re.M | re.S)[1]


class SlurmTest(ProcessesTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        for name in ("weft", "weft-compile", "weft-run"):
            os.symlink(os.path.abspath(PROGRAMS[name]), self.path("bin/" + name))
        for name in ("srun", "scontrol"):
            shutil.copy("tests/processes/slurm.py", self.path("bin/" + name))
            os.chmod(self.path("bin/" + name), 0o755)
        shutil.copytree("models", self.path("models"))
        self.environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], STEPS=str(STEPS),
                                DATA=self.write("corpus.txt", corpus(400)), TASKS=self.path("tasks"), REQUESTED=self.path("requested"))
        subprocess.run(["bash", "-euc", block("compile")], check=True, cwd=self.folder, env=self.environment,
                       capture_output=True)
        self.script = self.write("train.sbatch", block("file=train.sbatch"))

    def sbatch(self, **environment):
        """Runs the script as Slurm would, in the allocation that it asks for."""
        asked = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", contents(self.script).decode(), re.M))
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": asked["nodes"], "SLURM_CPUS_PER_TASK": asked["cpus-per-task"],
                 "SLURM_NTASKS_PER_NODE": asked["ntasks-per-node"]}
        self.assertEqual(asked["signal"], "USR1@120")
        done = subprocess.run(["bash", self.script], cwd=self.folder, env={**self.environment, **slurm, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_trains_on_two_nodes(self):
        self.sbatch()
        self.assertEqual(sorted(contents(self.path("tasks")).decode().split("\n")), ["", "0 0 0", "1 0 1", "2 1 0", "3 1 1"])
        self.assertEqual(contents(self.path("runs/gpt2/latest")), b"step-00000008\n")
        self.assertFalse(os.path.exists(self.path("requested")))
        # What ranks of one process compute.
        alone = self.path("alone.jsonl")
        self.run_ok("weft-run", self.path("gpt2.plan"), "--data", self.path("corpus.txt"), "--steps", STEPS, "--threads", 1, "--quiet",
                    "--metrics", alone)
        self.assertEqual(numbers(self.path("gpt2.jsonl")), numbers(alone))

    def test_goes_on_after_its_time(self):
        self.environment["STEPS"] = "1000000"
        err = self.sbatch(SIGNAL_AFTER=self.path("gpt2.jsonl") + " 4")
        self.assertRegex(err, r"stopped after step \d+, as a signal asked")
        self.assertEqual(contents(self.path("requested")), b"requeue 7\n")
        done = int(contents(self.path("runs/gpt2/latest")).decode().split("-")[1])
        self.environment["STEPS"] = str(done + 3)
        self.assertIn(f"resuming after step {done} from runs/gpt2/step-{done:08}", self.sbatch())
        self.assertEqual(contents(self.path("runs/gpt2/latest")).decode(), f"step-{done + 3:08}\n")
        self.assertEqual(contents(self.path("requested")), b"requeue 7\n")
        self.assertEqual([line["step"] for line in numbers(self.path("gpt2.jsonl"))], list(range(1, done + 4)))


if __name__ == "__main__":
    main()
