"""A file of ONNX that has an operator a line: CASES gives each its operands and attributes, and build() makes the model, whose
outputs are named by the operators."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# The inputs, whose first dimension is the batch: x and y are like normal numbers, p is above 0, ids are 0 to 5.
INPUTS = {"x": ("f", (4, 6)), "y": ("f", (4, 6)), "p": ("f", (4, 6)), "z": ("f", (4, 3, 6)), "image": ("f", (4, 4, 8, 8)),
          "ids": ("i", (4, 6)), "labels": ("i", (4,))}


def floats(*numbers):
    return numpy.array(numbers, numpy.float32)


def ints(*numbers):
    return numpy.array(numbers, numpy.int64)


def scalar(number, kind=numpy.float32):
    return numpy.array(number, kind)


DICE = numpy.random.default_rng(1)


def weight(*shape):
    return DICE.normal(0, 0.5, shape).astype(numpy.float32)


# (operator, operands, attributes, number of results): an operand is the name of an input, an array, or a case like these.
CASES = [
    ("Add", ["x", "y"]), ("Sub", ["x", "y"]), ("Sub", [floats(1.5), "x"]), ("Mul", ["x", floats(3)]), ("Div", ["x", "p"]),
    ("Div", [floats(2), "p"]), ("Div", ["ids", ints(4)]), ("Mod", ["ids", ints(4)]), ("Add", ["ids", "ids"]),
    ("Pow", ["p", floats(3)]), ("Pow", ["p", "x"]), ("Pow", ["x", scalar(2, numpy.int64)]), ("Sqrt", ["p"]), ("Exp", ["x"]),
    ("Log", ["p"]), ("Neg", ["x"]), ("Neg", ["ids"]), ("Abs", ["x"]), ("Sign", ["x"]), ("Relu", ["x"]), ("Tanh", ["x"]),
    ("Sigmoid", ["x"]), ("Sin", ["x"]), ("Cos", ["x"]), ("Floor", ["x"]), ("Ceil", ["x"]), ("Reciprocal", ["p"]),
    ("Softplus", ["x"]), ("Elu", ["x"], {"alpha": 0.7}), ("LeakyRelu", ["x"], {"alpha": 0.2}), ("HardSigmoid", ["x"]),
    ("HardSwish", ["x"]), ("Clip", ["x", scalar(-0.5), scalar(0.7)]), ("Min", ["x", "y", "p"]), ("Max", ["x", floats(0.1)]),
    ("Sum", ["x", "y", "p"]), ("Mean", ["x", "y", "p"]), ("Cast", ["ids"], {"to": 1}), ("Cast", ["x"], {"to": 7}),
    ("Where", [("Greater", ["x", "y"]), "x", "p"]), ("Where", [("Not", [("Less", ["x", floats(0)])]), "x", floats(9)]),
    ("Cast", [("And", [("LessOrEqual", ["x", "y"]), ("GreaterOrEqual", ["p", floats(1)])])], {"to": 1}),
    ("Cast", [("Or", [("Equal", ["ids", ints(2)]), ("Less", ["x", "y"])])], {"to": 6}),
    ("Cast", [("Xor", [("Equal", ["ids", ints(2)]), ("Less", ["x", "y"])])], {"to": 6}),
    ("Reshape", ["z", ints(0, -1)]), ("Reshape", ["x", ints(-1, 3, 2)]), ("Transpose", ["z"], {"perm": [0, 2, 1]}),
    ("Flatten", ["z"]), ("Unsqueeze", ["x", ints(1, -1)]), ("Squeeze", [("Unsqueeze", ["x", ints(1)]), ints(1)]),
    ("Concat", ["x", "y", weight(4, 2)], {"axis": -1}), ("Split", ["x", ints(1, 2, 3)], {"axis": 1}, 3),
    ("Split", ["x"], {"axis": 1}, 2), ("Slice", ["x", ints(1), ints(9999), ints(1), ints(2)]),
    ("Slice", ["x", ints(-1), ints(-9999), ints(-1), ints(-1)]), ("Slice", ["z", ints(1, 2), ints(3, -1), ints(1, 2)]),
    ("Gather", ["z", ints(2, 0)], {"axis": 1}), ("Gather", ["z", scalar(-1, numpy.int64)], {"axis": 1}),
    ("Gather", [weight(6, 5), "ids"]), ("Gather", [weight(6), "ids"]), ("GatherElements", ["x", "ids"], {"axis": 1}),
    ("GatherND", [weight(6, 3), ("Unsqueeze", ["ids", ints(-1)])]),
    ("ScatterElements", ["x", "ids_apart", "y"], {"axis": 1}),
    ("ScatterElements", ["x", "ids_apart", "y"], {"axis": 1, "reduction": "add"}),
    ("Expand", [weight(1, 6), ("Shape", ["z"])]), ("Tile", ["z", ints(1, 2, 3)]), ("Pad", ["x", ints(0, 1, 0, 2), scalar(7.0)]),
    ("Pad", ["x", ints(0, -1, 0, 2)]), ("Trilu", ["z"], {"upper": 0}), ("Trilu", ["z", scalar(1, numpy.int64)]),
    ("Mul", ["x", ("Cast", [("Range", [scalar(1, numpy.int64), scalar(7, numpy.int64), scalar(1, numpy.int64)])], {"to": 1})]),
    ("Add", ["x", ("ConstantOfShape", [ints(6)], {"value": numpy_helper.from_array(floats(2.5))})]),
    ("Identity", ["x"]), ("Dropout", ["x"]), ("CumSum", ["x", scalar(1, numpy.int64)]),
    ("TopK", ["x", ints(2)], {"axis": 1}, 2), ("ArgMax", ["x"], {"axis": 1, "keepdims": 0}),
    ("ReduceSum", ["z", ints(1)], {"keepdims": 0}), ("ReduceMean", ["z"], {"axes": [1, 2]}), ("ReduceMax", ["z"], {"axes": [-1]}),
    ("ReduceMin", ["z"], {"axes": [2], "keepdims": 0}), ("ReduceL1", ["z"], {"axes": [2]}), ("ReduceL2", ["z"], {"axes": [2]}),
    ("ReduceSumSquare", ["z"], {"axes": [2]}), ("ReduceLogSumExp", ["z"], {"axes": [2], "keepdims": 0}),
    ("Softmax", ["z"]), ("Softmax", ["z"], {"axis": 1}), ("LogSoftmax", ["z"], {"axis": -1}),
    ("LayerNormalization", ["z", weight(6), weight(6)]), ("LayerNormalization", ["z", weight(3, 6)], {"axis": 1}),
    ("InstanceNormalization", ["image", weight(4), weight(4)]),
    ("BatchNormalization", ["image", weight(4), weight(4), weight(4), weight(4) ** 2 + 0.1], {"epsilon": 1e-3}),
    ("MatMul", ["z", weight(6, 5)]), ("MatMul", [("Unsqueeze", ["x", ints(1)]), ("Transpose", ["z"], {"perm": [0, 2, 1]})]),
    ("Gemm", ["x", weight(5, 6), weight(5)], {"transB": 1, "alpha": 0.5, "beta": 2.0}), ("Gemm", ["x", weight(6, 5)]),
    ("Einsum", ["z", weight(6, 2, 5)], {"equation": "bsi,ijo->bsjo"}),
    ("Conv", ["image", weight(5, 4, 3, 3), weight(5)], {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
    ("Conv", ["image", weight(6, 2, 2, 2)], {"group": 2, "dilations": [2, 2], "pads": [0, 1, 2, 0]}),
    ("Conv", ["image", weight(4, 1, 3, 3)], {"group": 4, "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", ["z", weight(2, 3, 3), weight(2)], {"pads": [1, 1]}),
    ("MaxPool", ["image"], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", ["image"], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}),
    ("AveragePool", ["image"], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("AveragePool", ["image"], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("GlobalAveragePool", ["image"]), ("GlobalMaxPool", ["image"]),
    ("SoftmaxCrossEntropyLoss", ["x", "labels"], {"reduction": "none"}),
]
KINDS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}


class Builder:
    def __init__(self):
        self.nodes, self.weights = [], []

    def operand(self, x):
        if isinstance(x, str):
            return x
        if isinstance(x, tuple):
            return self.case(*x)[0]
        name = "w%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(x, name))
        return name

    def case(self, kind, operands, attributes=None, results=1):
        names = [self.operand(x) for x in operands]
        outputs = ["%s_%d_%d" % (kind, len(self.nodes), i) for i in range(results)]
        self.nodes.append(helper.make_node(kind, names, outputs, "node_%d" % len(self.nodes), **(attributes or {})))
        return outputs


def inputs():
    """Numbers for the inputs."""
    made = {}
    for name, (kind, shape) in INPUTS.items():
        made[name] = DICE.normal(size=shape).astype(numpy.float32) if kind == "f" else DICE.integers(0, 6, shape)
    made["p"] = numpy.abs(made["p"]) + numpy.float32(0.5)
    return made


def build():
    builder, outputs = Builder(), []
    # Each row's own, every one once.
    apart = numpy.array([[3, 1, 0, 5, 2, 4]] * 4)
    builder.weights.append(numpy_helper.from_array(apart, "ids_apart"))
    for case in CASES:
        outputs += builder.case(*case)
    graph = helper.make_graph(
        builder.nodes, "operators",
        [helper.make_tensor_value_info(name, KINDS[kind], shape) for name, (kind, shape) in INPUTS.items()], [], builder.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    known = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.value_info}
    model.graph.output.extend(known[name] for name in outputs)
    onnx.checker.check_model(model)
    return model
