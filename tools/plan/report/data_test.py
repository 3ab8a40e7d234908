"""What a page shows agrees with what the commands say, and with itself: data_test.py PROGRAM..."""

import json
import math
import os
import subprocess
import sys
import unittest

PROGRAMS = {}


def run(program, *arguments):
    done = subprocess.run([PROGRAMS[program], *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise AssertionError("%s %s: %s" % (program, " ".join(arguments), done.stderr))
    return done.stdout


def compiled(name, job, *sets):
    path = os.path.join(os.environ["TEST_TMPDIR"], name + ".plan")
    run("weft-compile", job, *sets, "-o", path, "--quiet")
    return path


def acts_of(stream):
    """(actor, micro-batch, begin, end) of each act, in nanoseconds."""
    now = 0
    for actor, micro, gap, length in zip(stream["actor"], stream["micro"], stream["gap"], stream["ns"]):
        yield actor, micro, now + gap, now + gap + length
        now += gap + length


def elements(shape):
    return math.prod(shape)


def lives_of(data, stage):
    """(name, begin, end, first byte, last byte) of each life of each tensor, by the ends of acts in order."""
    tensors = data["memory"]["stages"][stage]["tensors"]
    acts = {}
    for stream in data["timeline"]["stages"][stage]["streams"]:
        for actor, micro, begin, end in acts_of(stream):
            acts[actor, micro] = (begin, end)
    for t, name in enumerate(tensors["name"]):
        for first, first_micro, last, last_micro, slot, count in tensors["lives"][t] or []:
            for i in range(count):
                offset = tensors["offsets"][t][(slot + i) % len(tensors["offsets"][t])]
                # Within an act tensors may follow each other.
                begin = acts[first, first_micro + i][1]
                end = acts[last, last_micro + i][0]
                yield name, begin, end, offset, offset + tensors["bytes"][t]


class DataTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plans = {
            "2x2": compiled("2x2", "models/gpt2/tiny.job", "dist.data=2", "dist.tensor=2"),
            "stages": compiled("stages", "models/gpt2/tiny.job", "dist.data=2", "dist.pipeline=2", "batch.micro=8",
                               "zero.stage=1"),
        }
        cls.data = {name: json.loads(run("weft-plan", "report", path, "--json"))["plans"][0]
                    for name, path in cls.plans.items()}

    def each(self):
        for name, path in self.plans.items():
            with self.subTest(name):
                yield path, self.data[name]

    def test_says_what_the_commands_say(self):
        for path, data in self.each():
            explained = json.loads(run("weft-plan", "explain", path, "--json"))
            self.assertEqual(data["explain"], explained)
            simulated = json.loads(run("weft-plan", "simulate", path, "--json"))
            shown = json.loads(run("weft-plan", "show", path, "--json"))
            for s, stage in enumerate(simulated["stages"]):
                self.assertEqual(data["stages"][s], {**data["stages"][s], **stage})
                memory = shown["stages"][s]["memory"]
                self.assertEqual(data["stages"][s]["lower_bound_bytes"], memory["lower_bound_bytes"])
                self.assertEqual(data["stages"][s]["at_peak"], list(memory["at_peak"].values()))

    def test_acts_are_those_of_the_plan_and_end_with_the_step(self):
        for path, data in self.each():
            shown = json.loads(run("weft-plan", "show", path, "--json"))
            last = 0
            for s, stage in enumerate(data["timeline"]["stages"]):
                self.assertEqual(stage["actors"]["name"], [actor["name"] for actor in shown["stages"][s]["actors"]])
                for stream, planned in zip(stage["streams"], shown["stages"][s]["streams"]):
                    names = [stage["actors"]["name"][actor] for actor in stream["actor"]]
                    order = [name for entry in planned["runs"] for _ in range(entry["repeat"]) for name in entry["actors"]]
                    self.assertEqual(names, order)
                    last = max([last] + [end for _, _, _, end in acts_of(stream)])
            self.assertAlmostEqual(last * 1e-9, data["explain"]["step_s"], delta=2e-9)

    def test_exposed_seconds_of_acts_are_those_of_the_step(self):
        for _, data in self.each():
            exposed = sum(sum(stream["exposed"]) for stage in data["timeline"]["stages"] for stream in stage["streams"])
            self.assertAlmostEqual(exposed * 1e-9, data["explain"]["exposed_comm_s"], delta=1e-7)

    def test_both_ends_of_a_transfer_are_at_once(self):
        data = self.data["stages"]
        self.assertTrue(data["timeline"]["transfers"])
        begins = [{(a, m): b for stream in stage["streams"] for a, m, b, _ in acts_of(stream)}
                  for stage in data["timeline"]["stages"]]
        for source, sender, target, receiver, _ in data["timeline"]["transfers"]:
            sent = sorted(b for (a, _), b in begins[source].items() if a == sender)
            received = sorted(b for (a, _), b in begins[target].items() if a == receiver)
            self.assertTrue(sent)
            self.assertEqual(sent, received)

    def test_kernels_add_up_to_what_computes(self):
        for _, data in self.each():
            division = data["explain"]["division"]
            computed = sum(division[part] for part in ("forward_s", "backward_s", "update_s", "other_s"))
            kernels = sum(kernel["predicted_s"] for kernel in data["kernels"] if kernel["name"] != "input")
            self.assertAlmostEqual(kernels, computed, delta=1e-9 + 1e-6 * computed)
            for kernel in data["kernels"]:  # the rates of this cluster were not measured by size
                self.assertLess(kernel["roofline_s"], kernel["predicted_s"])
            rows = [row for stage in data["timeline"]["stages"] for actor in stage["actors"]["kernels"] for row in actor]
            self.assertEqual(set(rows), set(range(len(data["kernels"]))))

    def test_live_bytes_peak_within_the_arena(self):
        for _, data in self.each():
            for s, stage in enumerate(data["memory"]["stages"]):
                most = max(map(sum, zip(*stage["live"].values())))
                self.assertLessEqual(most, data["stages"][s]["peak_bytes"])
                self.assertGreater(most, 0.8 * data["stages"][s]["lower_bound_bytes"])

    def test_no_two_tensors_lie_in_the_same_bytes_at_once(self):
        for _, data in self.each():
            for s in range(len(data["stages"])):
                lives = sorted(lives_of(data, s), key=lambda life: life[1])
                self.assertGreater(len(lives), 20)
                for i, (name, begin, end, first, last) in enumerate(lives):
                    self.assertLessEqual(last, data["stages"][s]["peak_bytes"])
                    for other, other_begin, other_end, other_first, other_last in lives[i + 1:]:
                        if other_begin >= end:
                            break
                        apart = other_first >= last or first >= other_last or other_begin >= other_end or begin >= end
                        self.assertTrue(apart, "%s and %s" % (name, other))

    def test_tiles_cover_each_parameter_once(self):
        cut = 0
        for path, data in self.each():
            shown = json.loads(run("weft-plan", "show", path, "--json"))
            count = sum(len(stage["parameters"]) for stage in shown["stages"])
            held = {what: [it for it in data["parameters"]["parameters"] if it["what"] == what]
                    for what in ("parameter", "gradient", "optimizer")}
            self.assertEqual(sum(it["count"] for it in held["parameter"]), count)
            # Adam keeps two of each parameter, and each has a gradient.
            self.assertEqual(sum(it["count"] for it in held["optimizer"]), 2 * count)
            self.assertEqual(sum(it["count"] for it in held["gradient"]), count)
            for layout in data["parameters"]["layouts"]:
                self.assertEqual(len(layout["tiles"]) * elements(layout["dims"]), elements(layout["shape"]))
                for tile in layout["tiles"]:
                    for origin, size, whole in zip(tile["origin"], layout["dims"], layout["shape"]):
                        self.assertEqual(origin % size, 0)
                        self.assertLessEqual(origin + size, whole)
                cut += len(layout["tiles"]) > 1
        self.assertGreater(cut, 0)

    def test_the_model_folds_layers_and_names_boxings(self):
        model = self.data["2x2"]["model"]
        self.assertEqual(model["layers"]["h.*"], 2)
        self.assertEqual(model["layers"]["h.*.attn.c_attn"], 2)
        ops = {(op["scope"], op["name"]): i for i, op in enumerate(model["ops"])}
        norm, product = ops["h.*.ln_2", "add+add+layer_norm"], ops["h.*.mlp.c_fc", "einsum"]
        (edge,) = [it for it in model["edges"] if (it["from"], it["to"]) == (norm, product)]
        self.assertEqual((edge["made"], edge["read"], edge["count"]), ("data=S(0), tensor=S(0)", "data=S(0)", 2))
        self.assertEqual([(it["kind"], it["over"]) for it in edge["boxings"]], [("all_gather", "tensor")])
        self.assertIn("h.*.mlp.c_fc.weight", model["ops"][product]["parameters"])
        staged = self.data["stages"]["model"]
        sent = [it for it in staged["edges"] if [b["kind"] for b in it["boxings"]] == ["send"]]
        self.assertTrue(any(it["next"] for it in sent), "from one layer to the next on another stage")

    def test_two_plans_have_their_differences(self):
        data = json.loads(run("weft-plan", "report", self.plans["2x2"], self.plans["stages"], "--json"))
        self.assertEqual(len(data["plans"]), 2)
        self.assertIn("dist.tensor", [it["key"] for it in data["differences"]["job"]])


if __name__ == "__main__":
    mark = sys.argv.index("--programs")
    PROGRAMS = {os.path.basename(path): path for path in sys.argv[mark + 1:]}
    unittest.main(argv=sys.argv[:mark])
