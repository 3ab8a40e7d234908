#!/usr/bin/env python3
"""PyTorch's side of the benches for Llama: training steps as torch_gpt2.py has them, and the same JSON object.

The model is that of models/llama/llama.mlir: RMS norms, rotary positions, grouped queries, gated MLPs, no biases, a head
of its own.
"""

from torch_gpt2 import arguments, report  # says so where there is no PyTorch

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, hidden, heads, kv_heads, inner):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        linear = lambda into, out: nn.Linear(into, out, bias=False)
        self.norm_1, self.norm_2 = nn.RMSNorm(hidden, eps=1e-5), nn.RMSNorm(hidden, eps=1e-5)
        self.q, self.k, self.v = (linear(hidden, n * self.size) for n in (heads, kv_heads, kv_heads))
        self.o = linear(heads * self.size, hidden)
        self.gate, self.up, self.down = linear(hidden, inner), linear(hidden, inner), linear(inner, hidden)

    def forward(self, x, turn):
        batch, seq, hidden = x.shape
        y = self.norm_1(x)
        split = lambda z, n: z.view(batch, seq, n, self.size).transpose(1, 2)
        q, k, v = turn(split(self.q(y), self.heads)), turn(split(self.k(y), self.kv_heads)), split(self.v(y), self.kv_heads)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, seq, hidden))
        y = self.norm_2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, layers, hidden, heads, kv_heads, inner, seq, vocab, theta=500000.0):
        super().__init__()
        self.tokens, self.head = nn.Embedding(vocab, hidden), nn.Linear(hidden, vocab, bias=False)
        self.blocks = nn.ModuleList(Block(hidden, heads, kv_heads, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(hidden, eps=1e-5)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)
        size = hidden // heads
        angles = torch.outer(torch.arange(seq), theta ** (-torch.arange(0, size, 2) / size)).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turn(self, x):
        left, right = x.chunk(2, dim=-1)
        return (x * self.cos + torch.cat((-right, left), dim=-1) * self.sin).to(x.dtype)

    def forward(self, tokens, labels):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x, self.turn)
        logits = self.head(self.norm(x))
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))


def main():
    options = arguments(__doc__, kv_heads=4, inner=2816)
    report(options, Llama(options.layers, options.hidden, options.heads, options.kv_heads, options.inner, options.seq,
                          options.vocab))


if __name__ == "__main__":
    main()
