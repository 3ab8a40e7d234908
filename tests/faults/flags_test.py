#!/usr/bin/env python3
"""Command lines that the programs do not know."""
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import JOB, TOKENS, call, main  # noqa: E402

# Arguments -> the error; {plan} is a plan that trains, {function} one that does not.
CASES = {
    "weft": [
        ([], "expected a command: compile, run, generate, launch, watch, plan, import, export, calibrate, fmt, lsp or opt; see weft --help"),
        (["tune"], "unknown command `tune`: expected compile, run, generate, launch, watch, plan, import, export, calibrate, fmt, lsp or opt; see weft --help"),
    ],
    "weft-compile": [
        ([], "expected a job file (see --help)"),
        ([JOB], "expected -o PLAN (see --help)"),
        ([JOB, "-o"], "-o: expected a value, got none"),
        ([JOB, "--stop-after=", "-o", "x.plan"], "--stop-after: expected a value, got none"),
        ([JOB, "-o", "-"], "-o: expected a file, got -, which is only for IR (--stop-after)"),
        ([JOB, "--set", "-o", "x.plan"], "--set: expected a value, got the flag -o"),
        ([JOB, "--optimise", "-o", "x.plan"], "unknown flag --optimise (see --help)"),
        ([JOB, "x.plan"], "expected key.path=value after the job, got x.plan"),
        ([JOB, "--stop-after=lunch", "-o", "-"], "--stop-after: expected a phase (see --help), got lunch"),
    ],
    "weft-run": [
        ([], "expected a plan (see --help)"),
        (["--fast"], "--fast: no such flag (see --help)"),
        (["{plan}", "{function}"], "{function}: expected one plan, got also {plan} (see --help)"),
        (["{plan}", "--steps"], "--steps: expected a value, got none (see --help)"),
        (["{plan}", "--steps", "many"], "--steps: expected a whole number of at least 0, got `many` (see --help)"),
        (["{plan}", "--steps=-1"], "--steps: expected a whole number of at least 0, got `-1` (see --help)"),
        (["{plan}", "--threads=2.5"], "--threads: expected a whole number of at least 0, got `2.5` (see --help)"),
        (["{plan}", "--threads=100000"], "--threads: expected at most 1024, got 100000 (see --help)"),
        (["{plan}", "--data="], "--data: expected a file, got `` (see --help)"),
        (["{plan}", "--data", "a", "--data", "b"], "--data: expected once, got `a` and `b` (see --help)"),
        (["{plan}", "--quiet=yes"], "--quiet: expected no value (see --help)"),
        (["{plan}", "--data", TOKENS, "--resume"],
         "--checkpoint-dir: expected, as another flag needs it (see --help)"),
        (["{plan}", "--data", TOKENS, "--checkpoint-every", "5"],
         "--checkpoint-dir: expected, as another flag needs it (see --help)"),
        *[(["{plan}", "--checkpoint-dir", "x", "--checkpoint-every", value], "--checkpoint-every: expected a number of steps, or a "
           f"time such as 90s, 5m or 2h, got `{value}` (see --help)") for value in ("5d", "m", "0m", "-3", "1.5h", "9999999999h")],
        (["{plan}", "--data", TOKENS, "--checkpoint-dir", "x", "--checkpoint-keep-every", "5"],
         "--checkpoint-keep: expected, as --checkpoint-keep-every needs it: without it all stay (see --help)"),
        (["{plan}", "--data", TOKENS, "--checkpoint-async", "on"],
         "--checkpoint-dir: expected, as --checkpoint-async needs it (see --help)"),
        (["{plan}", "--data", TOKENS, "--snapshot-every", "5"],
         "--checkpoint-dir: expected, as --snapshot-every needs it (see --help)"),
        (["--drop-snapshots"], "--checkpoint-dir: expected, as --drop-snapshots needs it (see --help)"),
        (["{function}", "--checkpoint-dir", "x", "--snapshot-every", "5"],
         "--snapshot-every: expected only with a graph that trains, got graph `logits`"),
        (["{plan}", "--checkpoint-dir", "x", "--checkpoint-async", "yes"],
         "--checkpoint-async: expected on or off, got `yes` (see --help)"),
        *[(["{plan}", flag, "5x"], flag + ": expected a number of steps, or a time such as 90s, 5m or 2h, got `5x` (see --help)")
          for flag in ("--slow-ranks-every", "--compare-replicas-every", "--snapshot-every")],
        (["{plan}", "--checkpoint-dir", "x", "--restarted", "rank 1 is lost"],
         "--resume: expected, as --restarted needs it (see --help)"),
        (["{plan}", "--checkpoint-dir", "x", "--lost-host", "a"],
         "--resume: expected, as --lost-host needs it (see --help)"),
        (["{plan}", "--inputs", "x"], "--inputs: expected only with a function, got graph `train`"),
        (["{plan}", "--outputs", "x"], "--outputs: expected only with a function, got graph `train`"),
        (["{plan}", "--show-shards"], "--show-shards: expected only with a function, got graph `train`"),
        (["{function}", "--data", TOKENS], "--outputs: expected a file, as no output is one number a sample, [4], whose mean is shown"),
        (["{function}", "--steps", "3"], "--steps: expected only with a graph that trains, got graph `logits`"),
        (["{function}", "--metrics", "x"], "--metrics: expected only with --data, or with a graph that trains"),
        (["{function}", "--checkpoint-dir", "x", "--resume"],
         "--resume: expected only with a graph that trains, got graph `logits`"),
        *[(["{function}", flag, "2"], flag + ": expected only with a graph that trains, got graph `logits`")
          for flag in ("--slow-ranks-every", "--compare-replicas-every")],
        (["{function}", "--checkpoint-dir", "x", "--checkpoint-every", "2"],
         "--checkpoint-every: expected only with a graph that trains, got graph `logits`"),
        (["{function}", "--checkpoint-dir", "x", "--checkpoint-async", "off"],
         "--checkpoint-async: expected only with a graph that trains, got graph `logits`"),
        (["{function}", "--checkpoint-dir", "x", "--checkpoint-keep", "2"],
         "--checkpoint-keep: expected only with a graph that trains, got graph `logits`"),
        (["{function}", "--eval-data", "x"], "--eval-data: expected only with a graph that trains, got graph `logits`"),
        (["{plan}", "--eval-data", "x", "--stop-at", "soon"], "--stop-at: expected a number, got `soon` (see --help)"),
        (["{plan}", "--patience", "2"], "--eval-data: expected, as --patience needs it (see --help)"),
    ],
    "weft-plan": [
        ([], "expected a command: show, verify, memory, diff, job, code, simulate, explain, sharding, timeline or report; see weft-plan --help"),
        (["look", "{plan}"],
         "unknown command `look`: expected show, verify, memory, diff, job, code, simulate, explain, sharding, timeline or report; see weft-plan --help"),
        (["show"], "show: expected 1 plan, got 0; see weft-plan --help"),
        (["diff", "{plan}"], "diff: expected 2 plans, got 1; see weft-plan --help"),
        (["show", "{plan}", "--colour"], "show: unknown flag --colour; see weft-plan --help"),
        (["memory", "{plan}", "--json=yes"], "--json: expected no value"),
        (["verify", "{plan}", "--device-memory=much"],
         "--device-memory: expected a size such as 80GiB or 1000000, got `much`"),
        (["explain", "{plan}", "h.7"],
         "{plan}: expected an actor, a kernel, a buffer or a layer of the plan, got `h.7`; did you mean h.0?"),
        (["compare", JOB],
         "compare: expected weft plan compare, or weft-plan-compare: it compiles, which this program cannot"),
    ],
    "weft-calibrate": [
        ([], "expected -o FILE.cluster (see --help)"),
        (["-o"], "-o: expected a value, got none (see --help)"),
        (["-o", "{out}", "--fast"], "unknown argument --fast (see --help)"),
        (["-o", "{out}", "--seconds=soon"],
         "--seconds: expected a number above 0, of at most 86400, got `soon` (see --help)"),
        (["-o", "{out}", "--seconds", "0"],
         "--seconds: expected a number above 0, of at most 86400, got `0` (see --help)"),
        (["-o", "{out}", "--device", "tpu"], "--device: expected cpu or cuda, got `tpu` (see --help)"),
        (["-o", "{out}", "--cluster", "none.cluster"], "none.cluster: expected a cluster file, found none"),
        (["-o", "{out}", "--cluster", "clusters/laptop.cluster", "--device", "cuda"],
         "--device: expected cpu, as in clusters/laptop.cluster, got cuda"),
    ],
    "weft-plan-compare": [
        ([], "expected a job file (see --help)"),
        (["--sweep=dist.data=1,2", "a.plan"], "expected a job file (see --help)"),
        ([JOB, "--sort"], "unknown flag --sort (see --help)"),
        ([JOB, "--sweep"], "--sweep: expected KEY=VALUE,VALUE,... as in dist.tensor=1,2,4, got ``"),
        ([JOB, "--sweep", "dist.data"],
         "--sweep: expected KEY=VALUE,VALUE,... as in dist.tensor=1,2,4, got `dist.data`"),
        ([JOB, "--sweep", "dist.data=1,,2"],
         "--sweep: expected KEY=VALUE,VALUE,... as in dist.tensor=1,2,4, got `dist.data=1,,2`"),
        ([JOB, "--sweep", "seed=" + ",".join(map(str, range(1001)))],
         "expected at most 1000 combinations, got more"),
        ([JOB, "", "dist.datta=2"],
         "dist.datta: unknown key datta: expected data, tensor, expert, context, pipeline; did you mean data?"),
        ([JOB, "dist.data=2 wide"], 'override: expected key.path=value, got "wide"'),
        ([JOB, "cluster.node.rank=4"],
         "cluster.node.rank: unknown key rank: expected count, ranks, link_bytes_s, latency_s, cores; did you mean "
         "ranks?"),
        ([JOB, "cluster=none.cluster"], "tests/oracle/none.cluster: expected a cluster file, found none"),
        (["none.job"], "none.job: expected a job file, found none"),
        ([JOB, "model.file=none.mlir", "model.file=none.mlir seed=3"],
         JOB + ": tests/oracle/none.mlir: expected a model file, found none"),
        ([JOB, 'model={file: ""}'], JOB + ": model.file: expected the path of a model file, got none"),
        ([JOB, "none.plan"], "none.plan: cannot be opened: No such file or directory"),
    ],
}


class FlagsTest(FaultTest):
    def test_bad_command_lines(self):
        names = {"{out}": self.path("x.cluster"), "{plan}": self.plan(), "{function}": self.plan("model.graph=logits")}
        for program, cases in CASES.items():
            for arguments, line in cases:
                with self.subTest(program=program, arguments=arguments):
                    for name, path in names.items():
                        arguments = [argument.replace(name, path) for argument in arguments]
                        line = line.replace(name, path)
                    self.refused(program, *arguments, line=line)

    def test_the_dispatcher_hands_on_status_and_errors(self):
        result = call("weft", "run", "--fast")
        self.assertEqual((result.status, result.out), (2, ""))
        self.one_line("weft-run", result, "--fast: no such flag (see --help)")
        result = call("weft", "compile", JOB, "colour=1", "-o", self.path("x.plan"))
        self.assertEqual(result.status, 2)
        self.assertIn("unknown key colour", result.err)

    def test_help_is_no_error(self):
        for program in CASES:
            result = call(program, "--help")
            self.assertEqual((result.status, result.err), (0, ""), program)
            self.assertIn("usage:", result.out)

    def test_a_compiler_that_cannot_print(self):
        for arguments in (["--help"], [JOB, "-o", self.path("x.plan")], [JOB, "--stop-after=elaborate", "-o", "-"]):
            with self.subTest(arguments=arguments):
                result = call("weft-compile", *arguments, shell="exec >/dev/full")
                self.assertEqual(result.status, 1)
                self.one_line("weft-compile", result, "standard output: cannot be written: No space left on device")

    def test_a_device_that_is_too_small(self):
        result = self.refused("weft-plan", "verify", self.plan(), "--device-memory=1MiB",
                              says=["memory of a rank: expected at most 1,048,576 bytes (1.00 MiB), got "],
                              notes=True)
        self.assertIn("\n  the largest tensors there:\n", result.err)


if __name__ == "__main__":
    main()
