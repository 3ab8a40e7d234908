#!/usr/bin/env python3
"""An emulated Slurm, for what tests run: `srun` starts tasks with the SLURM_ variables of several nodes, all of them here.

Called as srun, it reads the batch script's allocation from SLURM_JOB_NUM_NODES and SLURM_NTASKS_PER_NODE, refuses flags that
it does not know, and lets mpirun connect the tasks, as PMIx would. With SIGNAL_AFTER="FILE LINES" it sends SIGUSR1 once FILE has
so many lines, as Slurm does before the end of the time. Called as scontrol, it notes what was asked for in REQUESTED.
"""
import os
import signal
import subprocess
import sys
import time

KNOWN = ("--mpi=pmix", "--kill-on-bad-exit=1", "--cpu-bind=cores")
# A task: what Slurm says to it, from what mpirun says.
TASK = """
export SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_NODEID=$((OMPI_COMM_WORLD_RANK / SLURM_NTASKS_PER_NODE))
export SLURM_LOCALID=$((OMPI_COMM_WORLD_RANK % SLURM_NTASKS_PER_NODE)) SLURM_JOB_ID=$JOB SLURM_STEP_ID=0
export SLURM_NTASKS SLURM_NTASKS_PER_NODE
echo "$SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID" >>"$TASKS"
exec "$@"
"""


def lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def srun(arguments):
    while arguments and arguments[0].startswith("-"):
        if arguments[0] not in KNOWN:
            sys.exit("srun: unrecognized option '%s'" % arguments[0])
        arguments = arguments[1:]
    nodes, each = int(os.environ["SLURM_JOB_NUM_NODES"]), int(os.environ["SLURM_NTASKS_PER_NODE"])
    # mpirun itself must not take this for Slurm.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    environment.update(JOB=os.environ["SLURM_JOB_ID"], SLURM_NTASKS=str(nodes * each), SLURM_NTASKS_PER_NODE=str(each),
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen(["mpirun", "-n", str(nodes * each), "--oversubscribe", "--bind-to", "none", "--mca",
                                "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo",
                                "bash", "-euc", TASK, "task", *arguments], env=environment)
    path, _, count = os.environ.get("SIGNAL_AFTER", "").partition(" ")
    while process.poll() is None and path:
        if lines(path) >= int(count):
            process.send_signal(signal.SIGUSR1)
            break
        time.sleep(0.01)
    return process.wait()


def main():
    if os.path.basename(sys.argv[0]) == "srun":
        return srun(sys.argv[1:])
    with open(os.environ["REQUESTED"], "a", encoding="utf-8") as file:
        file.write(" ".join(sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
