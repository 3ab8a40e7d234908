#!/usr/bin/env python3
"""OneFlow's side of the benches: GPT-2 training steps in float32 on a CPU.

The model and the work are those of torch_gpt2.py. `nn.Graph` compiles the step, `--eager` runs it op by op. OneFlow has no attention of
one kernel on a CPU: scores are masked, and a softmax follows. Gradients are clipped by its optimizer.

OneFlow 0.9.0, the last release, is a wheel for Python 3.10 and older that needs libraries of CUDA 11 even on a CPU:

    python3.10 -m venv oneflow && oneflow/bin/pip install oneflow==0.9.0 numpy==1.26.4 nvidia-cudnn-cu11==8.9.5.30 nvidia-cublas-cu11

Prints one JSON object: `tokens_s` is of the median step.
"""

import argparse
import ctypes
import glob
import json
import math
import os
import statistics
import sys
import time

for folder in sys.path:
    for library in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "lib*.so.*"))):
        try:
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            pass  # the import says what is missing

try:
    import oneflow as flow
    from oneflow import nn
    from oneflow.nn import functional
except ImportError as error:
    sys.exit("oneflow_gpt2: expected OneFlow, got: %s" % error)


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.fc, self.proj = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x, hidden_pairs):
        batch, seq, hidden = x.shape
        size = hidden // self.heads
        qkv = self.qkv(self.ln_1(x)).reshape(batch, seq, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        scores = flow.matmul(qkv[0], qkv[1].transpose(2, 3)) * (1 / math.sqrt(size))
        mixed = flow.matmul(flow.softmax(scores.masked_fill(hidden_pairs, -1e9), dim=-1), qkv[2])
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, seq, hidden))
        return x + self.proj(functional.gelu(self.fc(self.ln_2(x))))


class Gpt2(nn.Module):
    def __init__(self, layers, hidden, heads, seq, vocab):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(seq, hidden)
        self.blocks = nn.ModuleList([Block(hidden, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(hidden)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                scale = 1 / math.sqrt(2 * layers) if name.endswith(("out.weight", "proj.weight")) else 1
                nn.init.normal_(weight, std=0.02 * scale)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
        self.register_buffer("hidden_pairs", flow.triu(flow.ones(seq, seq), diagonal=1).to(flow.bool))
        self.register_buffer("places", flow.arange(seq))

    def forward(self, tokens, labels):
        x = self.tokens(tokens) + self.positions(self.places)
        for block in self.blocks:
            x = block(x, self.hidden_pairs)
        logits = flow.matmul(self.norm(x), self.tokens.weight, transpose_b=True)
        return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


class Step(nn.Graph):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model = model
        self.add_optimizer(optimizer)

    def build(self, tokens, labels):
        loss = self.model(tokens, labels)
        loss.backward()
        return loss


def train(options, model):
    optimizer = flow.optim.AdamW([{"params": list(model.parameters()), "clip_grad_max_norm": 1.0, "clip_grad_norm_type": 2.0}],
                                 lr=3e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    tokens, labels = (flow.randint(0, options.vocab, (options.batch, options.seq)) for _ in range(2))
    compiled = None if options.eager else Step(model, optimizer)
    seconds, losses = [], []
    for step in range(options.warmup + options.steps):
        begin = time.perf_counter()
        if compiled is not None:
            loss = compiled(tokens, labels)
        else:
            loss = model(tokens, labels)
            loss.backward()
            optimizer.clip_grad()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        losses.append(loss.numpy().item())  # waits for the step
        if step >= options.warmup:
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds), losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("layers", 6), ("hidden", 384), ("heads", 6), ("seq", 256), ("vocab", 256), ("batch", 4), ("steps", 10),
                        ("warmup", 2), ("threads", 1)):
        parser.add_argument("--" + name, type=int, default=value, help="default %(default)s")
    parser.add_argument("--eager", action="store_true", help="without nn.Graph")
    options = parser.parse_args()
    flow.set_num_threads(options.threads)
    flow.manual_seed(1)
    model = Gpt2(options.layers, options.hidden, options.heads, options.seq, options.vocab)
    step_s, losses = train(options, model)
    print(json.dumps({"oneflow": flow.__version__, "tokens_s": options.batch * options.seq / step_s, "step_s": step_s,
                      "first_loss": losses[0], "last_loss": losses[-1]}))


if __name__ == "__main__":
    main()
