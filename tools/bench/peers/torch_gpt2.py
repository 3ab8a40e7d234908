#!/usr/bin/env python3
"""PyTorch's side of the benches: GPT-2 training steps, as its own guides say to make them fast.

torch.compile, scaled_dot_product_attention, fused AdamW, bfloat16 autocast over float32 parameters (or all in float32),
gradients clipped by their global norm. The model is that of models/gpt2/gpt2.mlir without dropout: learned positions, pre-norm blocks,
GELU by tanh, a head tied to the token table. Tokens are random: their values do not change the work.

Prints one JSON object. `tokens_s` is of the median step. `matrix_flops_s` is that of an n x n x n product of the same
element type, measured before and after the steps. `model_flops_share` divides by it the FLOP/s of 6 N a token and of the attention,
12 layers hidden seq / 2 a token as half of the pairs are masked (Narayanan et al., "Efficient Large-Scale Language
Model Training on GPU Clusters", 2021, section 5.1, without recomputation).
"""

import argparse
import json
import math
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    sys.exit("torch_gpt2: expected PyTorch, got: %s" % error)


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.fc, self.proj = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        batch, seq, hidden = x.shape
        q, k, v = self.qkv(self.ln_1(x)).view(batch, seq, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, seq, hidden))
        return x + self.proj(functional.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, hidden, heads, seq, vocab):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(seq, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                scale = 1 / math.sqrt(2 * layers) if name.endswith(("out.weight", "proj.weight")) else 1
                nn.init.normal_(weight, std=0.02 * scale)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, tokens, labels):
        x = self.tokens(tokens) + self.positions.weight
        for block in self.blocks:
            x = block(x)
        logits = functional.linear(self.norm(x), self.tokens.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def matrix_rate(device, n, dtype):
    """FLOP/s of the fastest of several n x n x n products."""
    a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))
    best = math.inf
    for _ in range(12):
        synchronize(device)
        begin = time.perf_counter()
        a @ b
        synchronize(device)
        best = min(best, time.perf_counter() - begin)
    return 2 * n ** 3 / best


def train(options, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1,
                                  fused=True)
    step_model = model if options.eager else torch.compile(model, mode=options.mode)
    shape = (options.batch, options.seq)
    tokens, labels = (torch.randint(options.vocab, shape, device=options.device) for _ in range(2))
    seconds, losses = [], []
    for step in range(options.warmup + options.steps):
        synchronize(options.device)
        begin = time.perf_counter()
        for _ in range(options.micro_batches):
            with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.precision == "bfloat16"):
                loss = step_model(tokens, labels) / options.micro_batches
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        synchronize(options.device)
        if step >= options.warmup:
            seconds.append(time.perf_counter() - begin)
        losses.append(loss.item() * options.micro_batches)
    return statistics.median(seconds), losses, sum(it.numel() for it in model.parameters())


def arguments(doc, **others):
    """The options of a model's program; `others` are sizes that it has beside GPT-2's, with their defaults."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("layers", 24), ("hidden", 1024), ("heads", 16), ("seq", 1024), ("vocab", 50304), ("batch", 6),
                        ("micro-batches", 1), ("steps", 20), ("warmup", 10), ("matrix", 8192), *others.items()):
        parser.add_argument("--" + name, type=int, default=value, help="default %(default)s")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--mode", default="default", help="of torch.compile: default, max-autotune, ...")
    parser.add_argument("--precision", choices=["bfloat16", "float32"], default="bfloat16", help="default %(default)s")
    parser.add_argument("--threads", type=int, help="of the CPU; default: as PyTorch likes")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("%s: expected a GPU, got none; --device=cpu runs without one" % parser.prog)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    return options


def report(options, model):
    """Trains, and prints the JSON object."""
    dtype = getattr(torch, options.precision)
    before = matrix_rate(options.device, options.matrix, dtype)
    step_s, losses, parameters = train(options, model.to(options.device))
    matrix = max(before, matrix_rate(options.device, options.matrix, dtype))
    tokens = options.batch * options.micro_batches * options.seq
    flops = tokens * (6 * parameters + 6 * options.layers * options.hidden * options.seq)
    print(json.dumps({
        "torch": torch.__version__, "parameters": parameters, "tokens_s": tokens / step_s, "step_s": step_s,
        "model_flops_share": flops / step_s / matrix, "matrix_flops_s": matrix,
        "peak_bytes": torch.cuda.max_memory_allocated() if options.device == "cuda" else None,
        "first_loss": losses[0], "last_loss": losses[-1]}))


def main():
    options = arguments(__doc__)
    report(options, Gpt2(options.layers, options.hidden, options.heads, options.seq, options.vocab))


if __name__ == "__main__":
    main()
