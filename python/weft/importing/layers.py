"""Layers of a graph: what stands in a module becomes one, alike ones become one, and a chain of them a repeat."""

import re

from .graph import Batch, DRAWS, FORMS, Op, Operand

SMALL = 12  # operations without parameters that are written where they are called


class Group:
    """What a module computes: operations and groups, in order."""

    def __init__(self, scope, items, name):
        self.scope, self.items, self.name = scope, items, name
        self.inputs, self.outputs = [], []


class Repeat:
    """A chain of groups alike, of which `group` is the first: `operands` are those of the first, `results` of the last."""

    def __init__(self, scope, count, group, operands, results):
        self.scope, self.count, self.group, self.operands, self.results = scope, count, group, operands, results


def common(scopes):
    """The scope that all are in."""
    scopes = list(scopes)
    first, depth = scopes[0], 0
    while all(len(s) > depth and s[:depth + 1] == first[:depth + 1] for s in scopes):
        depth += 1
    return first[:depth]


def spelled(equation):
    """An equation in the letters of the house: b, s, ... stay, i, j, ... are summed over, o, p, ... come from the second."""
    left, result = equation.split("->")
    rows, columns = left.split(",")
    stay, summed, come, names = iter("bstuvwxyz"), iter("ijklm"), iter("opqrn"), {}
    for letter in rows:
        names[letter] = next(stay if letter in result else summed)
    for letter in columns:
        if letter not in names:
            names[letter] = next(come)
    return "%s,%s->%s" % tuple("".join(names[c] for c in part) for part in (rows, columns, result))


def lift(graph, free):
    """Puts what is made in one module, of what comes from outside it, and read there and in others, where all of them are:
    such as what the first of several blocks makes for all. Whether there was such a thing."""
    for op in graph.ops:
        readers = [reader for v in op.outputs for reader in graph.readers(v) if reader not in free]
        scope = common([op.scope] + [reader.scope for reader in readers])
        inside = op.scope[:len(scope) + 1]
        own = [reader for reader in readers if reader.scope[:len(inside)] == inside]
        if len(scope) == len(op.scope) or not own or op.kind in DRAWS or any(
                v.op not in free and v.op.kind != "input" and v.op.scope[:len(inside)] == inside for v in op.inputs):
            continue
        op.scope, place = scope, graph.ops.index(op)
        graph.ops.remove(op)
        while place and graph.ops[place - 1].scope[:len(inside)] == inside:
            place -= 1
        graph.ops.insert(place, op)
        return True
    return False


def independent(graph):
    """The operations that depend on no input."""
    free = set()
    for op in graph.ops:
        if op.kind not in DRAWS and op.kind != "accumulate" and op.outputs and all(v.op in free for v in op.inputs):
            free.add(op)
    return free


def settle(graph):
    """Puts what depends on no input (parameters, known numbers) to its readers: into the innermost module that has all of
    them and, of a parameter, is named in it."""
    free = independent(graph)
    moved = [op for op in reversed(graph.ops) if op in free]
    graph.ops = [op for op in graph.ops if op not in free]
    graph.read = None
    while lift(graph, free):
        graph.read = None
    for op in moved:
        readers = [other for other in graph.ops if any(v in other.inputs for v in op.outputs)]
        if not readers:
            continue
        scope = common(reader.scope for reader in readers)
        if op.kind == "parameter":
            while scope and not op.attributes["name"].startswith(".".join(scope) + "."):
                scope = scope[:-1]
            op.attributes["full"] = op.attributes["name"]
            op.attributes["name"] = op.attributes["name"][len(".".join(scope + ("",))):]
        op.scope = scope
        place = graph.ops.index(readers[0])
        # In front of the readers' module, or of all that is here where it is a parameter.
        inside = readers[0].scope[:len(scope) + (op.kind != "parameter")]
        while (op.kind == "parameter" or len(inside) > len(scope)) and place \
                and graph.ops[place - 1].scope[:len(inside)] == inside:
            place -= 1
        graph.ops.insert(place, op)


def layers_of(graph):
    """The outermost group."""
    for op in graph.ops:
        if op.kind == "einsum":
            op.attributes["equation"] = spelled(op.attributes["equation"])
    settle(graph)
    root = Group("", grouped(graph.ops, (), graph.classes), "")
    read = {}
    for op in graph.ops:
        for value in op.inputs:
            read.setdefault(value, []).append(op)
    connect(root, read)
    simplify(root)
    connect(root, read)
    find_repeats(root)
    return root


def grouped(ops, scope, classes):
    items, depth = [], len(scope)
    for op in ops:
        if len(op.scope) == depth:
            items.append(op)
        elif items and isinstance(items[-1], list) and items[-1][0].scope[depth] == op.scope[depth]:
            items[-1].append(op)
        else:
            items.append([op])
    return [item if isinstance(item, Op) else
            Group(item[0].scope[depth], grouped(item, item[0].scope[:depth + 1], classes),
                  classes.get(item[0].scope[:depth + 1], item[0].scope[depth]))
            for item in items]


def ops_in(item):
    if isinstance(item, Op):
        yield item
    elif isinstance(item, Group):
        for inner in item.items:
            yield from ops_in(inner)


def connect(group, read):
    """Sets what each group reads from outside and what of it is read outside."""
    inside = set(ops_in(group))
    group.inputs, group.outputs = [], []
    for op in ops_in(group):
        for value in op.inputs:
            if value.op not in inside and value not in group.inputs:
                group.inputs.append(value)
        group.outputs += [v for v in op.outputs if any(reader not in inside for reader in read.get(v, ()))]
    for item in group.items:
        if isinstance(item, Group):
            connect(item, read)


def simplify(group):
    """Writes small groups without parameters where they stand, and joins a group with the only one in it."""
    items = []
    for item in group.items:
        if isinstance(item, Group):
            simplify(item)
            inner = list(ops_in(item))
            if len(inner) <= SMALL and not any(op.kind == "parameter" for op in inner):
                items += item.items
                continue
            if is_list(item):
                # Its parts are called from here, by their numbers behind its name.
                for inner in item.items:
                    if isinstance(inner, Group):
                        inner.scope = item.scope + "." + inner.scope
                items += item.items
                continue
        items.append(item)
    if len(items) == 1 and isinstance(items[0], Group) and group.scope:
        only = items[0]
        group.scope, group.name, items = group.scope + "." + only.scope, only.name, only.items
    group.items = items


def is_list(group):
    """Whether a module has parts with numbers, as torch.nn.Sequential, and no parameters of its own."""
    return (any(isinstance(item, Group) and item.scope[0].isdigit() for item in group.items)
            and not any(isinstance(item, Op) and item.kind == "parameter" for item in group.items))


# Repeats.

def numbered(scope):
    found = re.fullmatch(r"(.*?)\.?(\d+)((?:\..*)?)", scope)
    return (found[1], int(found[2])) if found and not found[3] and found[1] else (None, None)


def find_repeats(group):
    for item in group.items:
        if isinstance(item, Group):
            find_repeats(item)
    items, at = [], 0
    while at < len(group.items):
        item = group.items[at]
        run, between, end = chain(group.items, at, group.outputs)
        if len(run) > 1:
            items += between
            items.append(repeat_of(run))
            at = end
        else:
            items.append(item)
            at += 1
    group.items = items


def chain(items, at, read_after):
    """(the groups of a chain from the place `at`, what stands between them, where it ends)."""
    first = items[at]
    prefix, number = numbered(first.scope) if isinstance(first, Group) else (None, None)
    if prefix is None or number != 0:
        return [], [], at
    shape = Shape(first)
    run, between, waiting, end = [first], [], [], at + 1
    made = set(first.outputs)
    for place in range(at + 1, len(items)):
        item = items[place]
        if isinstance(item, Group) and numbered(item.scope) == (prefix, len(run)) and Shape(item).key == shape.key \
                and len(item.inputs) == len(first.inputs) and len(item.outputs) == len(first.outputs) \
                and follows(run, item):
            run.append(item)
            between += waiting
            waiting, end = [], place + 1
            made.update(item.outputs)
        elif any(v in made for v in reads(item)):
            break
        else:
            waiting.append(item)
    # Of all but the last only the next one reads what they give.
    outside = {v for item in items[end:] + between for v in reads(item)} | set(read_after)
    if len(run) == 1 or any(v in outside or v not in b.inputs for a, b in zip(run, run[1:]) for v in a.outputs):
        return [], [], at
    return run, between, end


def reads(item):
    return item.operands if isinstance(item, Repeat) else item.inputs


def follows(run, item):
    """Whether `item` reads the results of the last in the places where each before read those of the one before it, and
    the same as all elsewhere."""
    before = run[-1]
    places = [i for i, v in enumerate(item.inputs) if v in before.outputs]
    if not places:
        return False
    if len(run) > 1:
        earlier = [i for i, v in enumerate(before.inputs) if v in run[-2].outputs]
        if earlier != places:
            return False
    return all(item.inputs[i] is run[0].inputs[i] for i in range(len(item.inputs)) if i not in places)


def repeat_of(run):
    first, second = run[:2]
    # The results come first among the operands, in one order.
    order = [second.inputs.index(v) for v in first.outputs]
    order += [i for i in range(len(second.inputs)) if i not in order]
    for item in run:
        item.inputs = [item.inputs[i] for i in order]
    return Repeat(numbered(first.scope)[0], len(run), first, first.inputs, run[-1].outputs)


# What a group looks like, without the numbers.

class Shape:
    """`tokens` of a group are what is written; `key` is what of it is not a number, `numbers` what is, and `hints` what
    each is called."""

    def __init__(self, group):
        self.names, self.tokens, self.hints, self.used = {}, [], [], set()
        for i, value in enumerate(group.inputs):
            # Of the outermost, what the graph calls them; of layers, what all copies can be called.
            self.name(value, value.op.attributes["name"] if not group.scope else
                      "mask" if value.dtype == "i8" else "xyzuvw"[min(i, 5)])
        self.count = 0
        for item in group.items:
            self.tokens.append("\n")
            if isinstance(item, Op):
                self.op(item)
            else:
                self.call(item)
        self.arity, self.results = len(group.inputs), [self.names[v] for v in group.outputs]
        self.put("\n", Return(self.results))
        self.numbers = [x for t in self.tokens for x in numbers_of(t)]
        self.key = (group.name,) + tuple(key_of(t) for t in self.tokens)

    def name(self, value, hint):
        hint = re.sub(r"\W", "_", hint)
        name, i = hint, 1
        while name in self.used:
            i += 1
            name = "%s_%d" % (hint, i)
        self.used.add(name)
        self.names[value] = name
        return name

    def result(self, value, hint=None):
        if hint is None:
            hint = str(self.count)
            self.count += 1
        return self.name(value, hint)

    def put(self, *tokens):
        self.tokens.extend(tokens)

    def op(self, op):
        if op.kind == "parameter":
            name = last_of(op.attributes["name"])
            names = [self.result(op.output, "known" if name.isdigit() else name)]
        else:
            names = [self.result(v) for v in op.outputs]
        if names:
            self.put(", ".join("%" + n for n in names) + " = ")
        self.put("weft." + op.kind + " ")
        written(self, op)

    def call(self, item):
        group = item.group if isinstance(item, Repeat) else item
        inputs = item.operands if isinstance(item, Repeat) else item.inputs
        outputs = item.results if isinstance(item, Repeat) else item.outputs
        operands = ", ".join("%" + self.names[v] for v in inputs)
        if outputs:
            self.put(", ".join("%" + self.result(v) for v in outputs) + " = ")
        inner = Inner(group)
        if isinstance(item, Repeat):
            self.put("model.repeat ")
            self.hints.append("count:" + item.scope)
            self.put(item.count, ' "%s" ' % item.scope, inner, "(%s)" % operands)
        else:
            self.put("model.call ", inner, ' "%s" (%s)' % (item.scope, operands))
        self.put(Arguments(inner))
        self.hints += inner.shape.hints


class Inner:
    """The layer that a call names."""

    def __init__(self, group):
        self.group, self.shape = group, Shape(group)


class Arguments:
    """The numbers that a layer is called with: of all in it, which count as the caller's."""

    def __init__(self, inner):
        self.inner = inner


class Return(tuple):
    """The names of what a layer gives."""


def numbers_of(token):
    return [token] if is_number(token) else token.inner.shape.numbers if isinstance(token, Arguments) else []


def key_of(token):
    """What of a token two layers that are one have in common."""
    if isinstance(token, Inner):
        return token.shape.key
    return type(token).__name__ if is_number(token) or isinstance(token, Arguments) else token


def is_number(token):
    return isinstance(token, (int, float, Batch)) and not isinstance(token, bool)


def written(shape, op):
    """Puts the tokens of an operation, by its form."""
    attributes = op.attributes
    parts = FORMS[op.kind].split("|")
    for i, part in enumerate(parts):
        if i and not wanted(part, op):
            continue
        for piece in re.split(r"(\{[^}]*\})", part):
            if not piece.startswith("{"):
                shape.put(*([piece] if piece else []))
            elif piece == "{*}":
                shape.put(", ".join("%" + shape.names[v] for v in op.inputs))
            elif piece[1:-1].isdigit():
                shape.put("%" + shape.names[op.inputs[int(piece[1:-1])]])
            else:
                put_attribute(shape, op, piece[1:-1], attributes[piece[1:-1]])


def wanted(part, op):
    """Whether an optional part is written: its attribute is there and not the default."""
    field = re.search(r"\{([^}]*)\}", part)
    if field and field[1].isdigit():
        return len(op.inputs) > int(field[1])
    value = op.attributes.get(field[1] if field else part.strip())
    if part == "| to {to}" or (field and field[1] == "to" and op.kind in ("fill", "constant")):
        return value not in (None, "f32")
    if field and field[1] == "to":
        return value not in (None, "i32")
    return value is not None and value is not False and not (field and field[1] == "batch" and value == 0)


def put_attribute(shape, op, key, value):
    if isinstance(value, Operand):
        shape.put("%" + shape.names[op.inputs[value]])
    elif isinstance(value, tuple):
        shape.put("[")
        for i, x in enumerate(value):
            shape.hints.append(hint_of_number(op, key, i))
            shape.put(*([", "] if i else []), x)
        shape.put("]")
    elif is_number(value):
        shape.hints.append(hint_of_number(op, key, 0))
        shape.put(value)
    else:
        shape.put(str(value))


def hint_of_number(op, key, place):
    if op.kind == "parameter" and key in ("shape", "stored"):
        name = last_of(op.attributes["name"])
        if len(op.attributes["shape"]) == 2:
            return ("out", "in")[place] if name == "weight" else ("rows", "columns")[place]
        return "size" if place == 0 else "size_%d" % place
    return {"eps": "eps", "rate": "rate", "scale": "scale", "by": "by", "theta": "theta", "std": "std"}.get(key, "n")


def last_of(name):
    return name.rpartition(".")[2]
