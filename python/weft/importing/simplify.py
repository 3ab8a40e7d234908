"""Shorter ways to say what a graph says: rules that each look at one operation, tried until none applies.

A rule gets the graph, which puts what it makes in front of the operation, and the operation. It yields the value that takes
the place of the operation's, or None where it does not apply."""

from . import attention, heads, known, layout, patterns

# Those of a later group look for what those before it leave.
GROUPS = (layout.RULES + known.RULES, attention.RULES + patterns.RULES, heads.RULES + layout.LATE_RULES)


def simplify(graph):
    graph.drop_dead()
    for count in range(1, len(GROUPS) + 1):
        rules = [rule for group in GROUPS[:count] for rule in group]
        while once(graph, rules):
            pass
    graph.place = None
    return graph


def once(graph, rules):
    """Applies each rule where it applies; whether one did."""
    changed = False
    for op in list(graph.ops):
        if not op.outputs or not any(graph.readers(value) for value in op.outputs):
            continue
        for rule in rules:
            graph.at(op)
            found = rule(graph, op)
            if found is not None:
                assert found.shape == op.output.shape, (rule.__name__, found.shape, op.output.shape)
                graph.replace(op.output, found)
                changed = True
                break
    graph.merge_same()
    graph.drop_dead()
    return changed
