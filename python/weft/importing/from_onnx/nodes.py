"""The nodes of an ONNX file, and the modules that they stand in."""

import ast
import re

import numpy
import onnx
from onnx import numpy_helper

# Notes of PyTorch's exporter beside a node.
SCOPES, CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"

# What a module without a known class is called, by the operators in it.
NAMES_OF = (({"Conv"}, "Conv"), ({"BatchNormalization"}, "BatchNorm"), ({"LayerNormalization"}, "LayerNorm"),
            ({"ReduceMean", "Sqrt"}, "Norm"), ({"Gemm"}, "Linear"), ({"MatMul"}, "Linear"), ({"Gather"}, "Embedding"))


class Node:
    """An operator: the names of what it reads and gives, its attributes, and where it stands."""

    def __init__(self, proto):
        self.kind = proto.op_type if proto.domain in ("", "ai.onnx") else "%s.%s" % (proto.domain, proto.op_type)
        self.name, self.inputs, self.outputs = proto.name, list(proto.input), list(proto.output)
        self.attributes = {a.name: value_of(a) for a in proto.attribute}
        marks = {m.key: m.value for m in notes_of(proto)}
        self.scope, self.classes = scope_of(proto.name, marks)
        self.noted = SCOPES in marks

    def __str__(self):
        return "    node %s: %s -> %s" % (self.name or "without a name", ", ".join(self.inputs), ", ".join(self.outputs))


def value_of(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    return array_of(value) if isinstance(value, onnx.TensorProto) else value


def array_of(proto):
    """The numbers of a tensor, of 16 bits as float32."""
    array = numpy_helper.to_array(proto)
    return array.astype(numpy.float32) if proto.data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16) else array


def notes_of(proto):
    """What stands beside a node, which onnx before 1.16 has no field for."""
    if hasattr(proto, "metadata_props"):
        return proto.metadata_props
    return [onnx.StringStringEntryProto.FromString(field.data) for field in proto.UnknownFields() if field.field_number == 9]


def scope_of(name, marks):
    """(each module's name within the one around it, {scope: class}). PyTorch's exporters say it in notes beside a node, or in
    its name."""
    if SCOPES not in marks:
        parts = [part for part in name.split("/")[:-1] if part]
        # What is in a list has its name once more.
        return tuple(part.removeprefix(before + ".") for before, part in zip([""] + parts, parts)), {}
    paths = ast.literal_eval(marks[SCOPES])[:-1]
    kinds = ast.literal_eval(marks.get(CLASSES, "[]"))
    found, classes, around = [], {}, ""
    for i, path in enumerate(paths):
        if path.startswith(around) and path != around.rstrip("."):
            found.append(path[len(around):])
            around = path + "."
            if i < len(kinds):
                classes[tuple(found)] = kinds[i].rpartition(".")[2]
    return tuple(found), classes


def classes_of(nodes):
    """{scope: class} of all modules, as the file says them, else by what is in them."""
    said, inside = {}, {}
    for node in nodes:
        said.update(node.classes)
        for depth in range(1, len(node.scope) + 1):
            inside.setdefault(node.scope[:depth], set()).add(node.kind if depth == len(node.scope) else "")
    for scope, kinds in inside.items():
        known = [name for needed, name in NAMES_OF if needed <= kinds and not kinds & {"", "Softmax"}]
        listed = re.sub(r"s?\.\d+$", "", scope[-1])
        said.setdefault(scope, known[0] if known else listed if re.search(r"[a-zA-Z]", listed) else "Part")
    return said
