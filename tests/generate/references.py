"""Writes references.json with Hugging Face's transformers: see README.md."""
import json
import os
import sys

import torch
import transformers
from safetensors.torch import load_file

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TESTS, "torch_modules"))
import models  # noqa: E402

MODELS = ("gpt2", "llama", "llama_tied", "mistral", "mixtral")
PROMPTS = ([5, 17, 300, 22, 401, 7, 8], [9, 8, 3], [460])
TOKENS = 20
# Of tests/torch_modules, whose sequences have 16 tokens.
MODULES = ("bloom", "falcon", "gemma", "gpt2", "gpt_neox", "llama", "mistral", "mixtral", "olmo", "opt", "phi", "qwen2",
           "stablelm")
SHORT = ([5, 17, 30, 22, 41, 7, 8], [9, 8, 3], [46])
FEW = 9


def greedy(model, prompt, count):
    """Tokens, and by how much the likeliest was ahead at least: in float64, without a cache."""
    tokens, ahead = list(prompt), float("inf")
    for _ in range(count):
        with torch.no_grad():
            logits = model(torch.tensor([tokens])).logits[0, -1]
        first, second = logits.topk(2).values.tolist()
        ahead = min(ahead, first - second)
        tokens.append(int(logits.argmax()))
    return tokens[len(prompt):], ahead


def generated(model, prompt, count):
    """What transformers' own greedy search says."""
    ids = torch.tensor([prompt])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False,
                         eos_token_id=None, pad_token_id=0)
    return out[0, len(prompt):].tolist()


def cases(name, model, prompts, count):
    for prompt in prompts:
        answer, ahead = greedy(model, prompt, count)
        assert answer == generated(model, prompt, count)
        print(name, "ahead by %.2g" % ahead, file=sys.stderr)
        yield {"prompt": prompt, "answer": answer}


def module(name):
    made = getattr(models, name)()[0].double().eval()
    weights = load_file(os.path.join(TESTS, "torch_modules", name + ".safetensors"))
    left = made.load_state_dict({key: value.double() for key, value in weights.items()}, strict=False)
    assert not left.unexpected_keys, left
    made.tie_weights()
    return made


def main():
    made = {"hugging_face": {}, "torch_modules": {}}
    for name in MODELS:
        folder = os.path.join(TESTS, "hugging_face", name)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
        made["hugging_face"][name] = list(cases(name, model, PROMPTS, TOKENS))
    for name in MODULES:
        made["torch_modules"][name] = list(cases(name, module(name), SHORT, FEW))
    print(json.dumps(made))


if __name__ == "__main__":
    main()
