"""Greedy tokens of random models beside transformers': see README.md.

usage: live.py WEFT

WEFT is the dispatcher `weft`, beside which its programs are. The models are too large for files here: a GPT-2 with the
vocabulary of the published one, a Llama with grouped queries, and a Mixtral of eight experts.
"""
import os
import subprocess
import sys
import tempfile

import torch
import transformers

PROMPTS = (list(range(1000, 1040)), [50, 7, 31000], [11])
TOKENS = 32
LAYOUTS = ((), ("dist.data=2", "dist.tensor=2"), ("dist.pipeline=2",), ("dist.tensor=4",))

MODELS = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50257, n_positions=128, n_embd=64, n_layer=4, n_head=4)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=32000, hidden_size=64, intermediate_size=160, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=2, max_position_embeddings=128, rms_norm_eps=1e-5)),
    "mixtral": lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(
        vocab_size=32000, hidden_size=64, intermediate_size=96, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=2, num_local_experts=8, max_position_embeddings=128, sliding_window=None)),
}


def answers(model):
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS, do_sample=False,
                             eos_token_id=None, pad_token_id=0)
        yield out[0, len(prompt):].tolist()


def main():
    weft, wrong = sys.argv[1], 0
    for name, make in MODELS.items():
        torch.manual_seed(1)
        model = make().eval()
        with torch.no_grad():  # so that what begins at one value matters, and tokens vary
            for parameter in model.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape))
        expected = list(answers(model))
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder + "/model")
            job = folder + "/a.job"
            subprocess.run([weft, "import", folder + "/model", "-o", job, "--seq", "128", "--quiet"], check=True)
            for layout in LAYOUTS:
                text = subprocess.run([weft, "generate", job, *layout, "--init", folder + "/model", "--prompt-ids",
                                       ";".join(",".join(map(str, prompt)) for prompt in PROMPTS), "--tokens", str(TOKENS),
                                       "--end", "none", "--quiet"], check=True, capture_output=True, text=True).stdout
                found = [[int(word) for word in line.split(",")] for line in text.splitlines()]
                same = sum(a == b for one, other in zip(found, expected) for a, b in zip(one, other))
                print("%s, %s: %d of %d tokens are the same, %d different ones" % (
                    name, " ".join(layout) or "one rank", same, len(PROMPTS) * TOKENS, len(set(sum(expected, [])))))
                wrong += found != expected
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
