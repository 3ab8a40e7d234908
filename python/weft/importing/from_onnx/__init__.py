"""Makes a model file, a job and weights of an ONNX file: see docs/howto/import_an_onnx_model.md."""
from typing import Any, Dict, Optional, Sequence


def from_onnx(path: str, loss: Optional[str] = None, sizes: Optional[Dict[str, int]] = None, constants: Sequence[str] = (),
              title: Sequence[str] = ()) -> Any:
    """What an ONNX file becomes: an Imported.

    Without a loss the graph `forward` gives the file's outputs. With `loss` the graph `train` minimizes it: "cross_entropy"
    of the first output, whose last dimension is the classes, and an input `labels`; or the name of an output that is the
    loss. `sizes` has numbers for names of dimensions, `constants` the names of weights that are not trained."""
    from ..imported import Imported
    from ..unify import SIZES
    from .lowering import Lowering
    from .model import Model
    from .operators import TABLE
    model = Model(path, sizes or {}, constants, loss)
    lowerings = [Lowering(model, size, TABLE) for size in SIZES]
    graph_name = "forward" if loss is None else "train"
    imported = Imported(lowerings, model.trainable, model.batch, graph_name, title)
    imported.constants = sorted(set(model.constants) & lowerings[0].read)
    return imported
