"""Small modules that are exported: each function returns a module, inputs for ten steps of four rows by name, and how it is
exported: "script" by TorchScript, as it evaluates; "old" likewise, for version 11 of ONNX's operators; "kept" likewise, with
batch norms as they are; "training" as it trains; "dynamo" by torch.export."""

import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torch_modules"))
import models as of_torch  # noqa: E402

ROWS = of_torch.ROWS


class Logits(torch.nn.Module):
    """What a module of transformers makes of inputs by position."""

    def __init__(self, module, *names):
        super().__init__()
        self.model, self.names = module, names
        module.config.use_cache = False
        module.config._attn_implementation = "eager"

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs))).logits


class Causal(Logits):
    """With a mask of its own: those that transformers makes TorchScript cannot follow."""

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = torch.full((1, 1, length, length), torch.finfo(torch.float32).min).triu(1)
        return self.model(input_ids=tokens, attention_mask=mask).logits


def of(made, *names, kind=Logits):
    """A module of transformers and those of its inputs that are not labels."""
    module, inputs, _ = made
    inputs = inputs if isinstance(inputs, dict) else dict(zip(names, inputs))
    return kind(module, *names), {name: inputs[name] for name in names}


def mlp():
    from torch.nn import GELU, LayerNorm, Linear, Sequential
    module = Sequential(Linear(16, 32), GELU(), LayerNorm(32), Linear(32, 32), GELU(approximate="tanh"), Linear(32, 10))
    return module, {"x": torch.randn(ROWS, 16)}, "script"


def mlp_old():
    return *mlp()[:2], "old"


def mlp_dynamo():
    return *mlp()[:2], "dynamo"


class Residual(torch.nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        from torch.nn import BatchNorm2d, Conv2d
        self.conv1 = Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = BatchNorm2d(out)
        self.conv2 = Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = BatchNorm2d(out)
        self.down = torch.nn.Sequential(Conv2d(channels, out, 1, stride, bias=False), BatchNorm2d(out)) if stride > 1 else None

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (x if self.down is None else self.down(x))).relu()


class ResNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        from torch.nn import BatchNorm2d, Conv2d, Linear, MaxPool2d, Sequential
        self.conv, self.bn, self.pool = Conv2d(3, 8, 3, 1, 1, bias=False), BatchNorm2d(8), MaxPool2d(3, 2, 1)
        self.stage1 = Sequential(Residual(8, 8, 1), Residual(8, 8, 1))
        self.stage2 = Sequential(Residual(8, 16, 2), Residual(16, 16, 1))
        self.head = Linear(16, 10)

    def forward(self, x):
        x = self.pool(self.bn(self.conv(x)).relu())
        return self.head(self.stage2(self.stage1(x)).mean((2, 3)))


def resnet():
    module = ResNet()
    for norm in module.modules():
        if isinstance(norm, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(norm.running_mean, 0, 0.1)
            torch.nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return module, {"x": of_torch.images()}, "kept"


def resnet_training():
    return *resnet()[:2], "training"


def gpt2():
    return *of(of_torch.gpt2(), "input_ids", kind=Causal), "script"


def gpt2_dynamo():
    return *of(of_torch.gpt2(), "input_ids", kind=Causal), "dynamo"


def encoder():
    """torch.nn.TransformerEncoder, whose layers begin as copies of one, and a head that is the embedding."""
    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(64, 32)
            layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = torch.nn.Linear(32, 64)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            return self.head(self.encoder(self.embedding(tokens)))
    return Encoder(), {"tokens": of_torch.tokens()}, "script"


def bert():
    return *of(of_torch.bert(), "input_ids", "attention_mask"), "script"


def vit():
    return *of(of_torch.vit(), "pixel_values"), "script"


def llama():
    return *of(of_torch.llama(), "input_ids", kind=Causal), "script"


def llama_dynamo():
    return *of(of_torch.llama(), "input_ids", kind=Causal), "dynamo"


def t5():
    import transformers
    module = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=64, d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
        relative_attention_max_distance=12, dropout_rate=0.0, decoder_start_token_id=0))
    seen = (torch.arange(16) < torch.randint(8, 17, (ROWS, 1))).long()
    inputs = {"input_ids": of_torch.tokens() * seen, "attention_mask": seen, "decoder_input_ids": of_torch.tokens(12)}
    return *of((module, inputs, None), *inputs), "script"
