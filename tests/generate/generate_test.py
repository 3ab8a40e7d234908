#!/usr/bin/env python3
"""Text that is generated: the tokens of transformers and of the function without caches, whatever the layout."""
import json
import os
import re
import struct
import sys

sys.path.insert(0, "tests/faults")
from faults import FaultTest  # noqa: E402
from programs import JOB, WEIGHTS, call, contents, corpus, main, read_safetensors, write_safetensors  # noqa: E402

FOLDERS, MODULES = "tests/hugging_face/", "tests/torch_modules/"
LAYOUTS = ((), ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",), ("dist.context=2",),
           ("dist.data=2", "dist.pipeline=2", "dist.tensor=2"))
# Further ones of models that have experts.
EXPERTS = {"mixtral": (("dist.expert=2",), ("dist.data=2", "dist.expert=2", "dist.pipeline=2"))}
SEQUENCE, VOCAB = 64, 256

# Of a file of tests/torch_modules: tokens, what is made of them, and the logits that losses are made of.
LOGITS = re.compile(r"model\.graph @train\((%\w+ \[batch, 16\] i32).*?\{\n(.*?)\n[^\n]* = weft\.cross_entropy (%\w+),", re.S)
# How far each key lies before each query, [1, 1, seq, seq].
DISTANCE = """
              %at = weft.iota [1, 1, seq, 1] dim(2)
              %key = weft.iota [1, 1, 1, seq] dim(3)
              %distance = weft.sub %at, %key"""

# A package `tokenizers` whose tokens are the words of a list.
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
        return len(self.words)

    def encode(self, text):
        return Encoding([self.words.index(word) for word in text.split()])

    def decode(self, ids):
        return " ".join(self.words[i] for i in ids)
"""


def references(folder):
    with open("tests/generate/references.json", encoding="utf-8") as file:
        return json.load(file)[folder].items()


def lists(text):
    return [[int(word) for word in line.split(",")] for line in text.splitlines()]


def ids(prompts):
    return ";".join(",".join(map(str, prompt)) for prompt in prompts)


class GenerateTest(FaultTest):
    def imported(self, name):
        job = self.path(name + ".job")
        self.run_ok("weft-import", FOLDERS + name, "-o", job, "--models", "models", "--seq", 32, "--quiet")
        return job

    def tokens(self, job, *arguments, prompts, count=20, init=WEIGHTS):
        return lists(self.run_ok("weft-generate", job, *arguments, "--init", init, "--prompt-ids", ids(prompts),
                                 "--tokens", count, "--end", "none", "--quiet").out)

    # --- the likeliest tokens

    def test_transformers_says_the_same_in_all_layouts(self):
        for name, cases in references("hugging_face"):
            job, prompts = self.imported(name), [case["prompt"] for case in cases]
            expected = [case["answer"] for case in cases]
            for layout in LAYOUTS + EXPERTS.get(name, ()):
                for chunk in (128, 3):  # the whole prompt, and several pieces of it
                    found = self.tokens(job, *layout, "--chunk", chunk, prompts=prompts, init=FOLDERS + name)
                    self.assertEqual(found, expected, (name, layout, chunk))
            one = [self.tokens(job, prompts=[prompt], init=FOLDERS + name)[0] for prompt in prompts]
            self.assertEqual(one, expected, "a sequence alone")

    def with_logits(self, name):
        """The key of an imported module that has, beside its training, the function whose result its losses are made of."""
        path = os.path.abspath(MODULES + name + ".mlir")
        head, lines, result = LOGITS.search(contents(path).decode()).groups()
        return "model.file=" + self.write(name + ".mlir", f"""
            model.import "{path}"
            model.graph @logits({head}) {{
            {lines}
              weft.output "logits" {result}
            }}""")

    def test_imported_modules_say_what_transformers_says(self):
        for name, cases in references("torch_modules"):
            key, prompts = self.with_logits(name), [case["prompt"] for case in cases]
            for layout in ((), ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",)):
                for chunk in (128, 3):
                    found = self.tokens(MODULES + name + ".job", key, *layout, "--chunk", chunk, prompts=prompts, count=9,
                                        init=MODULES + name + ".safetensors")
                    self.assertEqual(found, [case["answer"] for case in cases], (name, layout, chunk))

    def logits(self, sequences, job, *overrides, init):
        """Of each sequence and place the logits of the next token, by the function without caches."""
        rows = [tokens + [0] * (SEQUENCE - len(tokens)) for tokens in sequences]
        inputs, outputs = self.path("tokens.safetensors"), self.path("logits.safetensors")
        write_safetensors(inputs, {"tokens": ("I32", [len(rows), SEQUENCE],
                                              struct.pack(f"<{len(rows) * SEQUENCE}i", *sum(rows, [])))})
        plan = self.plan("model.graph=logits", f"batch.global={len(rows)}", f"batch.micro={len(rows)}", *overrides, job=job)
        self.run_ok("weft-run", plan, "--init", init, "--inputs", inputs, "--outputs", outputs, "--quiet")
        values = read_safetensors(outputs)[0]["logits"].values
        places = [values[i:i + VOCAB] for i in range(0, len(values), VOCAB)]
        return [places[i:i + SEQUENCE] for i in range(0, len(places), SEQUENCE)]

    def likeliest(self, sequences, job, *overrides, init):
        return [[max(range(VOCAB), key=lambda v, place=place: place[v]) for place in row]
                for row in self.logits(sequences, job, *overrides, init=init)]

    def agrees_with_whole_sequences(self, job, *overrides, init=WEIGHTS):
        # As many as two ranks of `data` or `expert` share evenly.
        prompts = [list(b"In the beginning God"), list(b"And"), list(b"a"), list(b"the heaven and the earth")]
        answers = self.tokens(job, *overrides, prompts=prompts, count=40, init=init)
        sequences = [prompt + answer for prompt, answer in zip(prompts, answers)]
        best = self.likeliest(sequences, job, *overrides, init=init)
        for prompt, answer, row in zip(prompts, answers, best):
            self.assertEqual(row[len(prompt) - 1:len(prompt) + 39], answer)
        return answers

    def test_caches_change_nothing(self):
        self.agrees_with_whole_sequences(JOB)

    def test_narrow_types(self):
        """What lies in memory in 16 bits; a token's products are summed in another order than those of a sequence."""
        prompts = [list(b"In the beginning God"), list(b"And")]
        for key, unit in (("precision.compute=BF16", 2**-8), ("precision.compute=F16", 2**-11)):
            answers = self.tokens(JOB, key, prompts=prompts, count=40)
            rows = self.logits([prompt + answer for prompt, answer in zip(prompts, answers)], JOB, key, init=WEIGHTS)
            for prompt, answer, row in zip(prompts, answers, rows):
                for token, place in zip(answer, row[len(prompt) - 1:]):
                    best = max(place)
                    # A few roundings of the activations before, each of half a unit.
                    self.assertGreaterEqual(place[token], best - 4 * unit * max(map(abs, place)), (key, token))

    def attending(self, name, how, before=""):
        """The key of a GPT-2 whose attention has something more."""
        root = os.path.abspath("models")
        return "model.file=" + self.write(name + ".mlir", f"""
            model.import "{root}/gpt2/gpt2.mlir"
            model.layer override @causal_attention(%x) [hidden, heads, std = 0.02] {{
              %q, %k, %v = model.call @query_key_value "c_attn" (%x) [hidden, heads]
              {before}
              %attended = weft.attention %q, %k, %v {how}
              %joined = model.call @join_heads "c_proj" (%attended) [hidden, heads, std]
              model.return %joined
            }}""")

    def test_a_window_is_kept(self):
        near = self.agrees_with_whole_sequences(JOB, self.attending("near", "causal window(5)"))
        self.assertNotEqual(near, self.agrees_with_whole_sequences(JOB), "the window makes a difference")
        # A mask of positions that says the same.
        mask = self.attending("mask", "mask(%seen) causal", DISTANCE + """
              %window = weft.fill [1, 1, 1, 1] value(5) to i32
              %seen = weft.less %distance, %window""")
        self.assertEqual(self.agrees_with_whole_sequences(JOB, mask), near)

    def test_a_bias_of_positions_is_added(self):
        # By the key alone, as ALiBi has it; and by distance, from a table, as T5 has it, for each head and for all.
        keys = self.attending("keys", "bias(%bias) causal", """
              %slopes = weft.constant [1, 4, 1, 1] values [0.5, 0.25, 0.125, 0.0625]
              %key = weft.iota [1, 1, 1, seq] dim(3) to f32
              %bias = weft.mul %slopes, %key""")
        table = DISTANCE + """
              %none = weft.fill [1, 1, 1, 1] value(0) to i32
              %most = weft.fill [1, 1, 1, 1] value(3) to i32
              %least = weft.maximum %distance, %none
              %bucket = weft.minimum %least, %most
              %buckets = weft.reshape %bucket [seq, seq]"""
        heads = self.attending("heads", "bias(%bias) causal", table + """
              %table = weft.constant [4, 4] values [3, 0, 1, -2, 0, 2, -3, 1, 1, -1, 2, 0, -2, 3, 0, 2]
              %rows = weft.take %table, %buckets dim(0)
              %turned = weft.transpose %rows [2, 0, 1]
              %bias = weft.reshape %turned [1, 4, seq, seq]""")
        same = self.attending("same", "bias(%bias) causal", table + """
              %table = weft.constant [4] values [3, 0, -1, 2]
              %rows = weft.take %table, %buckets dim(0)
              %bias = weft.reshape %rows [1, 1, seq, seq]""")
        without = self.agrees_with_whole_sequences(JOB)
        for key in (keys, heads, same):
            self.assertNotEqual(self.agrees_with_whole_sequences(JOB, key), without)
        two = ("dist.data=2", "dist.tensor=2", "dist.pipeline=2")
        self.assertEqual(self.agrees_with_whole_sequences(JOB, heads, *two), self.agrees_with_whole_sequences(JOB, heads))

    # --- mixtures of experts

    def test_a_mixture_that_drops_nothing(self):
        job = "models/mixtral/tiny.job"
        weights = self.path("experts")
        plan = self.plan(job=job)
        self.run_ok("weft-run", plan, "--data", self.write("text.txt", corpus(40)), "--steps", 5, "--checkpoint-dir", weights,
                    "--quiet")
        one = self.agrees_with_whole_sequences(job, init=weights)
        for layout in (("dist.expert=2",), ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",)):
            self.assertEqual(self.agrees_with_whole_sequences(job, *layout, init=weights), one, layout)

    # --- drawn tokens

    def test_draws_are_the_same_in_all_layouts(self):
        prompts = [list(b"In the beginning"), list(b"And")]
        drawn = ("--temperature", 1.2, "--top-k", 40, "--top-p", 0.95, "--seed", 5)
        one = self.tokens(JOB, *drawn, prompts=prompts)
        for layout in LAYOUTS[1:]:
            self.assertEqual(self.tokens(JOB, *layout, *drawn, prompts=prompts), one, layout)
        self.assertNotEqual(self.tokens(JOB, *drawn[:-1], 6, prompts=prompts), one)
        self.assertNotEqual(self.tokens(JOB, prompts=prompts), one)
        self.assertEqual(self.tokens(JOB, "--temperature", 1, "--top-k", 1, prompts=prompts), self.tokens(JOB, prompts=prompts))

    # --- text

    def test_bytes_need_no_tokenizer(self):
        prompt = "In the beginning"
        answer, = self.tokens(JOB, prompts=[list(prompt.encode())])
        result = self.run_ok("weft-generate", JOB, "--init", WEIGHTS, "--prompt", prompt, "--tokens", 20)
        self.assertEqual(result.out.encode("latin-1", "replace"), bytes(answer) + b"\n")
        self.assertIn("loaded 28 of 28 parameters", result.err)
        self.assertIn("caches of 64 tokens for 1 sequence, 64.0 KiB", result.err)
        self.assertIn("20 tokens; the first after ", result.err)
        prompts = self.write("prompts", prompt + "\nAnd\n")
        lines = self.run_ok("weft-generate", JOB, "dist.data=2", "--init", WEIGHTS, "--prompts", prompts, "--tokens", 20,
                            "--quiet").out.splitlines()
        self.assertEqual([json.loads(line)["prompt"] for line in lines], [prompt, "And"])
        self.assertEqual(json.loads(lines[0])["tokens"], answer)
        self.assertEqual(json.loads(lines[0])["answer"].encode(), bytes(answer))

    def test_an_end_token_ends(self):
        prompts = [list(b"In the beginning"), list(b"And")]
        first, second = self.tokens(JOB, prompts=prompts)
        end = first[3]
        found = lists(self.run_ok("weft-generate", JOB, "--init", WEIGHTS, "--prompt-ids", ids(prompts), "--tokens", 20,
                                  "--end", end, "--quiet").out)
        cut = [answer[:answer.index(end) + 1] if end in answer else answer for answer in (first, second)]
        self.assertEqual(found, cut)

    def tokenizer(self, words):
        """The path of a tokenizer of so many words."""
        for name, value in (("PYTHONPATH", self.folder), ("PYTHONDONTWRITEBYTECODE", "1")):
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        self.write("tokenizers.py", STAND_IN)
        return self.write("tokenizer.json", json.dumps(["w%d" % i for i in range(words)]))

    def test_a_tokenizer_is_asked(self):
        job, path = self.imported("gpt2"), self.tokenizer(509)
        prompt = [5, 17, 300]
        answer, = self.tokens(job, prompts=[prompt], init=FOLDERS + "gpt2")
        text = " ".join("w%d" % token for token in prompt)
        result = self.run_ok("weft-generate", job, "--init", FOLDERS + "gpt2", "--tokenizer", path, "--prompt", text,
                             "--tokens", 20, "--end", "none", "--quiet")
        self.assertEqual(result.out, "".join(" w%d" % token for token in answer) + "\n")

    # --- memory

    def test_caches_are_in_the_plan(self):
        metrics = self.path("metrics.json")
        self.run_ok("weft-generate", JOB, "dist.tensor=2", "--init", WEIGHTS, "--prompt-ids", "1,2;3", "--tokens", 2,
                    "--metrics", metrics, "--quiet")
        found = json.loads(contents(metrics))
        # Two layers, keys and values, two sequences of 64 tokens with 4 heads of 16 numbers.
        bytes_of_all = 2 * 2 * 2 * 64 * 4 * 16 * 4
        self.assertEqual((found["tokens"], found["cache_bytes"]), (4, bytes_of_all))
        function = ("model.graph=logits", "generate.chunk=1", "batch.global=2", "batch.micro=2", "dist.tensor=2")
        shown = self.run_ok("weft-plan", "show", self.plan(*function)).out
        self.assertRegex(shown, r"\n    cache +4  +64\.0 KiB +64\.0 KiB\n")
        shown = self.run_ok("weft-plan", "show", self.plan(*function, "precision.compute=BF16"), "--kernels").out
        self.assertRegex(shown, r"\n    cache +4  +32\.0 KiB +32\.0 KiB\n")
        self.assertRegex(shown, r"\n    h\.0\.mlp\.c_fc\.weight +bf16\[64,256\]")
        self.assertNotRegex(shown, r"\n +[0-9]+ cast \(")

    # --- what is refused

    def test_flags(self):
        for arguments, line in (
                ([], "expected a job (see --help)"),
                ([JOB, "--prompt", "a"], "--init: expected it or --checkpoint-dir, got neither (see --help)"),
                ([JOB, "--init", WEIGHTS], "--prompt: expected one of --prompt, --prompts and --prompt-ids, got none (see --help)"),
                ([JOB, "--init", WEIGHTS, "--prompt", "a", "--prompt-ids", "1"],
                 "--prompt: expected one of --prompt, --prompts and --prompt-ids, got several (see --help)"),
                ([JOB, "--init", WEIGHTS, "--prompt", "a", "--top-k", "4"],
                 "--temperature: expected one above 0 beside --top-k and --top-p, got 0, with which nothing is drawn (see --help)"),
                ([JOB, "--init", WEIGHTS, "--prompt", "a", "--top-p", "1.5"], "--top-p: expected at most 1, got 1.5 (see --help)"),
                ([JOB, "--init", WEIGHTS, "--prompt", "a", "--tokens", "some"],
                 "--tokens: expected a whole number of at least 0, got `some` (see --help)"),
                ([JOB, "more", "--init", WEIGHTS], "more: expected key.path=value behind the job (see --help)"),
                ([JOB, "--init", WEIGHTS, "--prompt-ids", "1,x"],
                 "--prompt-ids: expected whole numbers of at least 0 with a comma between, got `x`"),
                ([JOB, "--init", WEIGHTS, "--prompt", "a", "--end", "256"],
                 "--end: expected none or a token from 0 to 255, got `256`")):
            self.refused("weft-generate", *arguments, line=line)

    def test_prompts_that_do_not_fit(self):
        for arguments, line in (
                (("--prompt", "a" * 60, "--tokens", 5),
                 "prompt: expected at most 59 tokens, as --tokens 5 more have to fit caches of 64, got 60"),
                (("--prompt", ""), "prompt: expected at least 1 token, got none"),
                (("--prompt-ids", "1;2,300", "--tokens", 5), "prompt 2: expected tokens from 0 to 255, got 300")):
            self.refused("weft-generate", JOB, "--init", WEIGHTS, *arguments, line=line)
        self.assertEqual(len(self.tokens(JOB, prompts=[[7] * 59], count=5)[0]), 5, "what just fits")

    def test_a_tokenizer_of_another_vocabulary(self):
        path = self.tokenizer(509)
        self.refused("weft-generate", JOB, "--init", WEIGHTS, "--tokenizer", path, "--prompt", "w1", "--tokens", 5,
                     line=f"{path}: expected a tokenizer of the model's 256 tokens, or somewhat fewer, got one of 509")
        other = self.write("other.json", "{")
        self.refused("weft-generate", JOB, "--init", WEIGHTS, "--tokenizer", other, "--prompt", "w1",
                     says=[f"{other}: expected a tokenizer.json, got "])
        job = self.imported("llama")
        self.refused("weft-generate", job, "--init", FOLDERS + "llama", "--prompt", "w1", "--tokens", 5,
                     line="--tokenizer: expected a tokenizer.json, as the model has 509 tokens and "
                          "tests/hugging_face/llama/tokenizer.json is not there, got none")
        self.write("tokenizers.py", "raise ImportError('none')")
        self.refused("weft-generate", JOB, "--init", WEIGHTS, "--tokenizer", path, "--prompt", "w1",
                     says=[f"{path}: expected the Python package `tokenizers`, found none; pip install tokenizers"])

    def test_models_that_are_not_causal(self):
        for job, graph, error in (
                ("models/bert/tiny.job", "logits", "generate.chunk: expected a function of one input, i32 [batch, sequence]"),
                (JOB, "train", "generate.chunk: expected a function, got @train, which is trained"),
                (JOB, "none", "graph: expected train, evaluate, logits or train_packed, got none")):
            result = call("weft-generate", job, "--graph", graph, "--init", WEIGHTS, "--prompt-ids", "1", "--tokens", 5)
            self.assertEqual((result.status, result.out), (2, ""), result.err)
            self.assertIn(error, result.err)
            self.assertEqual(result.err.count("error: "), 1, result.err)

    def test_a_mixture_with_a_capacity(self):
        result = call("weft-generate", "models/mixtral/tiny.job", "model.file=capacity.mlir", "--init", WEIGHTS,
                      "--prompt-ids", "1", "--tokens", 5)
        self.assertEqual((result.status, result.out), (2, ""), result.err)
        self.assertIn("'weft.cumsum' op generate.chunk: expected an op that makes each row of a sequence of that row, or "
                      "causal attention, got one that needs rows of others too", result.err)


if __name__ == "__main__":
    main()
