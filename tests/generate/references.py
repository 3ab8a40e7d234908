"""Writes references.json with Hugging Face's transformers: see README.md."""
import json
import os
import sys

import torch
import transformers

MODELS = ("gpt2", "llama", "llama_tied", "mistral")
PROMPTS = ([5, 17, 300, 22, 401, 7, 8], [9, 8, 3], [460])
TOKENS = 20


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


def main():
    folders = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hugging_face")
    made = {}
    for name in MODELS:
        model = transformers.AutoModelForCausalLM.from_pretrained(os.path.join(folders, name), dtype=torch.float64).eval()
        made[name] = []
        for prompt in PROMPTS:
            answer, ahead = greedy(model, prompt, TOKENS)
            assert answer == generated(model, prompt, TOKENS)
            print(name, "ahead by %.2g" % ahead, file=sys.stderr)
            made[name].append({"prompt": prompt, "answer": answer})
    print(json.dumps(made))


if __name__ == "__main__":
    main()
