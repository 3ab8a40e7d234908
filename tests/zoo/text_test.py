#!/usr/bin/env python3
"""The tiny jobs of text on the King James Bible: the same losses in every layout, which fall."""
import subprocess
import sys

sys.path.insert(0, "tests/zoo")
from real_data import RealDataTest  # noqa: E402
from programs import main, metrics, relative  # noqa: E402


class TextTest(RealDataTest):
    def corpus(self):
        subprocess.run(["tools/corpus", self.path("corpus.txt")], check=True)
        return self.path("corpus.txt")

    def records(self):
        """Of masked words, from the first verses."""
        with open(self.corpus(), encoding="utf-8") as file:
            verses = [next(file) for _ in range(3000)]
        text = self.write("verses.txt", "".join(verses))
        subprocess.run(["tools/bert_records", text, "-o", self.path("records")], check=True, stdout=subprocess.DEVNULL)
        return self.path("records")

    def test_gpt2(self):
        self.expect_layouts_agree("gpt2", self.corpus())

    def test_llama(self):
        self.expect_layouts_agree("llama", self.corpus())

    def test_mixtral(self):
        # What a micro-batch's experts should be alike in is counted there.
        self.expect_layouts_agree("mixtral", self.corpus(), micro_batches_count=True)

    def test_bert(self):
        self.expect_layouts_agree("bert", self.records())

    def test_berts_masked_loss_falls_as_that_of_transformers(self):
        path = self.path("losses.jsonl")
        plan = self.plan("model.set=dropout=0.0", "data.order=SEQUENTIAL",
                         "optimizer={adamw { lr: 1e-3 beta1: 0.9 beta2: 0.999 eps: 1e-8 weight_decay: 0.1 }}",
                         job="models/bert/tiny.job")
        with open("tests/zoo/bert_text_losses.txt", encoding="utf-8") as file:
            wanted = [float(line.split()[1]) for line in file]
        self.train(plan, len(wanted), "--metrics", path, "--init", "tests/zoo/bert_text.safetensors", data=self.records())
        found = [line["masked_loss"] for line in metrics(path)]
        self.assertEqual(len(found), len(wanted))
        for step, (a, b) in enumerate(zip(found, wanted)):
            self.assertLess(relative(a, b), 1e-4, step)
        self.assertLess(found[-1], 0.6 * found[0])

    def test_roberta(self):
        self.expect_layouts_agree("roberta", self.records())

    def test_t5(self):
        self.expect_layouts_agree("t5", self.records())


if __name__ == "__main__":
    main()
