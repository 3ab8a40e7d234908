"""Every phase, run by weft-opt on the IR in front of it, leaves the IR that the compiler has behind it: what a phase is
told is in the IR and in the job, and nowhere else."""
import glob
import re
import subprocess
import tempfile
import unittest

COMPILE = "tools/compile/weft-compile"
OPT = "tools/opt/weft-opt"
MODEL, JOB = "models/gpt2/gpt2.mlir", "models/gpt2/tiny.job"
# Machines, meshes, and every option that a phase takes from a job.
JOBS = {
    "one rank": (),
    "a cluster": ("cluster=../../clusters/8x8cpu.cluster", "dist.data=8", "dist.tensor=2"),
    "stages with meshes of their own": ("dist.pipeline=2", "batch.micro=8",
                                        "pipeline={stages: {context: 2 tensor: 2} stages: {data: 4}}"),
    "groups, types, layers": ("dist.data=4", "batch.micro=8", "zero={stage: 3 group: 2}", "precision.compute=F16",
                              "recompute={policy: SELECTIVE layers: {scope: \"h.1\" policy: FULL}}"),
    "a zero bubble": ("dist.pipeline=2", "batch.micro=8", "pipeline={schedule: ZERO_BUBBLE form: V}",
                      "precision.compute=BF16", "graph.fusion=false"),
}


def output(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"{' '.join(command)}: {done.returncode}\n{done.stderr}"


class PhasesTest(unittest.TestCase):
    maxDiff = 2000

    def test_each_phase_by_name_is_that_of_the_compiler(self):
        for name, keys in JOBS.items():
            with tempfile.TemporaryDirectory() as folder, self.subTest(name):
                output(COMPILE, JOB, *keys, "--quiet", "--dump-ir=" + folder, "-o", folder + "/plan")
                before = MODEL
                seams = sorted(glob.glob(folder + "/*.mlir"))
                self.assertEqual(len(seams), len(self.phases()))
                for seam, phase in zip(seams, self.phases()):
                    self.assertTrue(seam.endswith(f"-{phase}.mlir"), seam)
                    flag = f"--phase-{phase}=job={JOB}" + (" keys=" + ",".join(keys) if keys else "")
                    with open(seam, encoding="utf-8") as file:
                        self.assertEqual(output(OPT, before, flag).rstrip(), file.read().rstrip(), flag)
                    before = seam

    def phases(self):
        """As the help of weft-compile lists them."""
        return re.search(r"--stop-after=PHASE .*\n +([a-z ]+)\n", output(COMPILE, "--help")).group(1).split()

    def test_both_helps_list_every_phase(self):
        self.assertEqual(self.phases(), re.findall(r"^  --phase-([a-z]+) ", output(OPT, "--help"), re.MULTILINE))

    def test_help_is_of_weft_alone(self):
        text = output(OPT, "--help")
        for other in ("--debug-only", "--mlir-pass-pipeline-crash-reproducer", "--inline", "--sccp"):
            self.assertNotIn(other, text)
        passes = re.findall(r"^  --weft-([a-z0-9-]+) +(\S.*)$", text, re.MULTILINE)
        self.assertIn(("shard-infer", "Chooses an SBP for every value"), passes)
        self.assertLess(max(map(len, text.splitlines())), 121)  # a pass is one line

    def test_a_wrong_job_of_a_phase_is_an_error(self):
        for options, says in (("keys=dist.dta=2", "dist.dta"), ("job=absent.job", "absent.job"),
                              ("keys=dist.data=5,batch.micro=4", "batch.micro: expected at least dist.data (5)")):
            text = output(OPT, MODEL, "--phase-shard=" + options)
            self.assertIn(": 1\n", text)
            self.assertIn(says, text)


if __name__ == "__main__":
    unittest.main()
