"""The batch files of docs/howto/run_on_slurm.md, on emulated nodes."""
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
    """A folder with the plan and the batch files of the page, and an emulated Slurm on the path."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        for name in ("weft", "weft-compile", "weft-run", "weft-launch"):
            os.symlink(os.path.abspath(PROGRAMS[name]), self.path("bin/" + name))
        for name in ("srun", "scontrol"):
            shutil.copy("tests/processes/slurm.py", self.path("bin/" + name))
            os.chmod(self.path("bin/" + name), 0o755)
        shutil.copytree("models", self.path("models"))
        self.environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], STEPS=str(STEPS),
                                DATA=self.write("corpus.txt", corpus(400)), TASKS=self.path("tasks"), REQUESTED=self.path("requested"))
        subprocess.run(["bash", "-euc", block("compile")], check=True, cwd=self.folder, env=self.environment,
                       capture_output=True)
        for name in ("train.sbatch", "keep.sbatch"):
            self.write(name, block("file=" + name))

    def sbatch(self, script="train.sbatch", **environment):
        """Runs a script as Slurm would, in the allocation that it asks for."""
        script = self.path(script)
        asked = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", contents(script).decode(), re.M))
        nodes, each = asked["nodes"], asked["ntasks-per-node"]
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": nodes, "SLURM_CPUS_PER_TASK": asked["cpus-per-task"],
                 "SLURM_NTASKS_PER_NODE": each, "SLURM_TASKS_PER_NODE": f"{each}(x{nodes})",
                 "SLURM_JOB_NODELIST": ",".join(f"node{number}" for number in range(1, int(nodes) + 1))}
        self.assertEqual(asked["signal"], "USR1@120")
        done = subprocess.run(["bash", script], cwd=self.folder, env={**self.environment, **slurm, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr
