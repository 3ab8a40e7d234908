#!/usr/bin/env python3
"""What completion offers is what the programs take, and manual pages say all of it."""
import glob
import os
import pty
import re
import subprocess
import threading
import unittest

import manual

FOLDER = "tools/manual/"
PROGRAMS = {os.path.basename(path): path for path in glob.glob("tools/*/weft*") if os.access(path, os.X_OK) and
            re.fullmatch(r"weft(-[a-z]+)*", os.path.basename(path))}


def completed(*words):
    """What bash offers for the last of the words."""
    script = ("source %sbash/weft; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _weft; printf '%%s\\n' \"${COMPREPLY[@]}\"" % FOLDER)
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


class Zsh:
    """A zsh as a person has it, on a terminal, with nothing of its own but completion."""

    # All that fits is put into the line, where ^X finds it.
    START = """fpath=(%s $fpath); autoload -Uz compinit; compinit -D -u
        zstyle ':completion:*' completer _all_matches _complete; zstyle ':completion:*' insert true
        tell() { print -ru%d -- "$BUFFER"; BUFFER= }; zle -N tell; bindkey '^X' tell; print -ru%d ready\n"""

    def __init__(self):
        told, tells = os.pipe()
        os.set_inheritable(tells, True)
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execve("/usr/bin/zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "xterm"})
        os.close(tells)
        self.told = os.fdopen(told)
        threading.Thread(target=self._look, daemon=True).start()
        self._type(self.START % (os.path.abspath(FOLDER + "zsh"), tells, tells))
        self.told.readline()

    def completed(self, line):
        """What it offers for the last word of a line."""
        self._type(line + "\t\x18")
        said = self.told.readline().rstrip("\n")
        return said[len(line.rpartition(" ")[0]):].split()

    def stop(self):
        self._type("exit\n")
        os.waitpid(self.process, 0)
        self.told.close()

    def _type(self, text):
        os.write(self.terminal, text.encode())

    def _look(self):
        """Somebody has to, or the terminal is full. Its end is an error here."""
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass


class ManualTest(unittest.TestCase):
    def test_all_programs_have_a_page(self):
        self.assertEqual({os.path.basename(path)[:-2] for path in glob.glob(FOLDER + "man1/*.1")}, set(PROGRAMS))
        self.assertGreater(len(PROGRAMS), 9)

    def test_commands(self):
        self.assertEqual(completed("weft", "c"), ["compile", "calibrate"])
        self.assertEqual(completed("weft", "plan", "s"), ["show", "simulate", "sharding"])
        self.assertEqual(completed("weft", "plan", "comp"), ["compare"])
        said = subprocess.run([PROGRAMS["weft"]], capture_output=True, text=True, check=False).stderr
        known = re.search(r"expected a command: (.*); see", said)[1].replace(" or ", ", ").split(", ")
        self.assertEqual(completed("weft", ""), [*sorted(known, key=completed("weft", "").index), "--help", "--version"])

    def test_flags(self):
        self.assertEqual(completed("weft", "run", "a.plan", "--checkpoint-"),
                         ["--checkpoint-dir", "--checkpoint-every", "--checkpoint-async", "--checkpoint-keep", "--checkpoint-keep-every"])
        self.assertEqual(completed("weft-run", "--checkpoint-e"), ["--checkpoint-every"])
        self.assertEqual(completed("out/bin/weft-plan", "show", "--k"), ["--kernels"])
        self.assertEqual(completed("weft", "plan", "memory", "a.plan", "-"), ["--json"])
        self.assertEqual(completed("weft", "plan", "compare", "--sw"), ["--sweep"])

    def test_values_and_files(self):
        self.assertEqual(completed("weft", "run", "a.plan", "--cuda-graphs", ""), ["on", "off"])
        self.assertEqual(completed("weft", "run", "a.plan", "--cuda-graphs", "=", "of"), ["off"])
        self.assertEqual(completed("weft", "export", "--type", "b"), ["bf16"])
        self.assertEqual(completed("weft", "run", FOLDER + "manual.p"), [FOLDER + "manual.py"])

    def test_no_flag_is_made_up(self):
        """Every flag that is offered is one that the program knows."""
        helps = {name: manual.help_of(path) for name, path in PROGRAMS.items()}
        programs = manual.Programs(helps)
        for command in programs.all_commands():
            if command in ("opt", "plan"):  # whose flags are MLIR's; which has commands
                continue
            self.assertTrue(programs.flags[command], command)
            for flag in programs.flags[command]:
                of_plan = command.startswith("plan-") and command != "plan-compare"
                line = [PROGRAMS["weft-plan"], command[5:]] if of_plan else [PROGRAMS["weft-" + command]]
                value = [] if flag.value is None else ["x"]
                said = subprocess.run([*line, flag.name, *value, "--help"], capture_output=True, text=True, check=False,
                                      stdin=subprocess.DEVNULL)
                for unknown in ("no such flag", "unknown flag", "unknown argument"):
                    self.assertNotIn(unknown, said.stderr, (command, flag.name))

    def test_every_flag_of_weft_run_is_offered(self):
        """Of those that its source has."""
        with open("tools/run/request.cc", encoding="utf-8") as file:
            table = set(re.findall(r'^    \{"(--[-a-z]+)", &Request', file.read(), re.M))
        self.assertGreater(len(table), 30)
        self.assertEqual(table, set(completed("weft", "run", "-")))

    def test_pages(self):
        for name, path in PROGRAMS.items():
            with open(f"{FOLDER}man1/{name}.1", encoding="utf-8") as file:
                page = file.read()
            self.assertRegex(page, r'^\.TH "%s" 1 "" "Weft \d+\.\d+\.\d+" "Weft"\n\.SH NAME\n%s \\- \w' % (
                name.upper(), name.replace("-", r"\\-")))
            for flag in manual.flags_of(manual.help_of(path)):
                self.assertIn(flag.name.replace("-", "\\-"), page, name)
            for line in page.splitlines():  # troff reads no text as a request
                self.assertRegex(line, r"^(\.(TH|SH|nf|fi)\b|[^.']|$)")

    def test_zsh_offers_what_bash_does(self):
        zsh = Zsh()
        self.addCleanup(zsh.stop)
        for line in ("weft ", "weft c", "weft plan ", "weft plan s", "weft plan comp", "weft run a.plan --checkpoint-", "weft-run -",
                     "out/bin/weft-plan show --k", "weft plan memory a.plan -", "weft plan compare --sw", "weft-plan-compare --",
                     "weft run a.plan --cuda-graphs ", "weft export --type b", "weft generate --", "weft compile --s",
                     "weft run %smanual.p" % FOLDER, "weft run --data %smanual_" % FOLDER):
            with self.subTest(line):
                offered = completed(*line.split(" "))
                self.assertTrue(offered)
                self.assertEqual(sorted(zsh.completed(line)), sorted(offered))
        # One word in zsh, three in bash.
        self.assertEqual(zsh.completed("weft run --cuda-graphs=of"), ["--cuda-graphs=off"])
        self.assertEqual(zsh.completed("weft run --data=%smanual.p" % FOLDER), ["--data=%smanual.py" % FOLDER])

    def test_descriptions_are_whole(self):
        """They end where the help's line does only if the meaning does."""
        text = """
  show PLAN        streams, actors and their order, collectives,
                   memory, parameters; and more
  run PLAN         train with the plan, or evaluate its function
  plan verify|...  look at a plan: what runs where
"""
        self.assertEqual(manual.commands_of(text), [
            ("show", "streams, actors and their order"), ("run", "train with the plan, or evaluate its function"), ("plan", "look at a plan")])


if __name__ == "__main__":
    unittest.main()
