"""Trains a tiny BERT with Hugging Face's transformers on text: the reference of text_test.py, see README.md.

usage: bert_text.py --records FOLDER --out tests/zoo

FOLDER is of tools/bert_records. Writes the initial weights, and the masked loss of every step before its update.
"""

import argparse
import os

import numpy
import torch
import transformers
from safetensors.torch import save_file

from references import Bert, train

BATCH, STEPS = 32, 60


class BertOnText(Bert):
    """Of the sizes of models/bert/tiny.job."""

    def __init__(self):
        self.masked = []  # the loss of each step

    def make(self):
        return transformers.BertForPreTraining(transformers.BertConfig(
            vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
            max_position_embeddings=128, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            attn_implementation="eager"))

    def batches(self, options):
        fields = {name: torch.from_numpy(numpy.load(os.path.join(options.records, name + ".npy")))
                  for name in ("tokens", "types", "mask", "labels", "next")}
        for step in range(STEPS):
            yield {key: field[step * BATCH:(step + 1) * BATCH] for key, field in fields.items()}

    def loss(self, model, batch):
        out = model(input_ids=batch["tokens"].long(), token_type_ids=batch["types"].long(),
                    attention_mask=batch["mask"].long(), labels=batch["labels"].long(),
                    next_sentence_label=batch["next"].long())
        logits = out.prediction_logits
        masked = torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), batch["labels"].long().view(-1))
        self.masked.append(masked.item())
        return out.loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    reference = BertOnText()
    model = reference.make()
    weights = {key: value.detach().clone().contiguous() for key, value in model.named_parameters()}
    save_file(weights, os.path.join(options.out, "bert_text.safetensors"))
    for _ in train(reference, model.double(), reference.batches(options)):
        pass
    with open(os.path.join(options.out, "bert_text_losses.txt"), "w", encoding="utf-8") as out:
        for step, loss in enumerate(reference.masked):
            out.write("%d %.10f\n" % (step, loss))


if __name__ == "__main__":
    main()
