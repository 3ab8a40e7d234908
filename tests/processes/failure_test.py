#!/usr/bin/env python3
"""Processes that are stopped, told to end, or that do not fit together."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, "tests/processes")
from processes import LAYOUTS, MICRO, Generation, ProcessesTest, children, numbers, saved  # noqa: E402
from programs import JOB, TOKENS, WEIGHTS, call, command, contents, main, raw_safetensors, saved_step, write_safetensors  # noqa: E402

LAYOUT, PROCESSES = LAYOUTS["data x pipeline"]
ENDLESS = ("--steps", 10**9)
SEVERAL = ("-n", "2", "--hosts", "a,b", "--restarts", "1")


def listened(process):
    """The addresses on which a process listens."""
    links = (os.path.join(f"/proc/{process}/fd", name) for name in os.listdir(f"/proc/{process}/fd"))
    sockets = {os.readlink(link) for link in links if os.path.lexists(link)}
    for family, table in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        for line in contents(f"/proc/{process}/net/{table}").decode().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in sockets:
                words = bytes.fromhex(local.split(":")[0])  # of 4 bytes, the last one first
                yield socket.inet_ntop(family, b"".join(words[i:i + 4][::-1] for i in range(0, len(words), 4)))


class FailureTest(ProcessesTest):
    def stepping(self, *flags):
        """A run without end, after three of its steps."""
        run = self.start(PROCESSES, self.plan(*MICRO, *LAYOUT), *ENDLESS, "--metrics", self.path("m.jsonl"), *flags)
        run.find_ranks()
        self.assertTrue(run.await_lines(self.path("m.jsonl"), 3), "ended before")
        return run

    def test_a_stopped_rank_is_named(self):
        run = self.stepping("--hang-seconds", 3)
        run.send(2, signal.SIGSTOP)
        status, err = run.end()
        self.assertEqual(status, 1, err)
        # The rank, and the act of each of its streams.
        self.assertRegex(err, f"rank 2 is stopped: its process {run.ranks[2]} does not run and stands in "
                         r"(actor `[^`]+` \(step \d+(, micro-batch \d)?\)|no act, between steps)")
        self.assertEqual(err.count("weft-run: "), 1, err)
        self.assertTrue(run.all_gone())

    def test_a_number_that_is_not_finite_is_found_as_by_threads(self):
        plan = self.plan(*MICRO, *LAYOUT, "optimizer.adamw.lr=1e30")
        flags = ("--steps", 3, "--debug-nan")
        threads = call("weft-run", plan, "--data", TOKENS, "--threads", 1, "--quiet", *flags)
        status, err = self.start(PROCESSES, plan, *flags).end()
        self.assertEqual((threads.status, status), (1, 1))
        self.assertIn("step 2 again, from its start: the same numbers, bit for bit\nfirst not finite\n", threads.err)
        for line in threads.err.splitlines():
            self.assertIn(line + "\n", err)

    def test_a_rank_is_named_that_is_lost_while_all_start(self):
        plan = self.plan(*MICRO, *LAYOUT)
        # At once: as soon as it is there, before all others are. More than once, as it is by chance what mpirun says then.
        for delay in (None, None, None, 0, 0.05, 0.1, 0.2):
            with self.subTest(delay=delay):
                run = self.start(PROCESSES, plan, *ENDLESS)
                run.find_ranks(awaited=1 if delay is None else None)
                time.sleep(delay or 0)
                run.send(1, signal.SIGKILL)
                status, err = run.end()
                self.assertNotEqual(status, 0)
                self.assertEqual(err.count("rank 1 is lost: its process "), 1, err)
                self.assertTrue(run.all_gone())

    def test_launch_listens_to_this_machine_alone(self):
        run = self.stepping()
        launcher = children(run.process.pid)
        listening = {address for process in launcher + list(run.ranks.values()) for address in listened(process)}
        self.assertTrue(listening)  # mpirun's, at least
        self.assertEqual(listening - {"127.0.0.1", "::1"}, set())
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.end()[0], 0)

    def check_saved(self, status, err, expected):
        self.assertEqual(status, expected, err)
        done = int(contents(self.path("c") + "/latest").decode().strip().removeprefix("step-"))
        self.assertEqual(len(numbers(self.path("m.jsonl"))), done)
        self.train(self.plan(*MICRO, *LAYOUT), done, "--checkpoint-dir", self.path("whole"))
        self.assertEqual(saved(self.path("c")), saved(self.path("whole")))
        return done

    def test_termination_saves_and_is_well(self):
        run = self.stepping("--checkpoint-dir", self.path("c"))
        run.process.send_signal(signal.SIGTERM)
        status, err = run.end()
        self.check_saved(status, err, 0)

    def test_termination_of_one_rank_is_that_of_all(self):
        run = self.stepping("--checkpoint-dir", self.path("c"))
        run.send(3, signal.SIGTERM)
        status, err = run.end()
        self.check_saved(status, err, 0)

    def test_an_interrupt_saves_and_says_so(self):
        run = self.stepping("--checkpoint-dir", self.path("c"))
        run.process.send_signal(signal.SIGINT)
        status, err = run.end()
        done = self.check_saved(status, err, 1)
        self.assertEqual(err.count(f"weft-run: interrupted after step {done}, which was saved"), 1, err)

    def refused(self, processes, plan, text, *flags):
        status, err = self.start(processes, plan, *ENDLESS, *flags).end()
        self.assertEqual(status, 2, err)
        self.assertEqual(err.count("weft-run: "), 1, err)
        self.assertIn(text, err)

    def test_other_numbers_of_processes_are_refused(self):
        plan = self.plan(*MICRO, *LAYOUT)
        self.refused(2, plan, "plan: expected 4 processes, one a rank, got 2 (mpirun -n 4)")
        self.refused(5, plan, "plan: expected 4 processes, one a rank, got 5 (mpirun -n 4)")
        self.refused(2, self.path("none.plan"), "none.plan: ")

    def refused_together(self, first, second, text):
        """Two ranks, each with arguments of its own; the one line that is said."""
        run = command("weft-run")[0]
        wrapper = self.write("choose.sh", f'#!/bin/bash\nif [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then '
                             f'exec {run} {" ".join(first)}; else exec {run} {" ".join(second)}; fi\n')
        os.chmod(wrapper, 0o755)
        done = subprocess.run(["tools/build_defs/mpirun.sh", "2", wrapper], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, 2, err)
        self.assertEqual(err.count("weft-run: "), 1, err)
        self.assertRegex(err, text)

    def test_another_plan_is_refused(self):
        # Rank 1 finds another plan under the name that all are given, as on a host that has an older file.
        plans = [self.plan(*MICRO, *LAYOUTS[layout][0]) for layout in ("data", "tensor")]
        self.refused_together(*([plan, "--data", TOKENS] for plan in plans),
                              "weft-run: rank 1: plan: hash: expected [0-9a-f]{16}, as on rank 0, got [0-9a-f]{16}\n")

    def test_other_options_and_data_are_refused(self):
        run = [self.plan(*MICRO, *LAYOUTS["data"][0]), "--quiet", "--data", TOKENS]
        self.refused_together([*run, "--steps", "2", "--seed", "1"], [*run, "--steps", "3", "--seed", "2"],
                              "weft-run: rank 1: --steps: expected 2, as on rank 0, got 3; "
                              "--seed: expected 1, as on rank 0, got 2\n")
        self.refused_together([*run, "--checkpoint-dir", self.path("c")], run,
                              f"weft-run: rank 1: --checkpoint-dir: expected {self.path('c')}, as on rank 0, got none\n")
        self.assertFalse(os.path.exists(self.path("c")))
        # The same file by another name is the same data; the same name with one other token is not.
        same, other = self.path("same.bin"), self.write("other.bin", contents(TOKENS)[:-2] + b"\1\0")
        os.symlink(os.path.abspath(TOKENS), same)
        self.refused_together([*run[:-1], same], [*run[:-1], other],
                              "weft-run: rank 1: data_hash: expected [0-9a-f]{16}, as on rank 0, got [0-9a-f]{16}\n")
        init = raw_safetensors(WEIGHTS)
        dtype, shape, content = init["ln_f.bias"]
        write_safetensors(self.path("a.safetensors"), {**init, "ln_f.bias": (dtype, shape, b"\0" * len(content))})
        self.refused_together([*run, "--init", WEIGHTS], [*run, "--init", self.path("a.safetensors")],
                              "weft-run: rank 1: --init: hash: expected [0-9a-f]{16}, as on rank 0, got ")

    def test_ranks_share_the_lock_of_their_folder(self):
        run = self.stepping("--checkpoint-dir", self.path("c"))
        self.refused(PROCESSES, self.plan(*MICRO, *LAYOUT), "expected no other run at work here, got process "
                     f"{run.ranks[0]} on ", "--checkpoint-dir", self.path("c"))
        run.process.send_signal(signal.SIGTERM)
        status, err = run.end()
        self.assertEqual(status, 0, err)
        self.assertNotIn(".lock", os.listdir(self.path("c")))

    def test_a_copy_that_does_not_fit(self):
        # Room for the arena and the messages, but not for 12 bytes a parameter more.
        data = LAYOUTS["data"][0]
        arena = json.loads(self.run_ok("weft-plan", "memory", self.plan(*MICRO, *data), "--json").out)["stages"][0]["arena_bytes"]
        cluster = self.write("small.cluster", 'device { kind: "cpu" memory_bytes: %d } node { count: 1 ranks: 2 }' % (arena + 900_000))
        line = command("weft-launch", "-n", 2, "--", self.plan(*MICRO, *data, "cluster=" + cluster), "--data", TOKENS, "--steps", 4,
                       "--threads", 1, "--checkpoint-every", 2)

        def run(name, *flags):
            done = subprocess.run([*line, "--checkpoint-dir", self.path(name), *flags], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60)
            return done.returncode, done.stderr.decode()

        says = r"memory: expected at most 3\.\d+ MiB, as a device of the cluster has, got .* and 1\.38 MiB for checkpoints beside it\n"
        status, err = run("standing")
        self.assertEqual(status, 0, err)
        self.assertRegex(err, "checkpoints are written while the run stands, as a copy of the state does not fit: " + says)
        status, err = run("none", "--checkpoint-async", "on")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, "weft-run: --checkpoint-async: " + says)
        self.assertFalse(os.path.exists(self.path("none")))
        status, err = run("off", "--checkpoint-async", "off")
        self.assertEqual(status, 0, err)
        self.assertNotIn("checkpoints", err)
        for step in (2, 4):
            self.assertEqual(saved_step(f"{self.path('standing')}/step-{step:08}"), saved_step(f"{self.path('off')}/step-{step:08}"))

    def generating(self, processes, *arguments):
        return self.start(processes, JOB, "dist.tensor=2", "--init", WEIGHTS, "--tokens", 5, *arguments, make=Generation)

    def test_what_generates_says_once_what_is_wrong(self):
        for processes, arguments, said in (
                (3, ("--prompt-ids", "1"), "weft-generate: plan: expected 2 processes, one a rank, got 3 (mpirun -n 2)\n"),
                (2, ("--prompt-ids", "1", "--end", "256"), "weft-generate: --end: expected none or a token from 0 to 255, got `256`\n")):
            self.assertEqual(self.generating(processes, *arguments).end(), (2, said))

    def test_a_signal_ends_what_generates(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.generating(2, "--prompt-ids", "1")
            run.find_ranks(awaited=1)
            run.send(1, signal.SIGSTOP)  # so that it lasts
            run.process.send_signal(number)
            self.assertEqual(run.end(), (128 + number, ""))
            self.assertTrue(run.all_gone())

    def test_launch_explains_itself(self):
        for arguments, status, text in (
                (["a.plan"], 2, "expected -n N, as many processes as the plan has ranks"),
                (["-n", "0", "a.plan"], 2, "-n: expected how many processes, got `0`"),
                (["-n", "2"], 2, "expected a plan"),
                (["--steps", "2"], 2, "--steps: expected -n N"),
                (["-n", "2", "--restarts", "many", "a.plan"], 2, "--restarts: expected a whole number of at least 0, got `many`"),
                (["-n", "2", "--restarts-per-hour", "-1", "a.plan"], 2, "--restarts-per-hour: expected a whole number"),
                (["-n", "2", "--restarts", "3", "a.plan"], 2, "--restarts: expected --checkpoint-dir among the flags"),
                (["-n", "2", "--hosts", "a:0", "a.plan"], 2, "--hosts: expected names and how many ranks each takes"),
                (["-n", "4", "--hosts", "a:2,b", "a.plan"], 2, "--hosts: expected room for 4 ranks, got 3"),
                (["-n", "2", "--shell", "rsh", "a.plan"], 2, "--shell: expected with --hosts"),
                (["-n", "2", "--fewer", "one.plan", "a.plan"], 2, "--fewer: expected how many ranks and their plan"),
                (["-n", "2", "--fewer", "1:one.plan", "a.plan"], 2, "--fewer: expected with --restarts, and with --hosts or"),
                (["-n", "2", "--stand-in", "a.plan"], 2, "--stand-in: expected with --hosts and --restarts"),
                (["-n", "2", "--stand-in", "--hosts", "a:2", "a.plan"], 2, "--stand-in: expected with --hosts and --restarts"),
                (["-n", "2", "--ask-every", "1.5", "a.plan"], 2, "--ask-every: expected seconds, a whole number of at least 0, got `1.5`"),
                (["-n", "2", "--slurm", "--hosts", "a:2", "a.plan"], 2, "--slurm: expected without --hosts"),
                (["-n", "2", "--slurm", "--shell", "rsh", "a.plan"], 2, "--slurm: expected without --shell"),
                ([*SEVERAL, "--fewer", "2:two.plan", "a.plan", "--checkpoint-dir", "c"], 2,
                 "--fewer: expected fewer than 2 ranks, got 2 (two.plan)"),
                ([*SEVERAL, "--fewer", "1:none.plan", "a.plan", "--checkpoint-dir", "c"], 2,
                 "--fewer: none.plan: No such file or directory"),
                ([*SEVERAL, "--fewer", "1:none.plan", "--", "--checkpoint-dir", "c", "a.plan"], 2,
                 "--fewer: expected the plan in front of the flags of weft run"),
                (["-n", "2", "--show", "a.plan", "--steps", "3"], 0, "a.plan --steps 3"),
                (["-n", "2", "generate"], 2, "expected a job behind generate"),
                (["-n", "2", "--restarts", "3", "generate", "a.job", "--checkpoint-dir", "runs"], 2,
                 "--restarts: expected a plan, as a run begins again from a checkpoint of its own, got generate"),
                (["-n", "2", "--show", "--", "generate", "a.job", "--prompt", "a"], 0, "weft-generate a.job --prompt a")):
            with self.subTest(arguments=arguments):
                done = subprocess.run(command("weft-launch", *arguments), stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, (done.stdout + done.stderr).decode())
        done = subprocess.run(command("weft-launch", "-n", "2", "a.plan"), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"weft-launch: mpirun: expected in PATH, found none", done.stderr)


if __name__ == "__main__":
    main()
