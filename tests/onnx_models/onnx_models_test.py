#!/usr/bin/env python3
"""Imported ONNX files compute and train to PyTorch's numbers, in layouts too: see README.md here."""
import glob
import os
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path[:0] = ["tests/support", "python"]
from programs import ProgramTest, command, main, metrics, raw_safetensors, read_safetensors, relative, write_safetensors  # noqa: E402
import weft  # noqa: E402

FOLDER = "tests/onnx_models/"
FRONT = "python/weft/importing/from_onnx"
NAMES = sorted(os.path.basename(path)[:-len(".onnx")] for path in glob.glob(FOLDER + "*.onnx"))
TRAINED = [name for name in NAMES if os.path.exists(FOLDER + name + "_losses.txt")]
BATCH, STEPS = 4, 10
KEYS = ["batch.global=4", "batch.micro=4"]
TRAINING = [*KEYS, "data.order=SEQUENTIAL", "optimizer.adamw.lr=1e-3", "optimizer.adamw.weight_decay=0.1"]


def layout_of(name):
    """Convolutions are not split over `tensor`."""
    return ["dist.data=4"] if "resnet" in name else ["dist.data=2", "dist.tensor=2"]


def front(*arguments):
    done = subprocess.run([sys.executable, "-B", FRONT, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class ImportTest(ProgramTest):
    def imported(self, source, *flags):
        """The job of a file, of one of this folder by its name."""
        job = self.path("a.job")
        path = source if "/" in source else FOLDER + source + ".onnx"
        status, _, error = front(path, "-o", job, *flags)
        self.assertEqual((status, error), (0, ""))
        return job

    def model(self, *arguments):
        job = self.imported(*arguments)
        with open(job[:-len(".job")] + ".mlir", encoding="utf-8") as file:
            return file.read()

    def saved(self, nodes, inputs=(("x", ("batch", 4)),), outputs=("y",), weights=None, opset=17):
        """The path of a file of these nodes. Weights are arrays by name."""
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                                  [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()])
        path = self.path("a.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), path)
        return path


class NumbersTest(ImportTest):
    def data(self, name, rows, renamed=()):
        """The inputs of a file, of the first rows."""
        fields = {}
        for key, (kind, shape, content) in raw_safetensors(FOLDER + name + "_inputs.safetensors").items():
            fields[dict(renamed).get(key, key)] = kind, [rows] + shape[1:], content[:len(content) * rows // shape[0]]
        path = self.path("data.safetensors")
        write_safetensors(path, fields)
        return path

    def expect_outputs(self, name, *layout):
        job = self.imported(name)
        inputs = self.data(name, BATCH)
        fields = raw_safetensors(inputs)
        fields.pop("labels", None) if name != "operators" else None
        write_safetensors(inputs, fields)
        plan, out = self.path("a.plan"), self.path("outputs.safetensors")
        self.run_ok("weft-compile", job, *KEYS, *layout, "-o", plan, "--quiet")
        self.run_ok("weft-run", plan, "--init", job[:-len(".job")] + ".safetensors", "--inputs", inputs, "--outputs", out)
        found, expected = read_safetensors(out)[0], read_safetensors(FOLDER + name + "_outputs.safetensors")[0]
        self.assertEqual(sorted(found), sorted(expected))
        for key, tensor in expected.items():
            self.assertEqual(list(found[key].shape), list(tensor.shape), key)
            largest = max(1, max(abs(x) for x in tensor.values))
            worst = max(abs(a - b) for a, b in zip(found[key].values, tensor.values))
            self.assertLessEqual(worst, 1e-5 * largest, f"{name} {key} {layout}")

    def test_outputs_on_one_rank(self):
        self.assertGreater(len(NAMES), 9)
        for name in NAMES:
            with self.subTest(name):
                self.expect_outputs(name)

    def test_outputs_in_layouts(self):
        for name in set(NAMES) - {"operators"}:  # whose batch is fixed
            with self.subTest(name):
                self.expect_outputs(name, *layout_of(name))

    def expect_losses(self, name, *layout):
        job, metrics_of = self.imported(name, "--loss", "cross_entropy"), self.path("m.jsonl")
        self.run_ok("weft-compile", job, *TRAINING, *layout, "-o", self.path("a.plan"), "--quiet")
        if os.path.exists(metrics_of):
            os.remove(metrics_of)
        self.train(self.path("a.plan"), STEPS, "--init", job[:-len(".job")] + ".safetensors", "--metrics", metrics_of,
                   data=self.data(name, BATCH * STEPS, {"input_ids": "tokens"}))
        with open(FOLDER + name + "_losses.txt", encoding="utf-8") as file:
            expected = [tuple(map(float, line.split())) for line in file]
        found = [(line["loss"], line["grad_norm"]) for line in metrics(metrics_of)]
        self.assertEqual((len(expected), len(found)), (STEPS, STEPS))
        for (step, loss, norm), (own_loss, own_norm) in zip(expected, found):
            # Before the first update nothing but rounding differs. Adam's first updates are the signs of gradients, also of
            # those that are almost 0.
            of_loss, of_norm = (1e-6, 1e-6) if step == 0 else (1e-5, 1e-4)
            self.assertLess(relative(own_loss, loss), of_loss, f"{name} {layout} step {step:.0f}")
            self.assertLess(relative(own_norm, norm), of_norm, f"{name} {layout} step {step:.0f}")

    def test_losses(self):
        self.assertGreater(len(TRAINED), 3)
        for name in TRAINED:
            for layout in ([], layout_of(name)):
                with self.subTest(name, layout=layout):
                    self.expect_losses(name, *layout)


class FilesTest(ImportTest):
    def test_what_stands_in_a_module_is_a_layer(self):
        for name in ("gpt2", "gpt2_dynamo", "bert", "encoder", "llama", "llama_dynamo", "vit", "t5"):
            self.assertIn("model.repeat layers", self.model(name), name)

    def test_patterns(self):
        for name, found in (("gpt2", ("attention %6, %2, %4 causal", "gelu", "layer_norm")),
                            ("mlp_old", ("layer_norm", "gelu")), ("bert", ("bias(", "gelu", "layer_norm")),
                            ("llama", ("causal", "rope %0 theta(10000.0)", "rms_norm", "silu")),
                            ("llama_dynamo", ("causal", "rope %0 theta(10000.0)", "rms_norm", "silu")),
                            ("mlp_dynamo", ("approximate(none)", "approximate(tanh)", "layer_norm")),
                            ("mlp", ("approximate(none)", "approximate(tanh)"))):
            text = self.model(name)
            for words in found:
                self.assertIn(words, text, name)
            self.assertNotIn("softmax", text)
            self.assertNotIn("rsqrt", text)

    def test_from_python(self):
        text = self.model("gpt2", "--loss=cross_entropy")
        self.assertEqual("// Imported from gpt2.onnx.\n" + weft.from_onnx(FOLDER + "gpt2.onnx", loss="cross_entropy").model, text)

    def test_numbers_of_sixteen_bits(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("MatMul", ["h", "v"], ["y"])]
        path = self.saved(nodes, weights={"w": numpy.full((4, 4), 0.5, numpy.float16)})
        model = onnx.load(path)
        model.graph.initializer.append(helper.make_tensor("v", TensorProto.BFLOAT16, (4, 2), [0.25] * 8))
        onnx.save(model, path)
        job = self.imported(path)
        tensors = read_safetensors(job[:-len(".job")] + ".safetensors")[0]
        self.assertEqual({name: set(tensor.values) for name, tensor in tensors.items()}, {"w": {0.5}, "v": {0.25}})

    def test_names_are_those_of_the_module(self):
        job = self.imported("gpt2")
        names = raw_safetensors(job[:-len(".job")] + ".safetensors")
        self.assertIn("model.transformer.h.1.attn.c_attn.weight", names)
        self.assertFalse([name for name in names if "onnx" in name])
        # The head is the embedding, which the file has transposed.
        self.assertEqual([name for name in names if "wte" in name or "lm_head" in name], ["model.transformer.wte.weight"])

    def test_an_initializer_that_is_read_twice_is_one_parameter(self):
        w = numpy.random.default_rng(1).normal(size=(4, 4)).astype(numpy.float32)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
                 helper.make_node("MatMul", ["h", "t"], ["i"]), helper.make_node("MatMul", ["i", "copy"], ["y"])]
        text = self.model(self.saved(nodes, weights={"w": w, "copy": w.T.copy()}))
        self.assertEqual(text.count("weft.parameter"), 1)
        self.assertEqual(text.count("weft.einsum"), 3)

    def test_weights_that_begin_alike_are_not_tied(self):
        """PyTorch's exporters keep them once, as Identity or read in several modules."""
        nodes = [helper.make_node("Identity", ["a.weight"], ["b.weight"]), helper.make_node("Mul", ["x", "a.weight"], ["h"]),
                 helper.make_node("Mul", ["h", "b.weight"], ["y"])]
        self.assertEqual(self.model(self.saved(nodes, weights={"a.weight": numpy.ones(4, numpy.float32)})).count("weft.parameter"), 2)

    def test_weights_of_modules_that_read_one(self):
        dice = numpy.random.default_rng(1)
        for array, places, count in ((numpy.ones(4, numpy.float32), ("/a/Mul", "/b/Mul"), 2),
                                     (dice.normal(size=(4, 4)).astype(numpy.float32), ("/a/MatMul", "/b/MatMul"), 1),
                                     (dice.normal(size=(4, 4)).astype(numpy.float32), ("/h.0/a/MatMul", "/h.1/a/MatMul"), 2),
                                     (dice.normal(size=(4, 4)).astype(numpy.float32), ("/h.0/MatMul", "/h.0/MatMul_1"), 1)):
            nodes = [helper.make_node(places[0].split("/")[-1], ["x", "w"], ["h"], places[0]),
                     helper.make_node(places[0].split("/")[-1], ["h", "w"], ["y"], places[1])]
            self.imported(self.saved(nodes, weights={"w": array}))
            self.assertEqual(len(raw_safetensors(self.path("a.safetensors"))), count, places)

    def test_what_an_exporter_computed_is_not_trained(self):
        w = numpy.arange(16, dtype=numpy.float32).reshape(4, 4)
        nodes = [helper.make_node("MatMul", ["x", "val_1"], ["a"]), helper.make_node("Mul", ["a", "val_2"], ["b"]),
                 helper.make_node("Mul", ["b", "val_3"], ["c"]), helper.make_node("Mul", ["c", "gain"], ["y"])]
        path = self.saved(nodes, weights={"val_1": w, "val_2": w[:1] + 1, "val_3": numpy.array([0.5], numpy.float32), "gain": w[0]})
        self.imported(path)
        self.assertEqual(sorted(raw_safetensors(self.path("a.safetensors"))), ["gain", "val_1"])

    def test_whole_numbers_are_constants_and_some_others(self):
        w = numpy.ones((4, 4), numpy.float32)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Mul", ["a", "s"], ["b"]),
                 helper.make_node("Add", ["b", "m"], ["c"]), helper.make_node("Gather", ["c", "i"], ["d"], axis=1),
                 helper.make_node("MatMul", ["d", "v"], ["y"])]
        path = self.saved(nodes, weights={"w": w, "v": w[:2], "s": numpy.array(2.0, numpy.float32), "i": numpy.array([0, 3]),
                                          "m": numpy.array([0, -numpy.inf, 0, 0], numpy.float32)})
        status, out, _ = front(path, "-o", self.path("a.job"), "--loss", "cross_entropy", "--constant=v")
        self.assertEqual(status, 0)
        self.assertIn("not trained: m, s, v\n", out)
        self.assertEqual(sorted(raw_safetensors(self.path("a.safetensors"))), ["w"])

    def test_a_fixed_batch(self):
        nodes = [helper.make_node("Relu", ["x"], ["y"])]
        self.assertIn("%x [3, 4] f32", self.model(self.saved(nodes, inputs=[("x", (3, 4))])))
        with open(self.path("a.job"), encoding="utf-8") as file:
            self.assertIn("global: 3", file.read())

    def test_a_loss_of_the_file(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Mul", ["h", "h"], ["s"]),
                 helper.make_node("ReduceMean", ["s"], ["loss"], keepdims=0)]
        path = self.saved(nodes, outputs=("h", "loss"), weights={"w": numpy.eye(4, dtype=numpy.float32)})
        self.assertIn("weft.minimize", self.model(path, "--loss=loss"))
        status, _, error = front(path, "-o", self.path("b.job"), "--loss=lost")
        self.assertEqual(status, 2)
        self.assertIn("--loss lost: expected cross_entropy or an output of the file, found outputs h, loss", error)

    def test_dimensions_with_names(self):
        nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Reshape", ["x", "s"], ["y"])]
        path = self.saved(nodes, inputs=[("x", ("batch", "length", 4))])
        self.assertIn("%x [batch, 7, 4] f32", self.model(path, "--size", "length=7"))


class RefusedTest(ImportTest):
    def expect(self, status, message, path, *flags):
        found, _, error = front(path, "-o", self.path("out.job"), *flags)
        self.assertEqual((found, error), (status, "weft import: " + message + "\n"))
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("out")])

    def test_all_unknown_operators_are_listed(self):
        nodes = [helper.make_node("Det", ["x"], ["a"], "first"), helper.make_node("Relu", ["a"], ["b"]),
                 helper.make_node("Multinomial", ["x"], ["c"], domain="my.own"),
                 helper.make_node("TopK", ["x", "k"], ["v", "i"], "/h.0/top", largest=0), helper.make_node("Add", ["b", "v"], ["y"])]
        path = self.saved(nodes, weights={"k": numpy.array([2])})
        self.expect(1, path + ": 3 operators are not known to Weft:\n"
                    "  Det, from\n    node first: x -> a\n"
                    "  my.own.Multinomial, from\n    node without a name: x -> c\n"
                    "  TopK (the smallest), from\n    node /h.0/top: x, k -> v, i", path)

    def test_an_erf_that_is_no_gelu(self):
        path = self.saved([helper.make_node("Erf", ["x"], ["y"], "e")])
        self.expect(1, path + ": 1 operator is not known to Weft:\n  Erf (but in GELU), from\n    node e: x -> y", path)

    def test_an_attribute_that_is_not_known(self):
        path = self.saved([helper.make_node("Relu", ["x"], ["y"], "r", slope=2)])
        found, _, error = front(path, "-o", self.path("out.job"))
        self.assertEqual(found, 1)
        self.assertIn("Relu (", error)
        self.assertIn("slope", error)

    def test_sizes_that_are_not_the_batch(self):
        nodes = [helper.make_node("Add", ["x", "z"], ["y"])]
        path = self.saved(nodes, inputs=[("x", ("n", "length", 4)), ("z", ("n", "width", None))])
        self.expect(1, path + ": input x, dimension 1: expected a number, as it is not the batch, found `length`; --size length=N says "
                    "it\n  input z, dimension 1: expected a number, as it is not the batch, found `width`; --size width=N says it\n"
                    "  input z, dimension 2: expected a number, as it is not the batch, found none; export the model with one", path)
        self.expect(2, path + ": --size wide: expected the name of a dimension of an input, found length, n, width", path,
                    "--size", "wide=3")

    def test_a_shape_that_depends_on_numbers(self):
        nodes = [helper.make_node("NonZero", ["x"], ["y"], "where")]
        path = self.saved(nodes)
        self.expect(1, path + ": 1 operator is not known to Weft:\n  NonZero (what is searched: expected numbers that depend on no "
                    "input), from\n    node where: x -> y", path)

    def test_a_node_that_is_not_as_it_must_be(self):
        path = self.saved([helper.make_node("Concat", ["x", "x"], ["y"], "c", axis="last")])
        found, _, error = front(path, "-o", self.path("out.job"))
        self.assertEqual(found, 1)
        self.assertRegex(error, r"1 operator is not known to Weft:\n  Concat \(TypeError .*\), from\n    node c: x, x -> y\n\Z")

    def test_broken_files(self):
        path = self.write("a.onnx", b"not a model")
        found, _, error = front(path, "-o", self.path("out.job"))
        self.assertEqual(found, 1)
        self.assertRegex(error, r"\Aweft import: .*/a\.onnx: expected an ONNX file, found none: .*\n\Z")
        path = self.write("a.onnx", b"")
        self.expect(1, path + ": expected an ONNX file with a graph, found 0 nodes and 0 outputs", path)
        path = self.saved([helper.make_node("Relu", ["missing"], ["y"])])
        self.expect(1, path + ": missing: expected something that makes it in front of what reads it, found nothing", path)

    def test_external_data(self):
        path = self.saved([helper.make_node("MatMul", ["x", "w"], ["y"])], weights={"w": numpy.ones((4, 4), numpy.float32)})
        onnx.save(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
        self.assertEqual(self.model(path).count("weft.parameter"), 1)
        os.remove(self.path("weights.bin"))
        found, _, error = front(path, "-o", self.path("out.job"))
        self.assertEqual((found, error.count("\n")), (1, 1))
        self.assertIn("weights.bin", error)

    def test_wrong_requests(self):
        path = self.saved([helper.make_node("Relu", ["x"], ["y"])])
        for arguments, message in (
                ((), "expected MODEL.onnx -o NAME.job, got nothing"),
                ((path, "-o", "a.mlir"), "-o: expected a name that ends in .job, got a.mlir"),
                (("no.onnx", "-o", "a.job"), "no.onnx: expected a file of ONNX, found none"),
                ((path, "-o", "a.job", "--size", "n"), "--size: expected NAME=N with a whole number above 0, got n"),
                ((path, "-o", "a.job", "--loss"), "--loss: expected a value, got none")):
            self.assertEqual(front(*arguments), (2, "", "weft import: " + message + "\n"))
        done = subprocess.run([sys.executable, "-S", "-B", FRONT, path, "-o", "a.job"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            2, "weft import: expected the Python package `onnx`, found none; pip install onnx, in a virtual environment (python3 -m "
               "venv), brings it\n"))

    def test_weft_import_hands_over(self):
        """To the package above the program."""
        os.makedirs(self.path("a/bin"))
        shutil.copy(command("weft-import")[0], self.path("a/bin"))
        os.chmod(self.write("a/bin/python3", "#!/bin/bash\nprintf '<%s>' \"$@\"\nexit 7\n"), 0o755)
        os.makedirs(self.path(FRONT))
        self.write(FRONT + "/__main__.py", "")

        def call(*arguments):
            done = subprocess.run([self.path("a/bin/weft-import"), *arguments], capture_output=True, text=True, check=False,
                                  env={"PATH": self.path("a/bin") + ":/bin"})
            return done.returncode, done.stdout or done.stderr
        self.assertEqual(call("m.onnx", "--size=n=3", "-o", "a.job", "--loss", "cross_entropy"), (
            7, "<%s><m.onnx><-o><a.job><--loss><cross_entropy><--size><n=3>" % os.path.realpath(self.path(FRONT))))
        self.assertEqual(call("m.onnx"), (2, "weft-import: expected -o NAME.job (see --help)\n"))
        self.assertEqual(call("m.onnx", "-o", "a.job", "--seq=3"), (
            2, "weft-import: m.onnx: expected with -o, --loss, --size and --constant alone (see --help)\n"))
        self.assertEqual(call("folder", "-o", "a.job", "--loss=x"), (
            2, "weft-import: --loss: expected with MODEL.onnx alone (see --help)\n"))


if __name__ == "__main__":
    main()
