"""What the commands of all fronts do alike."""

import sys

from .graph import Failure


def wrong(message, status=2):
    """Says what is wrong. The exit status."""
    print("weft import: " + message, file=sys.stderr)
    return status


def source_and_job(arguments, wanted):
    """(what is imported, NAME.job) of `SOURCE -o NAME.job` in either order. Raises ValueError with what is wrong."""
    if len(arguments) != 3 or "-o" not in arguments[:2]:
        raise ValueError("expected %s -o NAME.job, got %s" % (wanted, " ".join(arguments) or "nothing"))
    at = arguments.index("-o")
    out, (source,) = arguments[at + 1], arguments[:at] + arguments[at + 2:]
    if not out.endswith(".job"):
        raise ValueError("-o: expected a name that ends in .job, got %s" % out)
    return source, out


def import_and_save(source, out, make, of):
    """The exit status of an import by `make()`. `of` names what its weights came from."""
    try:
        imported = make()
    except Failure as failure:
        return wrong("%s: %s" % (source, failure), failure.status)
    try:
        written = imported.save(out)
    except OSError as error:
        return wrong("%s: %s" % (out, error.strerror), 1)
    print("%s: %d parameters in %d tensors" % (", ".join(written), sum(a.size for a in imported.weights.values()),
                                               len(imported.weights)))
    if imported.dropped:
        print("%s not needed: %s" % (of, ", ".join(imported.dropped)))
    print("next: weft compile %s -o %s.plan" % (out, out[:-len(".job")]))
    return 0
