#!/usr/bin/env python3
"""What completion offers is what the programs take, and manual pages say all of it."""
import glob
import os
import re
import shutil
import subprocess
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

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_own(self):
        subprocess.run(["zsh", "-n", FOLDER + "zsh/_weft"], check=True)


if __name__ == "__main__":
    unittest.main()
