"""What tools/bert_records writes, read back."""

import array
import ast
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bert_records")
PAD, CLS, SEP, MASK = range(4)


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)


def read(path):
    """The header's text, and rows of numbers; of a field of one number, a row."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\0" and data[8:10] == (118).to_bytes(2, "little"), path
    header = data[10:128].decode()
    values = array.array("i", data[128:]) if "<i4" in header else array.array("B", data[128:])
    shape = ast.literal_eval(header)["shape"]
    width = shape[1] if len(shape) == 2 else shape[0]
    return header, [list(values[i:i + width]) for i in range(0, len(values), width)]


class BertRecordsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.text = os.path.join(self.folder, "text")
        # In each document each sentence is one letter, so that a segment says where it is from.
        with open(self.text, "w") as out:
            for document in range(40):
                for sentence in range(20):
                    out.write(chr(65 + sentence) * 3 + chr(97 + document % 26) * 12 + "\n")
                out.write("\n")

    def prepare(self, name, *arguments):
        out = os.path.join(self.folder, name)
        done = run(self.text, "-o", out, "--seq", "64", "--predictions", "9", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {field: read(os.path.join(out, field + ".npy"))[1]
                for field in ("tokens", "types", "mask", "labels", "next")}, done.stdout

    def test_records_are_pairs_with_as_many_words_to_be_guessed(self):
        fields, said = self.prepare("records")
        count = len(fields["tokens"])
        self.assertGreater(count, 100)
        self.assertIn("%d records of 64 tokens, 9 of them to be guessed" % count, said)
        following, hidden, changed, short = 0, 0, 0, 0
        for i in range(count):
            tokens, types, mask, labels = (fields[name][i] for name in ("tokens", "types", "mask", "labels"))
            length = sum(mask)
            short += length < 64
            self.assertEqual(mask, [1] * length + [0] * (64 - length))
            self.assertEqual(tokens[length:], [PAD] * (64 - length))
            guessed = [place for place in range(64) if labels[place] != -100]
            self.assertEqual(len(guessed), 9)
            words = [labels[p] if p in guessed else tokens[p] for p in range(length)]
            self.assertEqual((words[0], words[-1], words.count(SEP)), (CLS, SEP, 2))
            middle = words.index(SEP)
            self.assertEqual(types, [0] * (middle + 1) + [1] * (length - middle - 1) + [0] * (64 - length))
            hidden += sum(tokens[place] == MASK for place in guessed)
            changed += sum(tokens[place] not in (MASK, labels[place]) for place in guessed)
            # The documents of the segments, by their letters; where B follows A it is A's.
            a, b = (chr(max(word for word in part if word > 96)) if max(part) > 96 else None
                    for part in (words[1:middle], words[middle + 1:-1]))
            if fields["next"][0][i] == 0 and a and b:
                self.assertEqual(a, b)
                following += 1
        self.assertGreater(following, count / 4)
        self.assertLess(sum(fields["next"][0]), count)
        self.assertTrue(0.03 * count < short < 0.3 * count, short)
        self.assertTrue(0.75 < hidden / (9 * count) < 0.85, hidden)
        self.assertTrue(0.05 < changed / (9 * count) < 0.15, changed)

    def test_the_seed_alone_decides(self):
        self.assertEqual(self.prepare("a"), (self.prepare("a")))
        first, again, other = self.prepare("a")[0], self.prepare("b")[0], self.prepare("c", "--seed", "2")[0]
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_passes_have_other_masks(self):
        once, twice = self.prepare("a")[0], self.prepare("b", "--passes", "2")[0]
        count = len(once["tokens"])
        self.assertEqual(twice["tokens"][:count], once["tokens"])
        self.assertNotEqual(twice["labels"][count:2 * count], once["labels"])

    def test_what_is_wrong_is_said_and_nothing_written(self):
        out = os.path.join(self.folder, "out")
        strange, empty = os.path.join(self.folder, "strange"), os.path.join(self.folder, "empty")
        with open(strange, "w") as file:
            file.write("good\na\x02b\n")
        open(empty, "w").close()
        for arguments, status, message in (
                ((self.text,), 2, "expected TEXT and -o FOLDER"),
                ((self.text, "-o", out, "--seq", "16", "--predictions", "14"), 2,
                 "--predictions: expected at most the 13 words of a record, got 14"),
                ((self.text, "-o", out, "--seq", "many"), 2, "invalid int value: 'many'"),
                ((self.folder + "/none", "-o", out), 1, "No such file"),
                ((strange, "-o", out), 1, "strange:2: expected bytes from 4 on, got 2"),
                ((empty, "-o", out), 1, "expected two sentences or more"),
                ((self.text, "-o", out, "--tokenizer", empty), 1, "--tokenizer" if not TOKENIZERS else "tokenizer.json")):
            done = run(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertFalse(os.path.exists(out))


try:
    import tokenizers  # noqa: F401
    TOKENIZERS = True
except ImportError:
    TOKENIZERS = False

if __name__ == "__main__":
    unittest.main()
