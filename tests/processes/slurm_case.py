"""The batch file of docs/howto/run_on_slurm.md, on two emulated nodes."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/processes")
from processes import ProcessesTest  # noqa: E402
from programs import LIMIT_S, PROGRAMS, contents, corpus  # noqa: E402

PAGE = "docs/howto/run_on_slurm.md"
STEPS = 8


def block(mark):
    return re.search(rf"^```sh {mark}\n(.*?)^```$", contents(PAGE).decode(), re.M | re.S)[1]


class SlurmCase(ProcessesTest):
    """A folder with the plan and the batch file of the page, and an emulated Slurm on the path."""

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
