"""What the search for layouts takes."""


def layouts(tools, quick):
    print("Labels of chains of blocks under a limit of memory (aim: 1 s of a core for blocks of 40 ops on two axes)")
    for line in tools.run("layouts", *["--quick"] if quick else []).splitlines():
        print("  " + line, flush=True)
