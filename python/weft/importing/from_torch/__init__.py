"""Makes a model file, a job and weights of a PyTorch module: see docs/howto/import_a_pytorch_module.md."""
from typing import Any, Sequence


def from_torch(module: Any, example_inputs: Any, loss: Any = None, title: Sequence[str] = ()) -> Any:
    """What a module and its loss become: an Imported.

    `example_inputs` are tensors by their names, or in the order of forward's parameters and then of the loss's; the first
    dimension of each is the batch. `loss(output, ...)` gets what the module returns and the inputs that it names; without
    one the module returns its loss."""
    from ..imported import Imported
    from .lowering import Lowering
    from .operators import TABLE
    from .trace import Trace, batch_of
    trace = Trace(module, example_inputs, loss, set(TABLE))
    return Imported([Lowering(trace, which, TABLE) for which in (0, 1)],
                    {trace.names["module." + name] for name in module.state_dict()}, batch_of(trace.inputs), "train", title)
