"""Code of libraries that torch.export cannot follow, and what stands in for it meanwhile."""

import contextlib
import sys
from unittest import mock


@contextlib.contextmanager
def followed():
    """transformers makes masks by torch.vmap over places; here its functions get all places at once, and repeat what they
    give. A mask that is the same for every row keeps an extent of 1."""
    with contextlib.ExitStack() as stack:
        masking = sys.modules.get("transformers.masking_utils")
        if hasattr(masking, "_vmap_for_bhqkv"):
            stack.enter_context(mock.patch.object(masking, "_vmap_for_bhqkv", of_all_places))
        yield


def of_all_places(function, bh_indices=True):
    def mask(batch, head, row, key):
        if not bh_indices:
            return function(batch, head, row[:, None], key[None])
        return function(batch[:, None, None, None], head[None, :, None, None], row[None, None, :, None],
                        key[None, None, None])
    return mask
