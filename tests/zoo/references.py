"""Makes the references of tests/zoo with Hugging Face's transformers: see README.md there.

usage: references.py --tokens tests/oracle/tokens.bin --out tests/zoo [--models llama,...]
"""

import argparse
import os

import numpy
import torch
import transformers
from safetensors.torch import save_file

BATCH, SEQUENCE, STEPS = 4, 64, 10


def llama():
    """With fewer key heads, weights large enough for attention to matter, and positions stretched beyond 16 as Llama 3.1
    stretches them beyond 8192."""
    stretched = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                 "original_max_position_embeddings": 16}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=256, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=SEQUENCE, rms_norm_eps=1e-5, rope_theta=500000.0,
        rope_scaling=stretched, tie_word_embeddings=False, initializer_range=0.15, attn_implementation="eager"))


MODELS = {"llama": llama}


def batches(path):
    """(inputs, labels) of each step."""
    words = numpy.fromfile(path, dtype=numpy.uint16)[512:].astype(numpy.int64)  # behind llm.c's header
    for step in range(STEPS):
        at = step * BATCH * SEQUENCE
        window = torch.from_numpy(words[at:at + BATCH * SEQUENCE + 1])
        yield window[:-1].view(BATCH, SEQUENCE), window[1:].view(BATCH, SEQUENCE)


def train(model, path):
    """(loss, norm of the gradients) of each step."""
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    for inputs, labels in batches(path):
        optimizer.zero_grad()
        logits = model(input_ids=inputs).logits
        loss = torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.reshape(-1))
        loss.backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))
        yield loss.item(), norm.item()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    for name in options.models.split(","):
        torch.manual_seed(1)
        model = MODELS[name]()
        weights = {key: value.clone().contiguous() for key, value in model.state_dict().items()}
        save_file(weights, os.path.join(options.out, name + ".safetensors"))
        with open(os.path.join(options.out, name + "_losses.txt"), "w") as out:
            for step, (loss, norm) in enumerate(train(model.double(), options.tokens)):
                out.write("%d %.10f %.10f\n" % (step, loss, norm))


if __name__ == "__main__":
    main()
