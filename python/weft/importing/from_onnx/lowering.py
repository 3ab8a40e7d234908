"""Goes through the nodes of an ONNX file and calls the table of operators for each."""

import re

import numpy

from .. import lowering
from ..constants import dtype_of
from ..graph import Failure, WrongRequest
from ..known import numbers, same_number
from ..lowering import REFUSED, Unsupported


# What a function of the table raises, also where a file is not as ONNX says it must be.
MALFORMED = (*REFUSED, AttributeError, ValueError, ZeroDivisionError)


def tidy(x):
    """A float32 as the shortest decimal number that is rounded to it, most likely what it was made of."""
    return float(str(numpy.float32(x)))


class Lowering(lowering.Lowering):
    """That of a file where the batch has a size. Every value has a shape of numbers, so that shapes are known as other
    constants are."""

    def __init__(self, model, size, table):
        super().__init__()
        self.model, self.size, self.table = model, size, table
        self.values, self.node, self.spoilt = {}, None, set()
        self.read = set()  # names of weights
        self.assigned = []

    def run(self):
        for name, shape, dtype in self.model.inputs:
            self._input(name, tuple(self.size if n is None else n for n in shape), dtype)
        for node in self.model.nodes:
            self._call(node)
        self.refuse_missing()
        self.graph.scope, self.graph.origin = (), ""
        for state, value in self.assigned:
            self.assign(state, value)
        self._outputs()
        return self.graph

    def _input(self, name, shape, dtype):
        # Where labels are data, the tokens are too: `weft run --data` fills both by these names.
        names = {n for n, _, _ in self.model.inputs}
        as_data = "tokens" if self.model.loss and name == "input_ids" and "tokens" not in names else re.sub(r"\W", "_", name)
        op = self.graph.append("input", [], {"name": as_data}, (shape, dtype))
        self.graph.ops.pop()
        self.graph.inputs.append((as_data, op.output))
        self.values[name] = op.output

    def _call(self, node):
        model = self.model
        self.node, self.graph.scope, self.graph.origin = node, node.scope, str(node)
        for depth in range(1, len(node.scope) + 1):
            self.graph.classes.setdefault(node.scope[:depth], model.classes[node.scope[:depth]])
        try:
            if node.kind not in self.table:
                raise Unsupported("")
            if any(name in self.spoilt for name in node.inputs):
                self.spoilt.update(node.outputs)  # what reads one that is not known cannot be looked at
                return
            results = self.table[node.kind](self, *[self.value(name) for name in node.inputs], **node.attributes)
            results = results if isinstance(results, (list, tuple)) else [results]
            self.values.update(zip(node.outputs, results))
            self.spoilt.update(node.outputs[len(results):])
        except MALFORMED as error:
            reason = str(error) if isinstance(error, Unsupported) else "%s %s" % (type(error).__name__, error)
            self.missing.append((node.kind, reason and " (%s)" % reason, str(node)))
            self.spoilt.update(node.outputs)

    def value(self, name):
        """The Value of a name; None of an operand that is left out."""
        if name == "":
            return None
        if name not in self.values:
            if name not in self.model.weights:
                raise Failure("%s: expected something that makes it in front of what reads it, found nothing" % name)
            self.read.add(name)
            array, (first, turned) = self.model.weights[name], self.model.copies.get(name, (None, False))
            if first is not None and name not in self.model.constants:
                value = self.value(first)
                self.values[name] = self.graph.transpose(value, (1, 0)) if turned else value
            elif array.dtype.kind == "f" and name not in self.model.constants:
                self.values[name] = self.parameter(self.model.names[name], array, name in self.model.states)
            else:
                self.values[name] = self.constant(array, self.model.names[name])
        return self.values[name]

    def constant(self, array, name=None):
        """A known array; what it is made of depends on no input and is known too."""
        array = numpy.asarray(array)
        value = self.known_array(array, name)
        value.op.numbers = array.astype({"f32": numpy.float64, "i32": numpy.int64, "i8": bool}[dtype_of(array)])
        return value

    # What operators ask.

    def numbers(self, value, what):
        """The numbers of an operand that must not depend on inputs."""
        found = numbers(value)
        if found is None:
            raise Unsupported("%s: expected numbers that depend on no input" % what)
        return found

    def whole(self, value, what):
        """The same as a list of whole numbers."""
        return [int(x) for x in self.numbers(value, what).reshape(-1)]

    def number(self, value):
        """The number that a value is everywhere, or None."""
        found = same_number(value)
        if found is None:
            array = numbers(value)
            found = array.reshape(-1)[0].item() if array is not None and array.size == 1 else None
        return tidy(found) if isinstance(found, float) else found

    # The end.

    def _outputs(self):
        if self.model.loss is None:
            for name, _ in self.model.outputs:
                value = self._of_output(name)
                value = self.graph.cast(value, "i32") if value.dtype == "i8" else value
                self.graph.append("output", [value], {"name": name})
            return
        names = [name for name, _ in self.model.outputs]
        if self.model.loss != "cross_entropy":
            if self.model.loss not in names:
                raise WrongRequest("--loss %s: expected cross_entropy or an output of the file, found outputs %s" % (
                    self.model.loss, ", ".join(names)))
            self.minimize(self._of_output(self.model.loss))
            return
        logits = self._of_output(names[0])
        if logits.rank < 2 or logits.dtype != "f32" or "labels" in [name for name, _ in self.graph.inputs]:
            raise WrongRequest("--loss cross_entropy: expected logits as the first output and no input `labels`, found %s, %s of %d "
                          "dimensions, and inputs %s" % (names[0], logits.dtype, logits.rank,
                                                         ", ".join(name for name, _ in self.graph.inputs)))
        self._input("labels", logits.shape[:-1], "i32")
        losses = self.graph.append("cross_entropy", [logits, self.values["labels"]], {}, ((), "f32"), ((), "f32")).outputs
        self.graph.append("minimize", losses, {})

    def _of_output(self, name):
        if name in self.spoilt:
            raise Failure("output %s: expected a value that Weft makes, found one that it does not" % name)
        return self.value(name)
