"""Neovim with the set-up of docs/howto/edit_model_files.md asks weft-lsp what an editor asks."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

PAGE = "docs/howto/edit_model_files.md"
MODEL = "models/gpt2/gpt2.mlir"
SLICE = "weft.slice %wpe"
NEOVIM = "/usr/bin/nvim"
LIMIT_S = 240


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class NeovimTest(unittest.TestCase):
    def test_the_set_up_of_the_page(self):
        folder = os.path.realpath(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, folder)
        os.mkdir(folder + "/bin")
        for program in ("tools/weft/weft", "tools/lsp/weft-lsp"):
            shutil.copy(program, folder + "/bin")
        shutil.copytree("models", folder + "/models", copy_function=shutil.copyfile)
        before = read(MODEL)
        self.assertEqual(before.count(SLICE), 1)
        with open(f"{folder}/{MODEL}", "w", encoding="utf-8") as file:
            file.write(before.replace(SLICE, SLICE.replace("slice", "slic")))
        with open(folder + "/init.lua", "w", encoding="utf-8") as file:
            file.write(re.search(r"^```lua file=\S+/init.lua\n(.*?)^```$", read(PAGE), re.M | re.S)[1])
        # The script ends Neovim, unless it fails.
        steps = ["-c", "luafile " + os.path.abspath("tools/lsp/neovim.lua"), "-c", "cquit"]
        done = subprocess.run([NEOVIM, "--headless", "-u", "init.lua", *steps], cwd=folder, stdin=subprocess.DEVNULL,
                              env={**os.environ, "HOME": folder, "PATH": folder + "/bin:/usr/bin:/bin"}, capture_output=True,
                              text=True, timeout=LIMIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(read(folder + "/found.json"))

        self.assertEqual(found["model"], ["mlir", "v:lua.vim.lsp.omnifunc", "// %s"])
        self.assertEqual(found["job"], "textproto")
        (wrong,) = found["wrong"]
        self.assertTrue(wrong.startswith("unknown op weft.slic: expected one of weft or model"), wrong)
        self.assertEqual(found["right"], [])
        self.assertRegex(found["hover"]["contents"]["value"], r"%6: f32\[\d+,64,256\]\n")
        (place,) = found["definition"]
        line = before.split("\n")[place["range"]["start"]["line"]]
        self.assertTrue(place["uri"].endswith(MODEL) and line.startswith("model.layer @block("), place)
        self.assertIn("weft.slice", [item["label"] for item in found["completion"]["items"]])
        # Written as it was: the line without spaces has got them back.
        self.assertEqual(read(f"{folder}/{MODEL}"), before)


if __name__ == "__main__":
    unittest.main()
