"""weft-lsp from outside, as an editor sees it: the language server protocol over pipes."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from editor import Editor, uri

PROGRAM = os.path.abspath("tools/lsp/weft-lsp")
MODEL = """// Guesses a byte from the one before it.
model.import "../layers.mlir"
model.config @vocab = 256
model.config @hidden = 32
model.config @blocks = 2
model.config @seq = 16

// Adds to what it reads.
model.layer @block(%x) [rate] {
  %0 = model.call @mlp "mlp" (%x) [hidden, 4 * hidden]
  %1 = weft.dropout %0 rate(rate)
  %2 = weft.add %x, %1
  model.return %2
}

model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
  %x, %table = model.call @embedding "wte" (%tokens) [vocab, hidden]
  %h = model.repeat blocks "h" @block(%x) [0.0]
  %logits = model.call @tied_head (%h, %table)
  %loss, %count = weft.cross_entropy %logits, %labels
  weft.minimize %loss per %count
}
"""
JOB = """model { file: "own.mlir" graph: "train" }
batch { global: 4 micro: 4 }
optimizer { adam { lr: 1e-3 } }
data { format: TEXT }
"""


class LspTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)
        self.models = os.path.join(self.folder, "models")
        shutil.copytree("models", self.models, dirs_exist_ok=True)
        os.mkdir(self.models + "/own")
        self.path = self.write("own/own.mlir", MODEL)
        self.write("own/tiny.job", JOB)

    def write(self, name, text):
        path = os.path.join(self.models, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, *arguments):
        self.editor = Editor(PROGRAM, *arguments)
        self.addCleanup(self.editor.stop)
        return self.editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})

    def open(self, text, path=None):
        """Opens a text, which need not be that on disk; its diagnostics."""
        self.text, self.at = text, path or self.path
        self.version = 1
        return self.editor.open(self.at, text)

    def change(self, text):
        self.text = text
        self.version += 1
        return self.editor.change(self.at, text, self.version)

    def position(self, before, behind=0):
        """Where the text has `before`, and so many letters on."""
        self.assertEqual(self.text.count(before), 1, before)
        offset = self.text.index(before) + behind
        line = self.text.count("\n", 0, offset)
        return {"line": line, "character": offset - self.text.rfind("\n", 0, offset) - 1}

    def ask(self, method, before, behind=0):
        place = self.position(before, behind)
        return self.editor.ask_at(method, self.at, place["line"], place["character"])

    def hover(self, before, behind=0):
        found = self.ask("hover", before, behind)
        return found and found["contents"]["value"]

    def definition(self, before, behind=0):
        """(file, text there)."""
        found = self.ask("definition", before, behind)
        self.assertEqual(len(found), 1, before)
        path = found[0]["uri"][len("file://"):]
        with open(path, encoding="utf-8") as file:
            text = self.text if path == self.at else file.read()
        start, end = found[0]["range"]["start"], found[0]["range"]["end"]
        return os.path.basename(path), text.splitlines()[start["line"]][start["character"]:end["character"]]

    def completion(self, before, behind=None):
        items = self.ask("completion", before, len(before) if behind is None else behind)["items"]
        return [item["label"] for item in items]

    def test_begins_and_ends(self):
        capabilities = self.start()["capabilities"]
        for name in ("hoverProvider", "definitionProvider", "completionProvider", "documentFormattingProvider",
                     "documentSymbolProvider"):
            self.assertTrue(capabilities[name], name)
        self.assertEqual(self.open(MODEL), [])
        self.assertIsNone(self.editor.ask("shutdown", None))
        self.editor.send("exit", None)
        self.assertEqual(self.editor.process.wait(30), 0)

    def only(self, diagnostics):
        self.assertEqual(len(diagnostics), 1, diagnostics)
        found = diagnostics[0]
        start, end = found["range"]["start"], found["range"]["end"]
        self.assertEqual((found["severity"], start["line"]), (1, end["line"]))
        word = self.text.splitlines()[start["line"]][start["character"]:end["character"]]
        return found["message"], word, found.get("relatedInformation", [])

    def test_errors_come_and_go(self):
        self.start()
        # The parser's, in the words of a model file.
        message, word, _ = self.only(self.open(MODEL.replace("weft.add", "weft.ad")))
        self.assertIn("unknown op weft.ad: expected one of weft or model, such as weft.add; did you mean ", message)
        self.assertEqual(word, "weft.ad")
        # Elaborate's, where the call is, with the layer beside it.
        message, word, notes = self.only(self.change(MODEL.replace("[vocab, hidden]", "[vocab]")))
        self.assertEqual(message, "layer @embedding: parameters: expected 2 to 3 (vocab, hidden, std), got 1")
        self.assertEqual(word, "model.call")
        self.assertEqual([(note["message"], os.path.basename(note["location"]["uri"])) for note in notes],
                         [("the layer", "layers.mlir")])
        # The shapes', deep in a layer: with the way there.
        message, word, notes = self.only(self.change(MODEL.replace("weft.add %x, %1", "weft.einsum \"bsi,io->bso\" %x, %1")))
        self.assertEqual(word, "weft.einsum")
        self.assertEqual([note["message"] for note in notes], ["called from here"])
        # In an imported file: at the call of this one.
        message, word, notes = self.only(self.change(MODEL.replace("4 * hidden]", "0]")))
        self.assertTrue(message.startswith("layers.mlir:"), message)
        self.assertEqual(word, "model.call")
        self.assertGreaterEqual(len(notes), 2)
        # An expression, a verifier, an import.
        self.assertIn("unknown name hiden", self.only(self.change(MODEL.replace("4 * hidden", "4 * hiden")))[0])
        self.assertIn("expected model.return", self.only(self.change(MODEL.replace("  model.return %2\n", "")))[0])
        message, word, _ = self.only(self.change(MODEL.replace("../layers.mlir", "../layer.mlir")))
        self.assertIn('import "../layer.mlir": expected a file, found none', message)
        self.assertEqual(word, "model.import")
        self.assertEqual(self.change(MODEL), [])

    def test_shapes_and_names(self):
        self.start()
        self.open(MODEL)
        self.assertIn("%x: f32[4,16,32]\n", self.hover("%x, %table", 1))
        self.assertIn("%table: f32[256,32]\n", self.hover("%table = ", 1))
        self.assertIn("as `own/tiny.job` has it", self.hover("%table = ", 1))
        # A call, a repeat, an input of a layer; a dropout of rate 0, which is gone when shapes are known.
        self.assertIn("%h: f32[4,16,32]\n", self.hover("%h = ", 1))
        self.assertIn("%1: f32[4,16,32]\n  in h.0, h.1", self.hover("%1 = ", 1))
        self.assertIn("%x: f32[4,16,32]\n  in h.0, h.1", self.hover("@block(%x) [rate]", 8))
        self.assertIn("%labels: i32[4,16]\n", self.hover("%logits, %labels\n", 12))
        # While it is wrong, what was known stays.
        self.change(MODEL.replace("weft.add", "\n\n  weft.ad"))
        self.assertIn("%h: f32[4,16,32]\n", self.hover("%h = ", 1))
        # What can be inferred of what is wrong.
        self.change(MODEL.replace("weft.minimize %loss", "weft.minimize %logits").replace("hidden = 32", "hidden = 64"))
        self.assertIn("%h: f32[4,16,64]\n", self.hover("%h = ", 1))

    def test_parameters(self):
        self.start()
        path = self.models + "/layers.mlir"
        with open(path, encoding="utf-8") as file:
            self.assertEqual(self.open(file.read(), path), [])
        shown = self.hover('%w = weft.parameter "weight" [hidden, 3, heads', 1)
        sections = {name: text for text, name in re.findall(r"```mlir\n(.*?)\n```\nas `(.*?)` has it", shown, re.S)}
        self.assertIn("gpt2/tiny.job", sections)
        self.assertEqual(sections["gpt2/tiny.job"], "%w: f32[64,3,4,16], in files [64,192], sbp(tensor = S(2))\n"
                         "  parameter h.0.attn.c_attn.weight, h.1.attn.c_attn.weight")

    def test_a_job_that_is_named(self):
        self.start("--job", self.models + "/own/tiny.job", "batch.micro=2", "model.set=hidden=8")
        self.open(MODEL)
        self.assertIn("%h: f32[2,16,8]\n", self.hover("%h = ", 1))

    def test_layouts(self):
        """On several ranks, of each value where it lies, as the compiler decides."""
        self.start("--job", self.models + "/own/tiny.job", "dist.data=2", "dist.tensor=2")
        self.open(MODEL)
        self.assertIn("%h: f32[4,16,32], lies data = S(0), tensor = B\n", self.hover("%h = ", 1))
        self.assertIn("%labels: i32[4,16], lies data = S(0), tensor = B\n", self.hover("%logits, %labels\n", 12))
        self.assertIn("%table: f32[256,32], lies data = B, tensor = S(0)\n", self.hover("%table = ", 1))
        path = self.models + "/layers.mlir"
        with open(path, encoding="utf-8") as file:
            self.open(file.read(), path)
        self.assertIn("%1: f32[4,16,128], lies data = S(0), tensor = S(2)\n  in h.0.mlp, h.1.mlp",
                      self.hover("%1 = weft.gelu", 1))

    def test_pages_and_heads(self):
        self.start()
        self.open(MODEL)
        self.assertIn("**weft.cross_entropy**: Cross entropy of logits and labels", self.hover("weft.cross_entropy", 3))
        self.assertIn("model.layer @mlp(%x) [hidden, inner, std = 0.02]", self.hover("@mlp", 2))
        self.assertIn("Two linear layers", self.hover("@mlp", 2))
        self.assertIn("model.config @blocks = 2", self.hover("repeat blocks", 9))
        self.assertIsNone(self.hover("// Adds", 3))

    def test_definitions(self):
        self.start()
        self.open(MODEL)
        self.assertEqual(self.definition("@mlp", 1), ("layers.mlir", "@mlp"))
        self.assertEqual(self.definition("@block(%x) [0.0]", 1), ("own.mlir", "@block"))
        self.assertEqual(self.definition("rate(rate)", 6), ("own.mlir", "rate"))
        self.assertEqual(self.definition("4 * hidden", 5), ("own.mlir", "@hidden"))
        self.assertEqual(self.definition("(%h, %table)", 6), ("own.mlir", "%table"))
        self.assertEqual(self.definition('"../layers.mlir"', 3)[0], "layers.mlir")
        found = self.ask("definition", "weft.add %x", 10)[0]["range"]["start"]
        self.assertEqual(found, self.position("@block(%x) [rate]", 7))
        self.assertEqual(self.ask("definition", "// Adds", 3), [])
        # A layer of an import with names of its own.
        self.change(MODEL.replace('"../layers.mlir"', '"../layers.mlir" as "base"').replace("@mlp", "@base.mlp"))
        self.assertEqual(self.definition("@base.mlp", 3), ("layers.mlir", "@mlp"))

    def test_completion(self):
        self.start()
        self.open(MODEL)

        def typed(what, place="  model.return %2\n"):
            self.change(MODEL.replace(place, "  " + what + "\n" + place))
            return self.completion("  " + what + "\n", len(what) + 2)

        ops = typed("%3 = weft.la")
        self.assertEqual(ops, ["weft.layer_norm"])
        self.assertIn("weft.einsum", typed("%3 = "))
        self.assertNotIn("weft.gelu_grad", typed("%3 = weft."))
        self.assertNotIn("weft.adam", typed("%3 = weft."))
        self.assertEqual(typed("%3 = weft.add %"), ["%x", "%0", "%1", "%2"])
        self.assertEqual(typed("%3 = model.call @layer_n"), ["@layer_norm"])
        self.assertIn("@block", typed("%3 = model.call @"))
        numbers = typed("%3 = model.call @mlp (%x) [")
        for name in ("rate", "hidden", "vocab", "batch", "rsqrt"):
            self.assertIn(name, numbers)
        self.assertEqual(typed("%3 = model.call @mlp (%x) [hid"), ["hidden"])
        self.assertEqual(typed("%3 = weft.layer_norm %x, %x, %x "), ["eps"])
        self.assertIn("stored", typed('%3 = weft.parameter "w" [4] '))
        self.assertIn("tensor", typed('%3 = weft.parameter "w" [4] init(zeros) sbp('))
        self.assertEqual(typed("// weft."), [])
        item = self.ask("completion", "// weft.", 3)
        self.assertEqual(item["items"], [])

    def test_symbols_and_layout(self):
        self.start()
        self.open(MODEL.replace("  %2 = weft.add %x, %1", "\t%2=weft.add   %x,%1"))
        found = self.editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri(self.at)}})
        self.assertEqual([symbol["name"] for symbol in found],
                         ["@vocab", "@hidden", "@blocks", "@seq", "@block", "@train"])
        edits = self.editor.ask("textDocument/formatting", {
            "textDocument": {"uri": uri(self.at)}, "options": {"tabSize": 4, "insertSpaces": True}})
        self.assertEqual([edit["newText"] for edit in edits], [MODEL])
        self.change(MODEL)
        self.assertEqual(self.editor.ask("textDocument/formatting", {
            "textDocument": {"uri": uri(self.at)}, "options": {"tabSize": 4, "insertSpaces": True}}), [])

    def test_texts_that_are_not_saved(self):
        self.start()
        self.assertEqual(self.open(MODEL), [])
        path = self.models + "/layers.mlir"
        with open(path, encoding="utf-8") as file:
            layers = file.read()
        self.open(layers.replace("model.layer @mlp(", "model.layer @mlq("), path)
        self.text, self.at, self.version = MODEL, self.path, 1
        message, _, _ = self.only(self.change(MODEL + "\n"))
        self.assertIn("unknown layer @mlp", message)

    def test_letters_of_other_alphabets(self):
        self.start()
        text = MODEL.replace("// Adds to what it reads.", "// \U0001d465 + \u00fc(x)")
        self.assertEqual(self.open(text.replace("weft.add %x, %1", "weft.add %x, %1 // \U0001d465")), [])
        self.open(MODEL.replace('"wte" (', '"w\u00fc\U0001d465" ('))
        # Columns count UTF-16 units: the last letter of the scope has two.
        place = self.position("[vocab, hidden]", 2)
        place["character"] += 1
        found = self.editor.ask("textDocument/definition", {"textDocument": {"uri": uri(self.at)}, "position": place})
        self.assertEqual(found[0]["range"]["start"], self.position("@vocab"))

    def test_what_vs_code_says_besides(self):
        """Its client tells of settings and of files that changed on disk; it may ask for what this server has not."""
        self.start()
        self.assertEqual(self.open(MODEL), [])
        self.editor.send("$/setTrace", {"value": "off"})
        self.editor.send("workspace/didChangeConfiguration", {"settings": {"mlir": {"server_path": "weft-lsp"}}})
        self.editor.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(self.at), "type": 2}]})
        with self.assertRaisesRegex(RuntimeError, "-32601"):  # no such method
            self.editor.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri(self.at)}})
        self.assertIn("unknown op weft.ad", self.only(self.change(MODEL.replace("weft.add", "weft.ad")))[0])
        self.assertIsNone(self.editor.ask("shutdown", None))
        self.editor.send("exit", None)
        self.assertEqual(self.editor.process.wait(60), 0)

    def test_requests(self):
        for arguments, said in ((["--wrong"], "expected --job or key.path=value, got --wrong"),
                                (["--job"], "expected a job file, got none"),
                                (["batch.micro=2"], "expected --job"),
                                (["--job", self.folder + "/none.job"], "none.job")):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)
        done = subprocess.run([PROGRAM], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
