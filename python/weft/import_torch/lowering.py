"""Goes through a program of torch.export and calls the table of operators for every node."""

import math

import torch

from .constants import MANY, NoFormula, constant, dtype_of, number
from .graph import Failure, Graph, broadcast
from .trace import python_lines


class Unsupported(Exception):
    """Why an operator cannot be written with Weft's."""


# What a function of the table raises where an operator is used as it does not know it.
REFUSED = (Unsupported, AssertionError, TypeError, KeyError, IndexError)


class Lowering:
    """What the table of operators works with. `graph` grows; `weights` has the parameters by name."""

    def __init__(self, trace, which, table):
        self.trace, self.table, self.graph = trace, table, Graph()
        self.program, self.nodes = trace.programs[which], trace.nodes[which]
        self.kinds = trace.placeholders(which)
        self.weights, self.values, self.parameters, self.missing, self.kept = {}, {}, {}, [], {}
        self.dropped = []  # buffers that nothing here needs
        self.node = None

    def run(self):
        self._inputs()
        for node in self.nodes:
            if node.op == "call_function" and node.name not in self.trace.known:
                self._call(node)
        if self.missing:
            raise Failure("%d operator%s not known to Weft:\n%s" % (
                len(self.missing), " is" if len(self.missing) == 1 else "s are",
                "\n".join("  %s%s, from\n%s" % m for m in self.missing)))
        self._outputs()
        self.graph.drop_dead()
        set_initial(self.graph, self.weights)
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
                self.values[node.name] = self.parameter(self.trace.names.get(target, target), self.trace.tensor_of(target),
                                                        kind == "BUFFER")
        return self.values[node.name]

    def constant(self, tensor, node):
        """What is known: a formula or a few numbers, else how it is computed, else a list or something kept."""
        scope, self.graph.scope = self.graph.scope, self._scope(node) or self.graph.scope
        try:
            found = constant(self.graph, tensor)
        except NoFormula:
            found = self._computed(node)
            if found is None:
                found = constant(self.graph, tensor, lambda core: self._kept(core, node), MANY)
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

    def _kept(self, core, node):
        """A constant too long for a file, as state that files have beside the parameters."""
        for name, tensor in self.kept.items():
            if tensor.shape == core.shape and bool((tensor == core).all()):
                break
        else:
            kind, target = self.kinds.get(node.name, (None, None))
            name = self.trace.names[target] if target in self.trace.names else "constants.%d" % len(self.kept)
            self.kept[name] = core
        if name not in self.parameters:
            self.parameter(name, core.float(), True)
        return self.graph.cast(self.parameters[name], dtype_of(core.dtype))

    def parameter(self, name, tensor, state=False):
        if name not in self.parameters:
            state = state or not tensor.requires_grad
            tensor = tensor.detach().float().contiguous()
            shape = tuple(tensor.shape)
            attributes = {"name": name, "shape": shape, "state": state}
            self.weights[name] = tensor
            scope, self.graph.scope = self.graph.scope, ()
            self.parameters[name] = self.graph.append("parameter", [], attributes, (shape, "f32")).output
            self.graph.scope = scope
        return self.parameters[name]

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
                self._minimize(node)
            elif spec.kind.name == "BUFFER_MUTATION":
                self._assign(self.trace.names.get(spec.target, spec.target), spec.target, node)

    def _minimize(self, node):
        loss = self.value(node) if isinstance(node, torch.fx.Node) else None
        if loss is None or math.prod(loss.shape) != 1 or loss.dtype != "f32":
            raise Failure("the loss: expected a scalar of floating point, found %s" % (
                "nothing" if loss is None else "%s of %d dimensions" % (loss.dtype, loss.rank)))
        loss, origin = self.graph.reshape(loss, ()), loss.op
        if origin.kind == "div" and [v.op.kind for v in origin.inputs] == ["cross_entropy"] * 2 \
                and origin.inputs[0].op is origin.inputs[1].op:
            self.graph.append("minimize", origin.inputs, {})
        else:
            self.graph.append("minimize", [loss], {})

    def _assign(self, name, target, node):
        """A buffer that the module changes, such as running statistics. A count of batches nobody here needs."""
        tensor = self.trace.tensor_of(target)
        if not tensor.is_floating_point():
            self.dropped.append(name)
            return
        state, value = self.parameter(name, tensor, True), self.value(node)
        # Beside what it is assigned, in the module that has the state.
        self.graph.scope = value.op.scope
        self.graph.append("assign", [state, value], {})
        self.graph.scope = ()
        self.graph.ops.insert(self.graph.ops.index(value.op) + 1, self.graph.ops.pop())

    # What several operators need.

    def tensor(self, x, dtype=None, like=None):
        """A number as a value that is repeated over what it meets, or a value of another type."""
        if isinstance(x, (bool, int, float)):
            return self.graph.fill((1,) * (like.rank if like is not None else 0), number(x, dtype or "f32"), dtype or "f32")
        return x if dtype is None else self.graph.cast(x, dtype)

    def mean_of_step(self, x):
        """The mean over the micro-batches of a step."""
        one = self.graph.fill((), 1.0)
        sums = [self.graph.unary("accumulate", value) for value in (x, one)]
        return self.graph.binary("div", *sums)

    def matmul(self, a, b):
        """torch.matmul: the last two dimensions are multiplied, those before are matched."""
        squeezed = []
        if a.rank == 1:
            a, squeezed = self.graph.reshape(a, (1,) + a.shape), squeezed + [-2]
        if b.rank == 1:
            b, squeezed = self.graph.reshape(b, b.shape + (1,)), squeezed + [-1]
        outer = broadcast(a.shape[:-2], b.shape[:-2])
        letters = "abcdefgh"[:len(outer)]

        def of(x):
            # Extents of 1 that the other repeats are left out.
            keep = [i for i, n in enumerate(x.shape[:-2]) if n == outer[len(outer) - x.rank + 2 + i]]
            names = "".join(letters[len(outer) - x.rank + 2 + i] for i in keep)
            return self.graph.reshape(x, [x.shape[i] for i in keep] + list(x.shape[-2:])), names
        (a, of_a), (b, of_b) = of(a), of(b)
        y = self.graph.einsum("%sik,%skj->%sij" % (of_a, of_b, letters), a, b)
        return self.graph.reshape(y, [n for i, n in enumerate(y.shape) if i - y.rank not in squeezed])


def set_initial(graph, weights):
    """How each parameter begins where no file is given: much as it does here, and alike in all copies of a layer."""
    alike = {}
    for op in graph.ops:
        if op.kind == "parameter":
            alike.setdefault((tuple(op.attributes["name"].split(".")[-2:]), op.attributes["shape"]), []).append(op)
    for ops in alike.values():
        tensors = [weights[op.attributes["name"]].reshape(-1) for op in ops]
        first = tensors[0][0].item()
        if all(bool((tensor == first).all()) for tensor in tensors):
            begins = {"init": {0.0: "zeros", 1.0: "ones"}.get(first, "constant %s" % plain(first))}
        elif ops[0].attributes["state"]:
            begins = {"init": "zeros"}
        else:
            square = sum(float(t.double().square().sum()) for t in tensors) / sum(t.numel() for t in tensors)
            begins = {"std": float("%.2g" % math.sqrt(square))}
        for op in ops:
            op.attributes.update(begins)


def plain(x):
    """A float as model files have it: with a point."""
    text = repr(float(x))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
