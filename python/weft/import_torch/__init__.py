"""Makes a model file, a job and weights of a PyTorch module: see docs/howto/import_a_pytorch_module.md."""

from .graph import Failure  # noqa: F401


def from_torch(module, example_inputs, loss=None, title=()):
    """What a module and its loss become: an Imported.

    `example_inputs` are tensors by their names, or in the order of forward's parameters and then of the loss's; the first
    dimension of each is the batch. `loss(output, ...)` gets what the module returns and the inputs that it names; without
    one the module returns its loss."""
    from .imported import Imported
    return Imported(module, example_inputs, loss, title)
