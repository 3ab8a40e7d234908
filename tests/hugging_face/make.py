"""Makes the folders beside it with Hugging Face's transformers: see README.md.

usage: make.py [NAME ...]
"""
import os
import shutil
import sys

import torch
from safetensors.torch import save_file

import models

HERE = os.path.dirname(os.path.abspath(__file__))
SHARDED = ("llama", "mixtral")


def tokenizer():
    """Words 0 to 507 and the end of a text."""
    from tokenizers import Tokenizer, models as kinds, pre_tokenizers
    words = {str(i): i for i in range(models.VOCAB - 1)}
    made = Tokenizer(kinds.WordLevel({**words, "<|endoftext|>": models.VOCAB - 1}, unk_token="<|endoftext|>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def main():
    for name in sys.argv[1:] or models.MODELS:
        torch.manual_seed(1)
        folder = os.path.join(HERE, name)
        shutil.rmtree(folder, ignore_errors=True)
        model = models.MODELS[name]()
        with torch.no_grad():  # so that what begins at one value matters
            for parameter in model.parameters():
                noise = 0.1 * torch.randn(parameter.shape)
                if parameter.requires_grad:  # MAE's tables of positions stay what they are
                    parameter.add_(noise)
        model.save_pretrained(folder, max_shard_size="20KB" if name in SHARDED else "1GB")
        if name == "gpt2":
            tokenizer().save(os.path.join(folder, "tokenizer.json"))
        inputs = models.inputs_of(name, model)
        save_file(inputs, os.path.join(folder, "inputs.safetensors"))
        outputs = {key: value.float().contiguous() for key, value in models.outputs_of(model, inputs).items()}
        save_file(outputs, os.path.join(folder, "outputs.safetensors"))
        print(name, ", ".join("%s %s about %.2f" % (key, list(value.shape), value.abs().mean())
                              for key, value in outputs.items()))


if __name__ == "__main__":
    main()
