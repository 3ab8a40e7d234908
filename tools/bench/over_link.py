"""Programs under mpirun on two hosts with a link between them: network namespaces, which need the right to make them (see
tests/processes/hosts.py)."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "processes"))
from hosts import Link, Network, enter_namespace, over_the_wire  # noqa: E402
from programs import fail  # noqa: E402


def over_link(tools, runs, delay_s, bytes_per_s, ranks=1):
    """Runs commands, one after the other, with so many ranks on each host. The link serves one direction at a time.
    (why that cannot be or None, what was printed)."""
    arguments = {"bin": tools.bin_dir, "folder": tools.folder, "runs": runs, "delay_s": delay_s, "bytes_per_s": bytes_per_s,
                 "ranks": ranks}
    done = subprocess.run([sys.executable, __file__, json.dumps(arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode == 2:
        return done.stdout.strip(), ""
    if done.returncode != 0:
        fail("over the link:\n" + done.stdout)
    return None, done.stdout


def main():
    why_not = enter_namespace()
    if why_not:
        print(why_not)
        sys.exit(2)
    of = json.loads(sys.argv[1])
    network = Network(["a", "b"])
    try:
        for host in network.hosts.values():
            host.link = Link(of["delay_s"] / 2, bytes_per_s=of["bytes_per_s"])
        shell, files = os.path.join(of["folder"], "shell"), os.path.join(of["folder"], "mpi")
        network.write_shell(shell)
        os.makedirs(files, exist_ok=True)
        for program, *arguments in of["runs"]:
            line = ["mpirun", "--allow-run-as-root", "--host", "a:%d,b:%d" % (of["ranks"], of["ranks"]), "--map-by", "slot",
                    "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "plm_rsh_agent", shell, "-n", str(2 * of["ranks"]),
                    os.path.join(of["bin"], program), *arguments]
            done = subprocess.run([*network.hosts["a"].run(), *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, env=over_the_wire(files))
            print(done.stdout, end="", flush=True)
            if done.returncode != 0:
                sys.exit(1)
    finally:
        network.close()


if __name__ == "__main__":
    main()
