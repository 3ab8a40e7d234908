"""What tools/tokenize writes, read back."""

import gzip
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenize")

# A package `tokenizers` whose tokens are the words of a list: enough to see what the tool asks of it.
STAND_IN = """
import json

class Encoding:
    def __init__(self, ids):
        self.ids = ids

class Tokenizer:
    @staticmethod
    def from_file(path):
        made = Tokenizer()
        made.words = json.load(open(path))
        return made

    def get_vocab_size(self):
        return max(self.words.values()) + 1

    def token_to_id(self, token):
        return self.words.get(token)

    def encode(self, text, add_special_tokens):
        assert not add_special_tokens
        return Encoding([self.words[word] for word in text.split()])
"""


def read(name):
    """(width of a token, documents) of NAME.bin and NAME.idx, by the form's description."""
    with open(name + ".idx", "rb") as file:
        index = file.read()
    with open(name + ".bin", "rb") as file:
        data = file.read()
    assert index[:9] == b"MMIDIDX\0\0", index[:9]
    version, kind, sequences, bounds = struct.unpack("<QBQQ", index[9:34])
    assert version == 1 and len(index) == 34 + 12 * sequences + 8 * bounds, (version, len(index))
    lengths = struct.unpack("<%di" % sequences, index[34:34 + 4 * sequences])
    places = struct.unpack("<%dq" % sequences, index[34 + 4 * sequences:34 + 12 * sequences])
    assert struct.unpack("<%dq" % bounds, index[34 + 12 * sequences:]) == tuple(range(sequences + 1))
    letter, width = {8: ("H", 2), 4: ("i", 4)}[kind]
    documents = [list(struct.unpack("<%d%s" % (n, letter), data[at:at + n * width])) for n, at in zip(lengths, places)]
    assert sum(lengths) * width == len(data)
    return width, documents


class TokenizeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out", "set")
        os.mkdir(os.path.dirname(self.out))

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def run_tool(self, *arguments, stdin=b"", env=None):
        return subprocess.run([sys.executable, TOOL, *arguments], input=stdin, capture_output=True,
                              env=dict(os.environ, **(env or {})))

    def tokenize(self, *arguments, **kwargs):
        done = self.run_tool(*arguments, "-o", self.out, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (*read(self.out), done.stdout.decode())

    def texts(self, *arguments, **kwargs):
        width, documents, _ = self.tokenize(*arguments, **kwargs)
        self.assertEqual(width, 2)
        return [bytes(document).decode() for document in documents]

    def test_documents_of_a_text_end_where_it_is_said(self):
        a, b = self.path("a.txt", "one\ntwo\n\n \n\nthree \u00e4\n"), self.path("b.txt", "four\n\n")
        self.assertEqual(self.texts(a, b), ["one\ntwo", "three \u00e4", "four"])
        self.assertEqual(self.texts(a, b, "--documents", "line"), ["one", "two", " ", "three \u00e4", "four"])
        self.assertEqual(self.texts(a, b, "--documents", "file"), ["one\ntwo\n\n \n\nthree \u00e4\n", "four\n\n"])

    def test_a_line_of_json_is_a_document(self):
        records = [{"text": "one\n\ntwo", "body": "x"}, {"text": "", "body": "y"}, {"text": "three", "body": "z"}]
        lines = "\n".join(map(json.dumps, records)) + "\n\n"
        path = self.path("a.jsonl", lines)
        self.assertEqual(self.texts(path), ["one\n\ntwo", "three"])
        self.assertEqual(self.texts(path, "--key", "body"), ["x", "y", "z"])
        self.assertEqual(self.texts("-", "--format", "jsonl", stdin=lines.encode()), ["one\n\ntwo", "three"])
        packed = self.path("b.jsonl.gz", gzip.compress(lines.encode()))
        self.assertEqual(self.texts(packed, path), ["one\n\ntwo", "three"] * 2)

    def test_the_end_of_a_document_is_a_token(self):
        path = self.path("a.txt", "ab\n\nc\n")
        self.assertEqual(self.tokenize(path, "--end", "256")[1], [[97, 98, 256], [99, 256]])
        width, documents, said = self.tokenize(path, "--end", "0")
        self.assertEqual(documents, [[97, 98, 0], [99, 0]])
        self.assertEqual(said, self.out + ".bin: 5 tokens in 2 documents, uint16, largest 99 of vocabulary 256; 0 ends a "
                                          "document\n")

    def test_the_tokens_do_not_depend_on_the_workers(self):
        # Over a mebibyte each, so that there are several parts; one document is larger than a part.
        lines = "\n\n".join("document %d %s" % (i, "word " * (i % 50)) for i in range(20000))
        files = [self.path("a.txt", lines), self.path("b.txt", "x" * (5 << 20))]
        made = []
        for workers in ("1", "3"):
            self.tokenize(*files, "--workers", workers)
            made.append(read(self.out))
        self.assertEqual(made[0], made[1])
        self.assertEqual(len(made[0][1]), 20001)

    def test_the_vocabulary_says_how_wide_a_token_is(self):
        env = {"PYTHONPATH": os.path.dirname(self.path("package/tokenizers.py", STAND_IN))}
        text = self.path("a.txt", "big small\n\nsmall")
        for largest, width in ((65535, 2), (65536, 4)):
            words = self.path("words.json", json.dumps({"small": 7, "big": largest, "<end>": 9}))
            found = self.tokenize(text, "--tokenizer", words, "--end", "<end>", env=env)
            self.assertEqual(found[:2], (width, [[largest, 7, 9], [7, 9]]))
        self.assertEqual(self.tokenize(text, "--tokenizer", words, "--end", "8", env=env)[1][1], [7, 8])
        done = self.run_tool(text, "-o", self.out, "--tokenizer", words, "--end", "<eos>", env=env)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (1, "tokenize: --end: expected one of the 65,537 tokens of %s, got <eos>\n" % words))

    def test_what_is_wrong_is_said_and_nothing_written(self):
        good, strange = self.path("good", "good\n"), self.path("strange", b"good\nb\xffd\n")
        empty, torn = self.path("empty", ""), self.path("torn.gz", gzip.compress(b"long enough" * 99)[:-9])
        lines = {name: self.path(name + ".jsonl", text) for name, text in (
            ("array", '{"text": "a"}\n[1]\n'), ("broken", '{"text": "a"\n'), ("number", '{"text": 1}\n'),
            ("other", '{"body": "a", "id": 1}\n'), ("half", '{"text": "\\ud800"}\n'))}
        out = ("-o", self.out)
        for arguments, status, message in (
                ((good,), 2, "expected FILE... and -o NAME; see --help"),
                ((good, *out, "--workers", "0"), 2, "--workers: expected 1 or more, got 0"),
                ((good, *out, "--train", "256"), 2, "--train: expected more than the 256 tokens of bytes, got 256"),
                ((good, *out, "--train", "300", "--tokenizer", good), 2, "expected --tokenizer or --train, got both"),
                (("-", *out, "--train", "300"), 2, "--train: expected files, which are read twice, got -"),
                ((good, *out, "--documents", "page"), 2, "invalid choice: 'page'"),
                ((good, *out, "--end", "257"), 1, "--end: expected a number from 0 to 256, as tokens are bytes, got 257"),
                ((good, *out, "--end", "111"), 1, "good:1: expected no byte 111, which --end puts behind documents"),
                ((self.folder + "/none", *out), 1, "No such file"),
                ((self.folder, *out), 1, "Is a directory"),
                ((good, "-o", self.folder + "/none/set"), 1, "-o: expected a name in a folder that is there"),
                ((empty, *out), 1, "empty: expected a document with a token, got none"),
                ((good, strange, *out), 1, "strange:2: expected UTF-8, got byte 255 at column 2"),
                ((torn, *out), 1, "torn.gz: expected a file that can be read, got "),
                ((lines["array"], *out), 1, "array.jsonl:2: expected a JSON object, got list"),
                ((lines["broken"], *out), 1, "broken.jsonl:1: expected a JSON object, got expecting ',' delimiter at"),
                ((lines["number"], *out), 1, "number.jsonl:1: `text`: expected a text, got int"),
                ((lines["other"], *out), 1, "other.jsonl:1: expected a field `text`, got body, id"),
                ((lines["half"], *out), 1, "half.jsonl:1: `text`: expected characters, got half of a surrogate pair")):
            done = self.run_tool(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, b""), (arguments, done.stderr))
            self.assertIn(message, done.stderr.decode())
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertEqual(os.listdir(os.path.dirname(self.out)), [])

    def test_a_tokenizer_that_is_not_there_is_said(self):
        env = {"PYTHONPATH": os.path.dirname(self.path("package/tokenizers.py", "raise ImportError('none')"))}
        text = self.path("a.txt", "word")
        for flag, value in (("--tokenizer", text), ("--train", "300")):
            done = self.run_tool(text, "-o", self.out, flag, value, env=env)
            self.assertEqual((done.returncode, done.stderr.decode()), (
                1, "tokenize: %s: expected the Python package `tokenizers`, found none; pip install tokenizers, in a "
                   "virtual environment (python3 -m venv), brings it\n" % flag))

    def test_an_interrupt_leaves_what_was_there(self):
        before = self.tokenize(self.path("a.txt", "before"))
        folder = os.path.dirname(self.out)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([sys.executable, TOOL, "-", "-o", self.out], stdin=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
            while len(os.listdir(folder)) < 3:  # it has begun
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(), status)
            process.stdin.close()
            self.assertEqual(sorted(os.listdir(folder)), ["set.bin", "set.idx"])
            self.assertEqual(read(self.out), before[:2])

    def test_a_terminal_sees_how_far_it_is(self):
        path = self.path("a.txt", "some words\n\n" * 300000)
        ours, theirs = pty.openpty()
        done = subprocess.run([sys.executable, TOOL, path, "-o", self.out], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        shown = os.read(ours, 1 << 16).decode()
        os.close(ours)
        self.assertRegex(shown, r"\r[0-9.]+ MB of 3\.6 MB \([0-9]+ %\), [0-9]+ s left, [0-9,]+ documents, [0-9,]+ tokens, ")


try:
    import tokenizers
    TOKENIZERS = True
except ImportError:
    TOKENIZERS = False


@unittest.skipUnless(TOKENIZERS, "needs the package tokenizers")
class TokenizersTest(TokenizeTest):
    """Everything again where the package is, and what needs it."""

    def test_a_trained_tokenizer_gives_the_texts_back(self):
        texts = ["the first document, \u00e4 \u4e2d", "the second\ndocument", "the third document of the three"] * 50
        path = self.path("a.jsonl", "\n".join(json.dumps({"text": text}) for text in texts))
        width, documents, said = self.tokenize(path, "--train", "280", "--end", "<eos>")
        self.assertIn("of vocabulary 280; 0 ends a document", said)
        trained = self.out + ".tokenizer.json"
        decoder = tokenizers.Tokenizer.from_file(trained)
        self.assertEqual([decoder.decode(ids[:-1]) for ids in documents], texts)
        self.assertEqual({ids[-1] for ids in documents}, {decoder.token_to_id("<eos>")})
        self.assertLess(max(map(len, documents)), max(len(text.encode()) for text in texts))
        again = self.tokenize(path, "--tokenizer", trained, "--end", "<eos>", "--workers", "3")
        self.assertEqual(again[:2], (width, documents))
        done = self.run_tool(path, "-o", self.out, "--tokenizer", path)
        self.assertIn("a.jsonl: expected a tokenizer.json, got ", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
