"""Tests that run a program as several processes under mpirun."""

load("@sys//:defs.bzl", "HAVE_MPI")

def mpi_test(name, program, ranks, args = [], size = "small"):
    """Runs `program` as `ranks` processes. Absent where there is no MPI.

    Args:
      name: of the test.
      program: a cc_binary; it makes a runtime/collective/mpi/world.h.
      ranks: how many processes; more than cores is fine.
      args: of the program.
      size: of the test.
    """
    if not HAVE_MPI:
        return
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/build_defs:mpirun.sh"],
        args = [str(ranks), "$(location %s)" % program] + args,
        data = [program],
        # MPI leaks, and its threads are not built to be watched.
        tags = ["no-sanitizer"],
    )
