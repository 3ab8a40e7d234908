#!/usr/bin/env python3
"""An emulated Slurm, for what tests run: `srun` starts tasks with the SLURM_ variables of several nodes, all of them here.

Called as srun, it reads the batch script's allocation from SLURM_JOB_NUM_NODES and SLURM_NTASKS_PER_NODE, or its flags, refuses
flags that it does not know, and lets mpirun connect the tasks, as PMIx would. With SIGNAL_AFTER="FILE LINES" it sends SIGUSR1
once FILE has so many lines, as Slurm does before the end of the time. With HOSTS_SHELL, a script of hosts.py, the nodes are
its hosts. Called as scontrol, it writes out the names of nodes, or notes what was asked for in REQUESTED.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time

KNOWN = ("--mpi=pmix", "--kill-on-bad-exit=0", "--kill-on-bad-exit=1", "--cpu-bind=cores", "--wait=10", "--distribution=block",
         "--overlap")
WITH_VALUES = ("nodes", "ntasks", "ntasks-per-node", "nodelist")
WAIT_S = 10
# A task: what Slurm says to it, from what mpirun says.
TASK = """
export SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_NODEID=$((OMPI_COMM_WORLD_RANK / SLURM_NTASKS_PER_NODE))
export SLURM_LOCALID=$((OMPI_COMM_WORLD_RANK % SLURM_NTASKS_PER_NODE)) SLURM_JOB_ID=$JOB SLURM_STEP_ID=0
export SLURM_NTASKS SLURM_NTASKS_PER_NODE
echo "$SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID" >>"$TASKS"
echo "$SLURM_PROCID $$" >>"$TASKS.processes"
exec "$@"
"""


def lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def flags_of(arguments):
    """What srun is told, and the command."""
    flags = {}
    while arguments and arguments[0].startswith("-"):
        name, is_whole, value = arguments[0].removeprefix("--").partition("=")
        if name in WITH_VALUES:
            flags[name], arguments = (value, arguments[1:]) if is_whole else (arguments[1], arguments[2:])
        elif arguments[0] in KNOWN:
            arguments = arguments[1:]
        else:
            sys.exit("srun: unrecognized option '%s'" % arguments[0])
    return flags, arguments


def tell(process):
    """Passes on what the tasks say; of what mpirun says, what srun would."""
    rule, paragraph = "-" * 60, None
    for line in process.stderr:
        if line.startswith(rule):
            paragraph = "" if paragraph is None else paragraph
            if paragraph:
                ended = re.search(r"process\s+rank\s+(\d+)\s.*?on\s+node\s+(\S+)\s.*exited\s+on\s+signal", paragraph, re.S)
                if ended:
                    print("srun: error: %s: task %s: Killed" % (ended[2], ended[1]), file=sys.stderr, flush=True)
                paragraph = None
        elif paragraph is not None and not line.startswith("weft-"):
            paragraph += line
        elif not line.startswith("mpirun: "):
            print(line, end="", file=sys.stderr, flush=True)


def srun(arguments):
    flags, arguments = flags_of(arguments)
    nodes = int(flags.get("nodes") or os.environ["SLURM_JOB_NUM_NODES"])
    each = int(flags.get("ntasks-per-node") or os.environ.get("SLURM_NTASKS_PER_NODE") or 1)
    tasks = int(flags.get("ntasks") or nodes * each)
    shell, names = os.environ.get("HOSTS_SHELL"), flags.get("nodelist", "").split(",")
    if len(names) != nodes and names != [""]:
        sys.exit("srun: error: %d nodes, but %d in the list" % (nodes, len(names)))
    if tasks == 1 and shell:
        os.execv(shell, [shell, names[0], *["'%s'" % word for word in arguments]])
    # mpirun itself must not take this for Slurm.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    environment.update(JOB=os.environ["SLURM_JOB_ID"], SLURM_NTASKS=str(tasks), SLURM_NTASKS_PER_NODE=str(each),
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    where = (["--host", ",".join("%s:%d" % (name, each) for name in names), "--mca", "plm_rsh_agent", shell] if shell else
             ["--oversubscribe", "--mca", "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo"])
    process = subprocess.Popen(["mpirun", "-n", str(tasks), *where, "--bind-to", "none", "bash", "-euc", TASK, "task", *arguments],
                               env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    telling = threading.Thread(target=tell, args=(process,), daemon=True)
    telling.start()
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
        signal.signal(number, lambda got, _: process.send_signal(got))
    path, _, count = os.environ.get("SIGNAL_AFTER", "").partition(" ")
    failed_at = None
    while process.poll() is None:
        if path and lines(path) >= int(count):
            process.send_signal(signal.SIGUSR1)
            path = ""
        if failed_at is None and any(os.path.exists("%s.%s.down" % (shell, name)) for name in names):
            failed_at = time.monotonic()
            (name,) = [name for name in names if os.path.exists("%s.%s.down" % (shell, name))]
            print("srun: error: Node failure on " + name, file=sys.stderr, flush=True)
        if failed_at is not None and time.monotonic() - failed_at > WAIT_S:
            os.killpg(process.pid, signal.SIGKILL)  # mpirun would wait for the node
        time.sleep(0.01)
    telling.join(timeout=1)
    return process.wait() if process.returncode >= 0 else 128 - process.returncode


def main():
    if os.path.basename(sys.argv[0]) == "srun":
        return srun(sys.argv[1:])
    if sys.argv[1:3] == ["show", "hostnames"]:
        print("\n".join(sys.argv[3].split(",")))
        return 0
    with open(os.environ["REQUESTED"], "a", encoding="utf-8") as file:
        file.write(" ".join(sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
