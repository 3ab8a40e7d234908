"""The page of the reference that holds what every command says of itself.

usage: commands_page.py NAME=PROGRAM...
"""

import subprocess
import sys

from markdown import page


def main():
    body = ["What each command prints for `--help`."]
    for name, _, program in (argument.partition("=") for argument in sys.argv[1:]):
        said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
        body += ["", "## " + name, "", "```text"] + said.stdout.strip().splitlines() + ["```"]
    sys.stdout.write(page("Commands", ["the programs' `--help`"], body))


if __name__ == "__main__":
    main()
