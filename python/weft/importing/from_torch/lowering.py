"""Goes through a program of torch.export and calls the table of operators for every node."""

import torch

from .. import lowering
from ..lowering import REFUSED, Unsupported
from .trace import python_lines


def dtype_of(torch_type):
    """The element type here of one of torch's; all floating-point numbers are float32."""
    if torch_type.is_floating_point:
        return "f32"
    return "i8" if torch_type in (torch.bool, torch.uint8) else "i32"


def array_of(tensor):
    """The numbers of a tensor, which may be of a type that NumPy lacks."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor).numpy()


class Lowering(lowering.Lowering):
    """That of a program, the one for the first or for the second size of the batch."""

    def __init__(self, trace, which, table):
        super().__init__()
        self.trace, self.table = trace, table
        self.program, self.nodes = trace.programs[which], trace.nodes[which]
        self.kinds = trace.placeholders(which)
        self.values, self.node = {}, None

    def run(self):
        self._inputs()
        for node in self.nodes:
            if node.op == "call_function" and node.name not in self.trace.known:
                self._call(node)
        self.refuse_missing()
        self._outputs()
        return self.graph

    # Nodes and values.

    def _inputs(self):
        names = iter(self.trace.inputs)
        for node in self.nodes:
            if node.op == "placeholder" and self.kinds[node.name][0] == "USER_INPUT":
                name, value = next(names), node.meta["val"]
                op = self.graph.append("input", [], {"name": name}, (value.shape, dtype_of(value.dtype)))
                self.graph.ops.pop()
                self.graph.inputs.append((name, op.output))
                self.values[node.name] = op.output

    def value(self, node):
        """The value of a node: a number, a list, or a Value."""
        if node.name not in self.values:
            if node.name in self.trace.known:
                self.values[node.name] = self.constant(self.trace.known[node.name], node)
            else:
                kind, target = self.kinds[node.name]
                tensor = self.trace.tensor_of(target)
                self.values[node.name] = self.parameter(self.trace.names.get(target, target), array_of(tensor),
                                                        kind == "BUFFER" or not tensor.requires_grad)
        return self.values[node.name]

    def constant(self, tensor, node):
        scope, self.graph.scope = self.graph.scope, self._scope(node) or self.graph.scope
        target = self.kinds.get(node.name, (None, None))[1]
        found = self.known_array(array_of(tensor), self.trace.names.get(target), lambda: self._computed(node))
        self.graph.scope = scope
        return found

    def _computed(self, node):
        handler, before = self.table.get(str(node.target)), self.node
        if node.op != "call_function" or handler is None or not isinstance(node.meta.get("val"), torch.Tensor):
            return None
        self.node = node
        try:
            return handler(self, *torch.fx.node.map_aggregate(node.args, self._argument),
                           **torch.fx.node.map_aggregate(node.kwargs, self._argument))
        except REFUSED:
            return None
        finally:
            self.node = before

    def _scope(self, node):
        """Where a node stands: each module's name within the one around it."""
        found, path = [], "module"
        for where, kind in (node.meta.get("nn_module_stack") or {}).values():
            where = where.replace("L['self'].", "").partition("@")[0]
            if where.startswith(path + ".") and where != path:
                found.append(where[len(path) + 1:])
                path = where
                name = kind if isinstance(kind, str) else kind.__qualname__
                self.graph.classes.setdefault(tuple(found), name.rpartition(".")[2])
        return tuple(found)

    def _call(self, node):
        target = str(node.target)
        self.node, self.graph.scope, self.graph.origin = node, self._scope(node), python_lines(node)
        handler = self.table.get(target)
        try:
            if handler is None:
                raise Unsupported("")
            arguments = torch.fx.node.map_aggregate(node.args, self._argument)
            named = torch.fx.node.map_aggregate(node.kwargs, self._argument)
            self.values[node.name] = handler(self, *arguments, **named)
        except REFUSED as error:
            reason = str(error) if isinstance(error, Unsupported) else "%s %s" % (type(error).__name__, error)
            self.missing.append((target, reason and " (%s)" % reason, python_lines(node)))
            self.values[node.name] = torch.utils._pytree.tree_map(self._stand_in, node.meta.get("val"))

    def _argument(self, x):
        return self.value(x) if isinstance(x, torch.fx.Node) else x

    def _stand_in(self, x):
        """For what nobody can make, so that the rest is seen too."""
        return self.graph.fill(x.shape, 0, dtype_of(x.dtype)) if isinstance(x, torch.Tensor) else x

    # What a node says of itself.

    def known(self, position):
        """The numbers of an argument, if they do not depend on inputs."""
        argument = self.node.args[position] if position < len(self.node.args) else None
        return self.trace.known.get(argument.name) if isinstance(argument, torch.fx.Node) else None

    @property
    def meta(self):
        value = self.node.meta["val"]
        return value if isinstance(value, torch.Tensor) else value[0]

    @property
    def shape(self):
        return tuple(self.meta.shape)

    @property
    def dtype(self):
        return dtype_of(self.meta.dtype)

    # The end.

    def _outputs(self):
        self.graph.scope, self.graph.origin = (), ""
        signature = self.program.graph_signature
        output = next(node for node in self.nodes if node.op == "output")
        for spec, node in zip(signature.output_specs, output.args[0]):
            if spec.kind.name == "USER_OUTPUT":
                self.minimize(self.value(node) if isinstance(node, torch.fx.Node) else None)
            elif spec.kind.name == "BUFFER_MUTATION":
                self._assign(self.trace.names.get(spec.target, spec.target), spec.target, node)

    def _assign(self, name, target, node):
        """A buffer that the module changes, such as running statistics. A count of batches nobody here needs."""
        tensor = self.trace.tensor_of(target)
        if tensor.is_floating_point():
            self.assign(self.parameter(name, array_of(tensor), True), self.value(node))
