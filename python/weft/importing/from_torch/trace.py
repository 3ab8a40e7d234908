"""What torch.export makes of a module and its loss, at two sizes of the batch.

A number that differs between the two programs is the batch or a multiple of it. torch.export could keep the batch as a
symbol instead (dynamic_shapes), but then code that asks about sizes, as that of masks and of windows does, ends the export or
fixes the batch. With two plain sizes such code runs as in training."""

import inspect

import torch

from ..graph import Failure
from ..unify import SIZES
from .libraries import followed

# What PyTorch may take apart only where the table of operators does not know it. The others go by the core decompositions.
RANDOM = {"aten.dropout.default", "aten.native_dropout.default", "aten.rand.default", "aten.randn.default",
          "aten.rand_like.default", "aten.randn_like.default", "aten.bernoulli.p", "aten.bernoulli.default",
          "aten.randint.low", "aten.randint.default", "aten.randperm.default"}


class Step(torch.nn.Module):
    """A module and its loss as one: from inputs by position to a scalar."""

    def __init__(self, module, loss, names, of_module, of_loss):
        super().__init__()
        self.module, self.loss_function = module, loss
        self.names, self.of_module, self.of_loss = names, of_module, of_loss

    def forward(self, *inputs):
        inputs = dict(zip(self.names, inputs))
        output = self.module(**{key: inputs[name] for key, name in self.of_module.items()})
        if self.loss_function is not None:
            return self.loss_function(output, *[inputs[name] for name in self.of_loss])
        return loss_of(output)


def loss_of(output):
    """The loss among what a module returns: the scalar, the field `loss`, or the first of a tuple."""
    if isinstance(output, torch.Tensor):
        return output
    found = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    if found is None and isinstance(output, (tuple, list)) and output:
        found = output[0]
    if not isinstance(found, torch.Tensor):
        raise Failure("the module: expected it to return its loss (a scalar, or the field `loss`), found %s; give a loss "
                      "function, or the inputs that it makes a loss of, such as labels" % type(output).__name__)
    return found


def named_inputs(module, example_inputs, loss):
    """({name: tensor}, {parameter of forward: name}, [name of each input of the loss])."""
    parameters = list(inspect.signature(module.forward).parameters)
    of_loss = [] if loss is None else [
        name for name, parameter in list(inspect.signature(loss).parameters.items())[1:]
        if parameter.default is parameter.empty or (isinstance(example_inputs, dict) and name in example_inputs)]
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    if not isinstance(example_inputs, dict):
        count = len(example_inputs) - len(of_loss)
        if count < 0 or count > len(parameters):
            raise Failure("example inputs: expected %s for the module (%s) and then %d for the loss (%s), found %d" % (
                "up to %d" % len(parameters), ", ".join(parameters), len(of_loss), ", ".join(of_loss), len(example_inputs)))
        example_inputs = dict(zip(parameters[:count] + of_loss, example_inputs))
    inputs, of_module = {}, {}
    for name, tensor in example_inputs.items():
        if not isinstance(tensor, torch.Tensor):
            raise Failure("example input %s: expected a tensor, found %s" % (name, type(tensor).__name__))
        # Where labels are data, the tokens are too: `weft run --data` fills both by these names.
        as_data = "tokens" if loss is not None and name == "input_ids" and "tokens" not in example_inputs else name
        inputs[as_data] = tensor
        if name not in of_loss:
            of_module[name] = as_data
    missing = [name for name in of_loss if name not in inputs]
    if missing:
        raise Failure("the loss function: expected its inputs %s among the example inputs, found %s" % (
            ", ".join(missing), ", ".join(inputs) or "none"))
    return inputs, of_module, of_loss


def batch_of(inputs):
    """The first extent of all inputs."""
    if not inputs:
        raise Failure("example inputs: expected at least one, found none")
    for name, tensor in inputs.items():
        if tensor.dim() == 0:
            raise Failure("example input %s: expected the batch as its first dimension, found a scalar" % name)
    sizes = {name: tensor.shape[0] for name, tensor in inputs.items()}
    first = next(iter(sizes))
    for name, size in sizes.items():
        if size != sizes[first] or size == 0:
            raise Failure("example input %s: expected the batch as its first dimension, as %s has it (%d), found %d" % (
                name, first, sizes[first], size))
    return sizes[first]


class Trace:
    """The two programs, node for node, and what is known of both without any input: `known` has tensors by the names of
    nodes."""

    def __init__(self, module, example_inputs, loss, kept):
        self.inputs, of_module, of_loss = named_inputs(module, example_inputs, loss)
        batch_of(self.inputs)
        self.module = module
        step = Step(module, loss, list(self.inputs), of_module, of_loss)
        step.train(module.training)
        self.programs = [self._export(step, size, kept) for size in SIZES]
        self.nodes = [list(program.graph.nodes) for program in self.programs]
        self._check_pairs()
        self.names = self._names(module)
        self.known = self._fold()

    def _export(self, step, size, kept):
        rows = tuple(tensor[torch.arange(size) % tensor.shape[0]] for tensor in self.inputs.values())
        try:
            with followed():
                program = torch.export.export_for_training(step, rows, strict=False)
            table = torch.export.default_decompositions()
            for operator in list(table.keys()):
                if str(operator) in kept:
                    del table[operator]
            return program.run_decompositions(table)
        except Failure:
            raise
        except Exception as error:  # whatever the module's code and torch raise
            raise Failure("torch.export: %s: %s" % (type(error).__name__, str(error).strip())) from error

    def _check_pairs(self):
        a, b = self.nodes
        if [str(node.target) for node in a] != [str(node.target) for node in b]:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if str(x.target) != str(y.target)), min(len(a), len(b)))
            raise Failure("torch.export: expected the same operators for every batch, found others for one of %d than for one "
                          "of %d, from\n%s" % (SIZES + (python_lines(a[min(at, len(a) - 1)]),)))

    def _names(self, module):
        """{name in the program: name in the module's state_dict}; what is tied has one name."""
        first = {}
        for name, tensor in list(module.named_parameters()) + list(module.named_buffers()):
            first.setdefault(id(tensor), name)
        return {"module." + name: first[id(tensor)]
                for name, tensor in list(module.named_parameters(remove_duplicate=False))
                + list(module.named_buffers(remove_duplicate=False))}

    def placeholders(self, which):
        """{name of the node: (kind, name)}: parameter, buffer, constant or input."""
        signature, found = self.programs[which].graph_signature, {}
        for spec in signature.input_specs:
            found[spec.arg.name] = (spec.kind.name, spec.target)
        return found

    def tensor_of(self, target):
        program = self.programs[0]
        return program.state_dict[target] if target in program.state_dict else program.constants[target]

    def _fold(self):
        known, mutated = {}, set(self.programs[0].graph_signature.buffers_to_mutate.values())
        kept = set(self.programs[0].state_dict)
        kinds = self.placeholders(0)
        for a, b in zip(*self.nodes):
            if a.op == "placeholder":
                kind, target = kinds[a.name]
                if kind == "CONSTANT_TENSOR" or (kind == "BUFFER" and target not in mutated):
                    tensor = self.tensor_of(target)
                    if kind == "CONSTANT_TENSOR" or target not in kept or not tensor.is_floating_point():
                        known[a.name] = tensor.detach()
            elif a.op == "call_function" and str(a.target) not in RANDOM and same(a, b) and all(
                    n.name in known for n in a.all_input_nodes):
                def real(x):
                    return known[x.name] if isinstance(x, torch.fx.Node) else x
                arguments = torch.fx.node.map_aggregate(a.args, real)
                named = torch.fx.node.map_aggregate(a.kwargs, real)
                with torch.no_grad():
                    known[a.name] = a.target(*arguments, **{**named, **({"device": "cpu"} if "device" in named else {})})
        return known


def same(a, b):
    """Whether two nodes have the same arguments and shapes, so that the batch is not in them."""
    def plain(x):
        return x.name if isinstance(x, torch.fx.Node) else x
    return (torch.fx.node.map_aggregate(a.args, plain) == torch.fx.node.map_aggregate(b.args, plain)
            and torch.fx.node.map_aggregate(a.kwargs, plain) == torch.fx.node.map_aggregate(b.kwargs, plain)
            and shapes(a) == shapes(b))


def shapes(node):
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else [value]
    return [tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in values]


def python_lines(node):
    """The Python lines that made a node, the innermost last; torch's own are left out where others are."""
    frames = [(head.strip(), code.strip()) for head, code in zip(*[iter(
        [line for line in (node.meta.get("stack_trace") or "").splitlines() if line.strip()])] * 2)]
    own = [(head, code) for head, code in frames if "/torch/" not in head and "/importing/" not in head] or frames
    lines = []
    for head, code in own[-3:]:
        parts = head.split('"')
        place = parts[1] + ":" + parts[2].split(",")[1].replace("line", "").strip() if len(parts) > 2 else head
        lines.append("    %s: %s" % (place, code))
    return "\n".join(lines) or "    (no Python line is known)"
