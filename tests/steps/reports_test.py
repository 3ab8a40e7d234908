#!/usr/bin/env python3
"""What scripts read of a run: metrics.jsonl and the timeline."""
import importlib.util
import json
import os
import socket
import struct
import sys
import unittest

sys.path.insert(0, "tests/support")
from programs import TOKENS, WEIGHTS, ProgramTest, call, main, metrics  # noqa: E402

# A metric of a layer: what %x measures at first is known, what its noise adds differs by micro-batch.
MODEL = """\
model.layer @emb(%tokens) {
  %w = weft.parameter "weight" [256, 8] init(constant 0.5)
  %x = weft.embedding %tokens, %w
  %noise = weft.random_uniform [batch, 8, 8] low(0) high(1)
  %y = weft.add %x, %noise
  %size = weft.reduce mean %x over [0, 1, 2]
  %noisy = weft.reduce mean %y over [0, 1, 2]
  weft.output "size" metric %size
  weft.output "noisy-size" metric %noisy
  model.return %y
}
model.layer @head(%x) {
  %w = weft.parameter "weight" [8, 256] init(normal 0.3)
  %y = weft.einsum "bsi,io->bso" %x, %w
  model.return %y
}
model.graph @train(%tokens [batch, 8] i32, %labels [batch, 8] i32) {
  %x = model.call @emb "emb" (%tokens)
  %y = model.call @head "head" (%x)
  %loss, %count = weft.cross_entropy %y, %labels
  weft.minimize %loss per %count
}
"""

FIELDS = {"step", "loss", "grad_norm", "lr", "tokens", "tokens_per_s", "tflops", "mfu", "mfu_cluster", "memory_bytes", "memory_share"}


def crc32c(content):
    """Bit by bit, as RFC 3720 says it."""
    crc = 0xffffffff
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(content):
    crc = crc32c(content)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records_of(path):
    """The records of an event file, with their checksums looked at."""
    with open(path, "rb") as file:
        content = file.read()
    while content:
        length, of_length = struct.unpack_from("<QI", content)
        data, (of_data,) = content[12:12 + length], struct.unpack_from("<I", content, 12 + length)
        assert (of_length, of_data) == (masked(content[:8]), masked(data)), path
        yield data
        content = content[16 + length:]


def fields_of(message):
    """(number, value) of the fields of a protocol buffer; what has a fixed size is left as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        value = varint() if key & 7 in (0, 2) else None
        if size != 0:
            size = value if size is None else size
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def fields(message):
    return dict(fields_of(message))


class ReportsTest(ProgramTest):
    def test_metrics_have_the_promised_fields(self):
        path = self.path("m.jsonl")
        self.train(self.plan("optimizer.schedule={warmup_linear { warmup: 2 total: 4 }}"), 4,
                   "--init", WEIGHTS, "--metrics", path)
        lines = metrics(path)
        self.assertEqual([line["step"] for line in lines], [1, 2, 3, 4])
        for line in lines:
            self.assertEqual(line.keys(), FIELDS)
            self.assertEqual(line["tokens"], 4 * 64)
            for field in FIELDS - {"step"}:
                self.assertGreater(line[field], 0, field)
            for field in ("loss", "grad_norm", "lr"):  # nine digits carry a float32 exactly
                value = line[field]
                self.assertEqual(value, float(f"{struct.unpack('<f', struct.pack('<f', value))[0]:.9g}"), field)
        # Before the step's update: the first line is that of the initial weights (tests/oracle).
        with open("tests/oracle/tiny_losses_f64.txt", encoding="utf-8") as file:
            _, loss, norm = file.readline().split()
        self.assertAlmostEqual(lines[0]["loss"], float(loss), delta=1e-5)
        self.assertAlmostEqual(lines[0]["grad_norm"], float(norm), delta=1e-4)
        self.assertEqual([round(line["lr"], 7) for line in lines], [0.0005, 0.001, 0.001, 0.0005])

    def test_metrics_of_the_model(self):
        self.write("m.mlir", MODEL)
        job = self.write("m.job", 'model { file: "m.mlir" } batch { global: 4 } optimizer { sgd { lr: 0.1 } }\n'
                         "data { format: TEXT }\n")
        one = None
        for layout in ((), ("batch.micro=2",), ("batch.micro=1",), ("dist.data=2",), ("batch.micro=2", "dist.pipeline=2")):
            with self.subTest(layout=layout):
                path = self.path("m.jsonl")
                run = self.run_ok("weft-run", self.plan(*layout, job=job), "--data", "models/layers.mlir", "--steps", 2,
                                  "--threads", 1, "--metrics", path)
                lines = metrics(path)
                one = one or lines
                self.assertEqual(lines[0].keys(), FIELDS | {"size", "noisy-size"})
                self.assertEqual(lines[0]["size"], 0.5)
                self.assertAlmostEqual(lines[0]["noisy-size"], 1, delta=0.1)
                for field in ("loss", "size", "noisy-size"):
                    for got, expected in zip(lines, one):
                        self.assertAlmostEqual(got[field], expected[field], delta=1e-6)
                self.assertRegex(run.err, r"step 1/2  loss [\d.]+  norm [\d.]+  lr 1.00e-01  (size 0.5  noisy-size|noisy-size [\d.]+  size)")

    def test_a_new_run_replaces_the_metrics(self):
        path = self.path("m.jsonl")
        self.train(self.plan(), 3, "--metrics", path)
        self.train(self.plan(), 2, "--metrics", path)
        self.assertEqual([line["step"] for line in metrics(path)], [1, 2])

    def test_the_first_line_says_what_is_run(self):
        path, folder = self.path("m.jsonl"), self.path("c")
        flags = ("--metrics", path, "--checkpoint-dir", folder, "--resume")
        self.train(self.plan(), 2, *flags)
        self.train(self.plan("dist.data=2"), 3, *flags)
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line.get("step") or list(line)[0] for line in lines],
                         ["run", 1, 2, "checkpoint", "run", 3, "checkpoint"])
        first, second = lines[0]["run"], lines[4]["run"]
        for plan, run in ((self.plan(), first), (self.plan("dist.data=2"), second)):
            shown = self.run_ok("weft-plan", "show", plan).out
            self.assertRegex(shown, f"hash +{run['plan']}\n")
            self.assertEqual((run["data"], run["data_form"], run["data_tokens"]), (TOKENS, "uint16", "65536"))
            self.assertRegex(run["data_hash"], "^[0-9a-f]{16}$")
            self.assertEqual(run["host"], socket.gethostname())
            self.assertRegex(run["date"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertIn("adamw { lr: 0.001 ", run["job"])
        self.assertNotEqual(first["plan"], second["plan"])
        with open(folder + "/step-00000003/manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        self.assertEqual({**manifest["run"], "date": second["date"], "steps": "3"}, second)

    def test_a_run_is_watched(self):
        runs = self.path("runs")
        for name, *layout in (("one",), ("two", "dist.data=2")):
            os.makedirs(f"{runs}/{name}")
            self.train(self.plan(*layout), 3, "--metrics", f"{runs}/{name}/metrics.jsonl")
        last = metrics(runs + "/two/metrics.jsonl")[-1]
        frame = self.run_ok("weft-watch", runs + "/two", "--once").out
        self.assertTrue(frame.startswith("step 3/3, 100 %, done  "), frame)
        self.assertEqual(frame.splitlines()[1:], self.run_ok("weft-watch", runs + "/two/metrics.jsonl").out.splitlines()[1:])
        self.assertIn("\n2 ranks (data = 2), on ", frame)
        self.assertRegex(frame, r"\n  loss +%.5g  \S+ to \S+ +[▁▂▃▄▅▆▇█]{3}\n" % last["loss"])
        for key in ("grad_norm", "lr", "tokens_per_s", "memory_bytes"):
            self.assertIn(f"\n  {key} ", frame)
        both = self.run_ok("weft-watch", runs).out.splitlines()
        self.assertEqual([line.split()[0] for line in both], ["run", "one", "two"])
        gauges = self.run_ok("weft-watch", runs, "--prometheus").out.splitlines()
        self.assertIn('weft_loss{run="two"} %.9g' % last["loss"], gauges)
        self.assertIn('weft_step{run="one"} 3', gauges)
        none = call("weft-watch", self.folder)
        self.assertEqual((none.status, none.err), (2, f"weft-watch: {self.folder}: expected a folder with metrics.jsonl, which "
                                                   "weft run --metrics writes, or a file of it, found none\n"))

    def test_tensorboard_has_the_numbers_of_the_metrics(self):
        path, board = self.path("m.jsonl"), self.path("board")
        self.train(self.plan("dist.data=2"), 4, "--metrics", path, "--tensorboard", board)
        (name,) = os.listdir(board)
        self.assertRegex(name, r"^events\.out\.tfevents\.\d{10}\.")
        first, *steps = map(fields, records_of(f"{board}/{name}"))
        self.assertEqual(first[3], b"brain.Event:2")
        lines = metrics(path)
        self.assertEqual([step[2] for step in steps], [line.pop("step") for line in lines])
        for step, line in zip(steps, lines):
            found = [fields(value) for key, value in fields_of(step[5]) if key == 1]
            found = {one[1].decode(): struct.unpack("<f", one[2])[0] for one in found}
            self.assertEqual(set(found), {key for key, value in line.items() if value is not None})
            for key, value in found.items():
                self.assertEqual(value, struct.unpack("<f", struct.pack("<f", line[key]))[0], key)
        refused = call("weft-run", self.plan(), "--data", TOKENS, "--tensorboard", path)
        self.assertEqual((refused.status, refused.err),
                         (2, f"weft-run: --tensorboard: {path}: cannot be created: Not a directory\n"))

    @unittest.skipUnless(importlib.util.find_spec("tensorboard"), "no tensorboard")
    def test_tensorboard_reads_them(self):
        """The package itself, where Python has it."""
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        path, board = self.path("m.jsonl"), self.path("board")
        self.train(self.plan(), 4, "--metrics", path, "--tensorboard", board)
        found = EventAccumulator(board)
        found.Reload()
        for key in FIELDS - {"step"}:
            self.assertEqual([(event.step, event.value) for event in found.Scalars(key)],
                             [(line["step"], struct.unpack("<f", struct.pack("<f", line[key]))[0]) for line in metrics(path)])

    def test_the_screen_names_what_is_run(self):
        plan = self.plan("dist.data=2")
        said = self.run_ok("weft-run", plan, "--data", TOKENS, "--steps", 10, "--log-every", 4).err.splitlines()
        shown = self.run_ok("weft-plan", "show", plan).out
        self.assertRegex(said[0], r"^.*\.plan \([0-9a-f]{16}\): train of \S*gpt2\.mlir on \S+, data tests/oracle/tokens\.bin$")
        self.assertIn(said[0].split("(")[1].split(")")[0], shown)
        steps = [line for line in said if line.startswith("step")]
        self.assertEqual([line.split()[1] for line in steps], ["4/10", "8/10", "10/10"])
        for line in steps:
            self.assertRegex(line, r"loss \S+  norm \S+  lr \S+ .* \d+ % of measured, \d+ % of stated peak  \d+ MiB \(\d+\.\d %\)")

    def test_the_timeline_has_a_process_a_rank(self):
        path = self.path("t.json")
        self.train(self.plan("dist.data=2", "dist.tensor=2"), 2, "--trace", path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "process_name"}
        self.assertEqual(names, {rank: f"rank {rank}" for rank in range(4)})
        threads = {(event["pid"], event["tid"]) for event in events
                   if event["ph"] == "M" and event["name"] == "thread_name"}
        acts = [event for event in events if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in acts}, set(names))
        self.assertEqual({(event["pid"], event["tid"]) for event in acts}, threads)
        self.assertEqual({event["args"]["step"] for event in acts}, {1, 2})
        for event in acts:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)
        self.assertTrue(any(event["name"].startswith("h.1.forward") for event in acts))
        # On a stream acts follow each other (times have three digits behind the point).
        for thread in threads:
            mine = sorted((event for event in acts if (event["pid"], event["tid"]) == thread),
                          key=lambda event: event["ts"])
            for before, after in zip(mine, mine[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 0.002)

    def test_the_timeline_says_what_is_sent_to_whom(self):
        plan = self.plan("dist.data=2", "dist.tensor=2", "dist.pipeline=2", "batch.micro=2")
        self.train(plan, 2, "--trace", self.path("t.json"), "--trace-kernels")
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        acts = [event for event in events if event["ph"] == "X"]
        self.assertTrue(all(event["cat"] for event in acts))
        # A group of two ranks of a stage, which the plan's text knows by its axis.
        sums = [event for event in acts if event["cat"].startswith("collective,")]
        groups = {(event["args"]["over"], event["args"]["group"]) for event in sums if event["pid"] == 4}
        self.assertEqual(groups, {("data", "4, 6"), ("tensor", "4 to 5")} | (groups & {("data, tensor", "4 to 7")}))
        self.assertTrue(all(event["args"]["bytes"] > 0 for event in sums if "all_reduce" in event["args"]["what"]))
        kernels = [event for event in acts if "/" in event["name"] and "einsum" in event["name"]]
        self.assertTrue(kernels and all(event["args"]["flops"] > 0 and ".mlir:" in event["args"]["location"]
                                        for event in kernels))
        # Each arrow has a beginning in the act that sends and an end in the one that receives.
        begins, ends = ({event["id"]: event for event in events if event["ph"] == phase} for phase in "sf")
        self.assertGreater(len(begins), 2 * 2 * 4)
        self.assertEqual(set(begins), set(ends))
        self.assertEqual(len(begins), sum(event["ph"] == "s" for event in events))
        spans = {(event["pid"], event["tid"], bound): event for event in acts
                 for bound in (event["ts"], round(event["ts"] + event["dur"], 3))}
        for arrow, begin in begins.items():
            end = ends[arrow]
            send, receive = (spans[event["pid"], event["tid"], event["ts"]] for event in (begin, end))
            self.assertNotEqual(begin["pid"] // 4, end["pid"] // 4)  # of different stages
            self.assertEqual(send["cat"].split(",")[0] + receive["cat"].split(",")[0], "sendreceive")
            for key in ("step", "micro_batch"):
                self.assertEqual(send["args"][key], receive["args"][key])
            self.assertLessEqual(begin["ts"], end["ts"])

    def test_the_timeline_counts_memory(self):
        plan = self.plan("dist.data=2", "batch.micro=2")
        self.train(plan, 2, "--trace", self.path("t.json"), "--trace-kernels")
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        counters = [event for event in events if event["ph"] == "C"]
        self.assertEqual({event["name"] for event in counters}, {"memory"})
        self.assertEqual({event["pid"] for event in counters}, {0, 1})
        (stage,) = json.loads(self.run_ok("weft-plan", "memory", plan, "--json").out)["stages"]
        # A value at the beginning of every act that computes; the most of all is what the plan cannot do without.
        begins = {(event["pid"], event["ts"]) for event in events if event["ph"] == "X" and "/" not in event["name"]}
        self.assertTrue({(event["pid"], event["ts"]) for event in counters} <= begins)
        most = max(sum(event["args"].values()) for event in counters)
        self.assertLessEqual(most, stage["lower_bound_bytes"])
        self.assertGreater(most, stage["lower_bound_bytes"] * 0.9)
        kept = {event["args"]["optimizer"] for event in counters}
        self.assertEqual(len(kept), 1, kept)
        self.assertGreater(len({event["args"]["activations"] for event in counters}), 4)


if __name__ == "__main__":
    main()
