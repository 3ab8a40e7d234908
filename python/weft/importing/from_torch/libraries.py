"""Code of libraries that torch.export cannot follow, and what stands in for it meanwhile."""

import contextlib
import sys
from unittest import mock

import torch

from ..graph import Failure


@contextlib.contextmanager
def followed():
    """A single number drawn at random, which the code asks about, is a Chance. transformers makes masks by torch.vmap over places; here its functions get all places at once, and repeat what they
    give. A mask that is the same for every row keeps an extent of 1."""
    with contextlib.ExitStack() as stack:
        rand = torch.rand
        stack.enter_context(mock.patch.object(
            torch, "rand", lambda *size, **named: Chance() if size in (([],), ((),)) else rand(*size, **named)))
        masking = sys.modules.get("transformers.masking_utils")
        if hasattr(masking, "_vmap_for_bhqkv"):
            stack.enter_context(mock.patch.object(masking, "_vmap_for_bhqkv", of_all_places))
        mixtral = sys.modules.get("transformers.models.mixtral.modeling_mixtral")
        if mixtral is not None:
            stack.enter_context(mock.patch.object(mixtral.MixtralSparseMoeBlock, "forward", every_expert))
        yield


def every_expert(self, hidden_states):
    """Mixtral's block, which asks which experts have tokens: here each computes all, with the weight 0 for those that did not
    choose it. The same numbers, for the work of all experts."""
    if self.training and self.jitter_noise > 0:
        raise Failure("router_jitter_noise: expected 0, found %s" % self.jitter_noise)
    logits = self.gate(hidden_states)
    weights, chosen = torch.topk(torch.softmax(logits, -1), self.top_k, dim=-1)
    weights = weights / weights.sum(-1, keepdim=True)
    parts = [expert(hidden_states) * (weights * (chosen == i)).sum(-1, keepdim=True) for i, expert in enumerate(self.experts)]
    return sum(parts), logits.reshape(-1, logits.shape[-1])


class Chance:
    """Of a layer that is left out: never, where the rate is 0."""

    def __lt__(self, rate):
        if rate != 0:
            raise Failure("layers left out at random, with the rate %s: expected a rate of 0 (layerdrop), as what a step computes "
                          "is known when it is compiled" % rate)
        return False


def of_all_places(function, bh_indices=True):
    def mask(batch, head, row, key):
        if not bh_indices:
            return function(batch, head, row[:, None], key[None])
        return function(batch[:, None, None, None], head[None, :, None, None], row[None, None, :, None],
                        key[None, None, None])
    return mask
