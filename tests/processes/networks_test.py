#!/usr/bin/env python3
"""Runs on two hosts with a network between them that is slow, loses packets, is cut, or has lost a host."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, "tests/processes")
from hosts import Link, Network, enter_namespace, over_the_wire  # noqa: E402
from processes import LAYOUTS, MICRO, ProcessesTest, numbers, saved, steps_in  # noqa: E402
from programs import LIMIT_S, PROGRAMS, TOKENS, command, contents, main  # noqa: E402

WHY_NOT = enter_namespace()
LAYOUT, PROCESSES = LAYOUTS["data x pipeline"]
STEPS = 12
LONG = 200
BEGINS_AGAIN_WITHIN_S = 30  # of a loss; --lost-seconds is 3
STEP_BYTES = 100_000  # of a step, from host to host: far more, 0.5 MB of activations or 1.2 MB of gradients
# How ranks lie on the hosts: a stage on each, so that activations cross the network, or half of each stage, so that gradients do.
STAGES, HALVES = "slot", "node"


class NetworksTest(ProcessesTest):
    def setUp(self):
        if WHY_NOT:
            self.skipTest(WHY_NOT)
        super().setUp()
        self.network = Network(["a", "b", "c", "d"])
        self.addCleanup(self.network.close)
        self.a, self.b, self.c, self.d = self.network.hosts.values()
        self.shell = self.path("shell")
        self.network.write_shell(self.shell)
        os.mkdir(self.path("tmp"))

    def flags(self, steps):
        return ["--data", TOKENS, "--threads", 1, "--quiet", "--steps", steps, "--metrics", self.path("m.jsonl"),
                "--checkpoint-dir", self.path("c")]

    def begin(self, *flags, steps=STEPS, by=STAGES, plan=None):
        self.start_on_a("mpirun", "--allow-run-as-root", "--host", "a:2,b:2", "--map-by", by, "--bind-to", "none",
                        "--mca", "pml", "ob1", "--mca", "plm_rsh_agent", self.shell, "-n", PROCESSES,
                        os.path.abspath(PROGRAMS["weft-run"]), plan or self.plan(*MICRO, *LAYOUT), *self.flags(steps), *flags)

    def launch(self, hosts, *more, steps, every=("--checkpoint-every", 2)):
        self.line = command("weft-launch", "-n", PROCESSES, "--hosts", hosts, "--shell", self.shell, "--restarts", 3, *more,
                            "--", self.plan(*MICRO, *LAYOUT), *self.flags(steps), "--lost-seconds", 3, *every)
        self.start_on_a(*self.line)

    def stand_in(self, host):
        """From then on `process` and `said()` are of the launch on that host, the line of `launch` with `--stand-in`."""
        first, err = self.process, self.path("err." + host.name)
        self.start_on(host, err, *self.line[:1], "--stand-in", *self.line[1:])
        return first

    def start_on_a(self, *line, **environment):
        self.start_on(self.a, self.path("err"), *line, **environment)

    def start_on(self, host, err, *line, **environment):
        self.err_path = err
        with open(err, "wb") as out:
            process = subprocess.Popen([*host.run(), *[str(word) for word in line]], stdin=subprocess.DEVNULL, stderr=out,
                                       env={**over_the_wire(self.path("tmp")), **environment})
        self.process = process
        self.addCleanup(self.end, process)

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def await_steps(self, count):
        while steps_in(self.path("m.jsonl")) < count:
            self.assertIsNone(self.process.poll(), self.said())
            time.sleep(0.005)

    def said(self):
        return contents(self.err_path).decode("utf-8", "replace")

    def await_word(self, word):
        end = time.monotonic() + LIMIT_S
        while word not in self.said() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIn(word, self.said())

    def await_no_ranks(self, host):
        """Its ranks end by themselves. mpirun may not, when it has lost a host."""
        end = time.monotonic() + LIMIT_S
        while (ranks := [one for one in host.processes() if "weft-run" in name_of(one)]) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(ranks, [], self.said())

    def check_undisturbed(self):
        """It ends well, with the numbers of one process."""
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.assertGreater(self.network.bytes, STEPS * STEP_BYTES)  # nothing went another way
        expected, expected_numbers = self.undisturbed("data x pipeline", STEPS)
        self.assertEqual(numbers(self.path("m.jsonl")), expected_numbers)
        self.assertEqual(saved(self.path("c")), expected)

    def check_link(self, link, by):
        self.b.link = link
        self.begin(by=by)
        self.check_undisturbed()

    def test_numbers_are_those_of_one_host_over_a_far_network(self):
        self.check_link(Link(delay_s=0.005), STAGES)

    def test_numbers_are_those_of_one_host_over_a_slow_network(self):
        self.check_link(Link(bytes_per_s=2e6), HALVES)

    def test_numbers_are_those_of_one_host_over_a_network_that_loses_packets(self):
        self.check_link(Link(delay_s=0.001, loss=0.01), HALVES)

    def test_members_of_a_host_put_their_terms_together(self):
        """Where the cost model says so: on half as many bytes between hosts of two ranks, the same numbers."""
        sent, seen = [], []
        for latency_s in 1e-6, 10:  # within a host: too long to talk twice
            plan = self.plan("batch.micro=4", "dist.data=4", "cluster.node.count=2", "cluster.node.ranks=2",
                             "cluster.network.link_bytes_s=1e6", f"cluster.node.latency_s={latency_s}")
            before = self.network.bytes
            self.begin(plan=plan)
            self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
            sent.append(self.network.bytes - before)
            tensors = {name: data for name, data in saved(self.path("c")).items() if name != "manifest.json"}
            seen.append((numbers(self.path("m.jsonl")), tensors))
            os.rename(self.path("c"), self.path("c%g" % latency_s))
            os.rename(self.path("m.jsonl"), self.path("m%g.jsonl" % latency_s))
        self.assertEqual(seen[0][0], seen[1][0])
        self.assertTrue(seen[0][1] and seen[0][1] == seen[1][1])
        self.assertGreater(sent[1], STEPS * STEP_BYTES)
        self.assertLess(sent[0], 0.6 * sent[1], sent)

    def test_a_cut_of_five_seconds_is_survived(self):
        self.begin("--lost-seconds", 60)
        self.await_steps(3)
        self.b.link.cut = True
        time.sleep(5)
        self.b.link.cut = False
        self.check_undisturbed()

    def test_a_cut_that_lasts_is_named_on_both_sides(self):
        self.begin("--lost-seconds", 3, steps=10**9)
        self.await_steps(3)
        self.b.link.cut = True
        # What ranks of `b` say does not come here: mpirun's helper there has lost its mpirun.
        self.await_word("weft-run: ranks 2, 3 are lost: nothing was heard of host b for 3 s; ")
        self.await_no_ranks(self.a)
        self.await_no_ranks(self.b)

    def test_a_dead_host_ends_the_run_which_goes_on_with_fewer(self):
        self.begin("--lost-seconds", 3, "--checkpoint-every", 2, steps=10**9)
        self.await_steps(5)
        self.b.die()
        self.await_word("weft-run: ranks 2, 3 are lost: ")
        self.await_no_ranks(self.a)
        # On the host that is left, with as many ranks as it has cores, to the same numbers.
        done = int(contents(self.path("c/latest")).decode().strip().removeprefix("step-"))
        self.train(self.plan(*MICRO, "dist.data=2"), done + 2, "--checkpoint-dir", self.path("c"), "--resume", "--metrics",
                   self.path("m.jsonl"))
        self.train(self.plan(*MICRO), done + 2, "--metrics", self.path("one.jsonl"))
        for here, one in zip(numbers(self.path("m.jsonl")), numbers(self.path("one.jsonl")), strict=True):
            self.assertEqual(here["step"], one["step"])
            self.assertLess(abs(here["loss"] / one["loss"] - 1), 2e-5)

    def kill_b_when_it_steps(self):
        self.await_steps(5)
        self.b.die()
        begin = time.monotonic()
        self.await_word("weft-launch: the run begins again, restart 1 of 3, on ")
        self.assertLess(time.monotonic() - begin, BEGINS_AGAIN_WITHIN_S)
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())

    def test_a_spare_host_takes_the_place_of_a_dead_one(self):
        self.launch("a:2,b:2,c:2", steps=LONG)
        self.kill_b_when_it_steps()
        self.assertIn(", on a:2,c:2\n", self.said())
        self.check_is_undisturbed()

    def test_a_spare_host_that_is_dead_as_well_is_left_out(self):
        self.launch("a:2,b:2,c:2,d:2", steps=LONG)
        self.await_steps(2)
        self.c.die()
        self.kill_b_when_it_steps()
        self.assertIn("weft-launch: host c is lost: it does not answer\n"
                      "weft-launch: the run begins again, restart 1 of 3, on a:2,d:2\n", self.said())
        self.check_is_undisturbed()

    def test_a_spare_host_that_cannot_run_the_plan_is_left_out(self):
        """It has another copy of it, of which the end is missing."""
        plan = self.plan(*MICRO, *LAYOUT)
        with open(self.path("other.plan"), "wb") as out:
            out.write(contents(plan)[:-1])
        subprocess.run([*self.c.run(), "mount", "--bind", self.path("other.plan"), plan], check=True)
        self.launch("a:2,b:2,c:2,d:2", steps=LONG)
        self.kill_b_when_it_steps()
        self.assertRegex(self.said(), f"\nweft-run: {plan}: truncated: expected .*\n"
                         "weft-launch: host c is left out: it cannot take ranks\n"
                         "weft-launch: the run begins again, restart 1 of 3, on a:2,d:2\n")
        self.check_is_undisturbed()

    def test_a_restart_that_does_not_begin_is_tried_again(self):
        self.launch("a:2,b:2,c:2", steps=LONG)
        self.await_steps(2)
        self.c.fail_once()
        self.kill_b_when_it_steps()
        self.assertIn("weft-launch: the run begins again, restart 2 of 3, on a:2,c:2\n", self.said())
        self.check_is_undisturbed()

    def test_another_launch_takes_the_place_of_the_one_on_a_dead_host(self):
        self.launch("a:2,b:2,c:2", steps=LONG, every=("--checkpoint-every", "1h", "--snapshot-every", 2))
        self.stand_in(self.c)
        self.await_word("weft-launch: stands in for the launch of the run with the checkpoints ")
        self.await_steps(5)
        self.a.die()
        self.await_word("weft-launch: host a, where the run was launched, is lost\n"
                        "weft-launch: the run begins again, restart 1 of 3, on b:2,c:2\n")
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), r"\nrestarted after step [1-9]\d*; .*as host a, where the run was launched, is lost\n")
        self.check_is_undisturbed()

    def test_another_launch_takes_the_place_of_one_that_was_killed(self):
        self.launch("a:2,b:2", steps=LONG)
        first = self.stand_in(self.b)
        self.await_word("weft-launch: stands in for ")
        self.await_steps(5)
        # The rank that has locked the folder leaves its lock there; the next one that wants it is on another host.
        with open(self.path("c/.lock")) as lock:
            holder = int(lock.read().split()[1])
        first.kill()
        os.kill(holder, signal.SIGKILL)
        self.await_word(" has ended\nweft-launch: the run begins again, restart 1 of 3, on a:2,b:2\n")
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.check_is_undisturbed()

    def test_a_launch_that_finds_another_in_its_place_ends_its_ranks(self):
        self.launch("a:2,b:2", steps=10**9, every=("--checkpoint-every", "1h", "--snapshot-every", 1))
        self.await_steps(5)
        with open(self.path("c/.launch"), "w") as out:
            out.write("elsewhere 4711 1 0\n")
        self.assertNotEqual(self.process.wait(LIMIT_S), 0)
        self.assertIn("weft-launch: another launch has taken the place of this one, whose run ends\n", self.said())
        self.assertNotIn("begins again", self.said())
        self.await_no_ranks(self.a)
        self.await_no_ranks(self.b)
        self.newest_snapshot(self.a)  # the other one's run needs it

    def test_a_launch_that_stands_in_ends_with_the_run(self):
        self.launch("a:2,b:2", steps=LONG)
        first = self.stand_in(self.b)
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.assertEqual(first.wait(LIMIT_S), 0)
        self.assertIn("weft-launch: the run has ended that was launched on a\n", self.said())

    def check_is_undisturbed(self):
        """Bit for bit, as a run of one process."""
        expected, expected_numbers = self.undisturbed("data x pipeline", LONG)
        self.assertEqual(saved(self.path("c")), expected)
        self.assertEqual(numbers(self.path("m.jsonl")), expected_numbers)

    def check_goes_on_from(self, step):
        """Of the restart's line in the metrics; and nothing is left in the memory of the hosts that live."""
        restarts = [line["restart"] for line in map(json.loads, contents(self.path("m.jsonl")).splitlines())
                    if "restart" in line]
        self.assertEqual([restart["step"] for restart in restarts], [step], self.said())
        self.check_is_undisturbed()
        for host in (self.a, self.c, self.d):
            self.assertEqual([name for name in os.listdir(host.memory()) if name.startswith("weft")], [])

    def newest_snapshot(self, host):
        """The newest step that its memory has all snapshots of: of its own ranks and of the host before."""
        (folder,) = [name for name in os.listdir(host.memory()) if name.startswith("weft-snapshots-")]
        names = os.listdir(os.path.join(host.memory(), folder))
        steps = [name.split(".")[0] for name in names if name.startswith("step-")]
        return max(int(step.removeprefix("step-")) for step in steps if steps.count(step) == PROCESSES)

    def test_a_dead_host_goes_on_from_its_neighbours_snapshots(self):
        self.launch("a:2,b:2,c:2", steps=LONG, every=("--checkpoint-every", "1h", "--snapshot-every", 2))
        self.await_steps(5)
        self.b.die()
        self.await_word(" lost: ")
        step = self.newest_snapshot(self.a)
        self.assertGreaterEqual(step, 2)
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.assertIn(", on a:2,c:2\n", self.said())
        self.assertIn(f"\nrestarted after step {step}; ", self.said())
        self.check_goes_on_from(step)

    def test_a_host_and_its_neighbour_lost_leave_the_checkpoint(self):
        self.launch("a:2,b:1,c:1,d:2", steps=LONG, every=("--checkpoint-every", 100, "--snapshot-every", 1))
        self.await_steps(110)  # far from both checkpoints: a snapshot is newer, whichever is the last whole one
        self.b.die()
        time.sleep(1)  # nothing moves any more
        self.c.lose_memory()
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        self.assertIn(", on a:2,c:1,d:1\n", self.said())
        line = re.search(r"\nsnapshot of step (\d+): rank 2's is neither on host b nor on its neighbour c; going on from "
                         r"\S+/step-(\d+)\n", self.said())
        self.assertIsNotNone(line, self.said())
        snapshot, checkpoint = map(int, line.groups())
        self.assertGreater(snapshot, checkpoint)
        self.check_goes_on_from(checkpoint)

    def test_without_a_spare_host_a_plan_for_fewer_ranks_goes_on(self):
        fewer = self.plan(*MICRO, "dist.data=2")
        self.launch("a:2,b:2", "--fewer", f"1:{self.plan(*MICRO)}", "--fewer", f"2:{fewer}", steps=LONG)
        self.kill_b_when_it_steps()
        self.assertIn(f", on a:2 with {fewer}\n", self.said())
        _, expected = self.undisturbed("data x pipeline", LONG)
        found = numbers(self.path("m.jsonl"))
        self.assertEqual([line["step"] for line in found], list(range(1, LONG + 1)))
        for line, undisturbed in zip(found, expected, strict=True):
            self.assertLess(abs(line["loss"] / undisturbed["loss"] - 1), 2e-5)

    def test_a_host_that_returns_is_taken_back(self):
        self.launch("a:2,b:2,c:2", "--ask-every", 1, "--fewer", f"2:{self.plan(*MICRO, 'dist.data=2')}", steps=10**9)
        self.await_steps(5)
        self.b.die()
        self.await_word("weft-launch: the run begins again, restart 1 of 3, on a:2,c:2\n")
        self.await_restarts(1)
        self.c.die()
        self.await_word("weft-launch: the run begins again, restart 2 of 3, on a:2 with ")
        self.await_restarts(2)
        self.b.come_back()
        self.await_word("weft-launch: host b is back: the run ends after its step, and begins again with it\n")
        self.await_word("weft-launch: the run begins again, restart 3 of 3, on a:2,b:2\n")
        restart = self.await_restarts(3)[-1]
        self.assertEqual(restart["reason"], "host b is back")
        self.assertEqual(restart["again"], 0)  # nothing is done again
        self.process.terminate()
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())
        found = numbers(self.path("m.jsonl"))
        self.assertEqual([line["step"] for line in found], list(range(1, len(found) + 1)))
        _, expected = self.undisturbed("data x pipeline", len(found))
        for line, undisturbed in zip(found, expected, strict=True):
            self.assertLess(abs(line["loss"] / undisturbed["loss"] - 1), 2e-5)

    def test_a_host_that_returns_and_does_not_begin_is_left_out_again(self):
        fewer = self.plan(*MICRO, "dist.data=2")
        self.launch("a:2,b:2", "--ask-every", 1, "--fewer", f"2:{fewer}", steps=10**9)
        self.await_steps(5)
        self.b.die()
        self.await_word(f"weft-launch: the run begins again, restart 1 of 3, on a:2 with {fewer}\n")
        self.await_restarts(1)
        self.b.fail_once()
        self.b.come_back()
        self.await_word("weft-launch: the run begins again, restart 2 of 3, on a:2,b:2\n")
        self.await_word("weft-launch: the run begins again, restart 3 of 3, on ")
        restart = self.await_restarts(2)[-1]
        self.assertIn(f", restart 3 of 3, on a:2 with {fewer}\n", self.said())
        self.assertEqual(restart["reason"], "host b, which was back, does not begin")
        self.assertEqual(restart["again"], 0)  # the run ended after a step, and nothing was done since
        self.process.terminate()
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())

    def test_a_host_that_returns_is_spare_where_all_ranks_run(self):
        self.launch("a:2,b:2,c:2", "--ask-every", 1, steps=10**9)
        self.await_steps(5)
        self.b.die()
        self.await_word("weft-launch: the run begins again, restart 1 of 3, on a:2,c:2\n")
        self.await_restarts(1)
        self.b.come_back()
        self.await_word("weft-launch: host b is back, and spare\n")
        self.c.die()
        self.await_word("weft-launch: the run begins again, restart 2 of 3, on a:2,b:2\n")
        self.await_restarts(2)
        self.process.terminate()
        self.assertEqual(self.process.wait(LIMIT_S), 0, self.said())

    def test_a_node_of_slurm_is_lost_and_a_spare_one_takes_its_place(self):
        os.mkdir(self.path("bin"))
        for name in ("srun", "scontrol"):
            shutil.copy("tests/processes/slurm.py", self.path("bin/" + name))
            os.chmod(self.path("bin/" + name), 0o755)
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "a,b,c", "SLURM_TASKS_PER_NODE": "2(x3)", "HOSTS_SHELL": self.shell,
                 "TASKS": self.path("tasks"), "PATH": self.path("bin") + ":" + os.environ["PATH"]}
        self.start_on_a(*command("weft-launch", "-n", PROCESSES, "--slurm", "--restarts", 3, "--", self.plan(*MICRO, *LAYOUT),
                                 *self.flags(LONG), "--lost-seconds", 3, "--checkpoint-every", 2), **slurm)
        self.kill_b_when_it_steps()
        self.assertIn(", on a:2,c:2\n", self.said())
        self.check_is_undisturbed()

    def await_restarts(self, count):
        """What the metrics say of so many, once the last of them has made some steps."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            whole, _, _ = contents(self.path("m.jsonl")).rpartition(b"\n")
            lines = [json.loads(line) for line in whole.splitlines()]
            restarts = [line["restart"] for line in lines if "restart" in line]
            if len(restarts) == count and steps_in(self.path("m.jsonl")) > restarts[-1]["step"] + 5:
                return restarts
            self.assertIsNone(self.process.poll(), self.said())
            time.sleep(0.05)
        self.fail(self.said())

    def test_without_a_plan_for_fewer_the_run_ends(self):
        self.launch("a:2,b:2", steps=10**9)
        self.await_steps(5)
        self.b.die()
        self.assertNotEqual(self.process.wait(LIMIT_S), 0)
        self.assertIn("weft-launch: the run does not begin again: the hosts that are left have room for 2 ranks, and no --fewer "
                      "plan has so few\n", self.said())


def name_of(process):
    try:
        return contents(f"/proc/{process}/cmdline").decode("utf-8", "replace").split("\0")[0]
    except OSError:  # it has ended
        return ""


if __name__ == "__main__":
    main()
