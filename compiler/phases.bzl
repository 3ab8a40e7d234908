"""PHASES: the phases of compilation, in order. Each is a folder of compiler/passes/ and a function build<Phase> of
compiler/pipeline/phases.cc; the programs' help and the reference list them from here."""

PHASES = [
    "elaborate",
    "pipeline",
    "autodiff",
    "precision",
    "pad",
    "zero",
    "shard",
    "box",
    "recompute",
    "localize",
    "fuse",
    "schedule",
    "memory",
]

def phases_inc(name):
    """Declares :<name>, the header phases.inc: WEFT_PHASE(Elaborate, "elaborate") and so on, for each use of which the
    macro is defined anew.

    Args:
      name: the library.
    """
    lines = ["WEFT_PHASE(%s, \"%s\")" % (phase.capitalize(), phase) for phase in PHASES] + ["#undef WEFT_PHASE"]
    native.genrule(
        name = name + "_gen",
        outs = ["phases.inc"],
        cmd = "cat > $@ <<'END'\n%s\nEND" % "\n".join(lines),
    )
    native.cc_library(name = name, textual_hdrs = ["phases.inc"])
