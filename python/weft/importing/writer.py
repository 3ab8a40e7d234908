"""Writes a model file, a job and the weights."""

import json
import os
import re
import struct

from .graph import Batch
from .layers import Arguments, Inner, Return, Shape, is_number, numbers_of

WIDTH = 120


def plain(x):
    """A float as model files have it: with a point."""
    text = repr(float(x))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def text_of(x):
    return str(x) if isinstance(x, (Batch, str)) else plain(x) if isinstance(x, float) else str(x)


class Layer:
    """A layer of the file: of all groups of one key. `columns` says of each of their numbers how it is written here."""

    def __init__(self, shape, vectors, name, counts):
        self.shape, self.name = shape, name
        self.columns, self.parameters, seen = [], [], {}
        for place, column in enumerate(zip(*vectors)):
            hint = shape.hints[place]
            if all(x == column[0] and type(x) is type(column[0]) for x in column):
                self.columns.append(counts.name(hint, column[0]) if hint.startswith("count:") else text_of(column[0]))
                continue
            marked = tuple((type(x), x) for x in column)
            if marked not in seen:
                seen[marked] = unique(hint.partition(":")[0], [p for p, _ in self.parameters])
                self.parameters.append((seen[marked], place))
            self.columns.append(seen[marked])


class Counts:
    """How often layers are repeated, as `model.config`."""

    def __init__(self, taken):
        self.names, self.taken = {}, taken

    def name(self, hint, count):
        scope = hint.partition(":")[2]
        if (scope, count) not in self.names:
            words = re.sub(r"\W+", "_", scope)
            first = "layers" if not self.names else words + "_layers" if words != "layers" else words
            self.names[scope, count] = unique(first, self.taken if self.names else ())
            self.taken.append(self.names[scope, count])
        return self.names[scope, count]


def unique(name, taken):
    found, i = name, 1
    while found in taken:
        i += 1
        found = "%s_%d" % (name, i)
    return found


def snake(name):
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", re.sub(r"\W+", "_", name))
    return words.lower().strip("_") or "part"


def model_file(graph, root, graph_name, title):
    """The text of the model file."""
    shape = Shape(root)
    vectors, order = {}, []
    collect(shape, vectors, order)
    taken = ["layers"]  # which the first count is called
    counts, layers = Counts(taken), {}
    for inner in order:
        key = inner.shape.key
        name = unique(snake(inner.group.name), taken)
        taken.append(name)
        layers[key] = Layer(inner.shape, vectors[key], name, counts)
    top = Layer(shape, [shape.numbers], None, counts)
    parts = [layer_text(layer, layers) for layer in layers.values()]
    inputs = ", ".join("%%%s [%s] %s" % (shape.names[value] if value in shape.names else name,
                                         ", ".join(text_of(x) for x in value.shape),
                                         "u8" if value.dtype == "i8" else value.dtype) for name, value in graph.inputs)
    body = body_text(top, layers)
    head = ["// " + line for line in title]
    head += ["model.config @%s = %d" % (name, count) for (_, count), name in counts.names.items()]
    return "\n\n".join(["\n".join(head)] + parts + [wrapped("model.graph @%s(%s) {" % (graph_name, inputs)) + "\n" + body + "}"]) + "\n"


def collect(shape, vectors, order):
    """Every layer that is called, those that it calls first, and the numbers of each call."""
    for token in shape.tokens:
        if isinstance(token, Inner):
            collect(token.shape, vectors, order)
            if token.shape.key not in vectors:
                order.append(token)
            vectors.setdefault(token.shape.key, []).append(token.shape.numbers)


def layer_text(layer, layers):
    inputs = ["%" + name for name in list(layer.shape.names.values())[:layer.shape.arity]]
    parameters = " [%s]" % ", ".join(name for name, _ in layer.parameters) if layer.parameters else ""
    return wrapped("model.layer @%s(%s)%s {" % (layer.name, ", ".join(inputs), parameters)) + "\n" + body_text(layer, layers) + "}"


def body_text(layer, layers):
    lines, at = [""], 0
    for token in layer.shape.tokens:
        if is_number(token):
            lines[-1] += layer.columns[at]
        elif isinstance(token, Inner):
            lines[-1] += "@" + layers[token.shape.key].name
        elif isinstance(token, Arguments):
            arguments = [layer.columns[at + place] for _, place in layers[token.inner.shape.key].parameters]
            lines[-1] += " [%s]" % ", ".join(arguments) if arguments else ""
        elif isinstance(token, Return):
            lines[-1] += "" if layer.name is None else " ".join(["model.return"] + [", ".join("%" + n for n in token)])
        elif token == "\n":
            lines.append("")
        else:
            lines[-1] += token
        at += len(numbers_of(token))
    return "".join("  %s\n" % wrapped(line.rstrip(), "  ") for line in lines if line)


def wrapped(line, indent=""):
    """A line in several where it is long, cut outside of brackets if it can be."""
    lines, indent = [], indent + "    "
    while len(line) > WIDTH - len(indent):
        spaces = [i for i in range(40, WIDTH - len(indent)) if line[i] == " " and line[:i].count('"') % 2 == 0]
        outside = [i for i in spaces if line.count("(", 0, i) == line.count(")", 0, i)
                   and line.count("[", 0, i) == line.count("]", 0, i)]
        if not spaces:
            break
        cut = max(outside or spaces)
        lines.append(line[:cut])
        line = line[cut + 1:]
    return ("\n" + indent).join(lines + [line])


def job_file(stem, graph_name, batch):
    """The job of STEM.mlir: that of the graph `train` trains, of another one evaluates."""
    if graph_name != "train":
        return """# Computes what %s.mlir says: another batch or layout is a key, here or behind `weft compile`.
model { file: "%s.mlir" graph: "%s" }
batch { global: %d }
""" % (stem, stem, graph_name, batch)
    return """# Trains the module that %s was made of: another batch, optimizer or layout is a key, here or behind `weft compile`.
model { file: "%s.mlir" graph: "train" }
batch { global: %d }
optimizer { adamw { lr: 1e-3 weight_decay: 0.01 } }
data { format: AUTO }
seed: 1
""" % (stem + ".mlir", stem, batch)


TYPES = {"float32": "F32", "int32": "I32", "uint8": "U8"}


def safetensors(arrays):
    """The bytes of a file of safetensors of {name: array}."""
    header, parts, at = {}, [], 0
    for name, array in arrays.items():
        data = array.tobytes()
        header[name] = {"dtype": TYPES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text] + parts)


def write(files):
    """Writes {path: content}, all or none."""
    made = []
    try:
        for path, content in files.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            made.append(path)
            with open(path + ".part", "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
    except OSError:
        for path in made:
            if os.path.exists(path + ".part"):
                os.remove(path + ".part")
        raise
    for path in made:
        os.replace(path + ".part", path)
