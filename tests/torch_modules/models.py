"""Small modules to be imported: each function returns a module, inputs for ten steps of four rows, and a loss."""

import torch

ROWS = 40


def tokens(length=16, vocabulary=64, low=0):
    return torch.randint(low, vocabulary, (ROWS, length))


def of_classes(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels)


def of_words(output, labels):
    logits = output if isinstance(output, torch.Tensor) else output.logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def mlp():
    from torch.nn import Linear, ReLU, Sequential
    return (Sequential(Linear(16, 32), ReLU(), Linear(32, 10)), (torch.randn(ROWS, 16), torch.randint(0, 10, (ROWS,))),
            of_classes)


def gpt2():
    import transformers
    module = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=64, n_positions=24, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        initializer_range=0.15))
    return module, {"input_ids": tokens(), "labels": tokens()}, of_words


def llama():
    import transformers
    module = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.15, tie_word_embeddings=False))
    return module, {"input_ids": tokens(), "labels": tokens()}, of_words


def encoder():
    """torch.nn.TransformerEncoder on what an embedding gives."""
    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(64, 32)
            layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 2)
            self.head = torch.nn.Linear(32, 64)

        def forward(self, tokens):
            return self.head(self.encoder(self.embedding(tokens)))
    return Encoder(), (tokens(), tokens()), of_words


def bert():
    """With the loss of its own, and rows that are filled up."""
    import transformers
    module = transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=24, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.15))
    seen = (torch.arange(16) < torch.randint(8, 17, (ROWS, 1))).long()
    labels = tokens().masked_fill(torch.rand(ROWS, 16) > 0.3, -100)
    return module, {"input_ids": tokens(low=1) * seen, "attention_mask": seen, "labels": labels}, None


def causal(architecture, **numbers):
    """A decoder of transformers, with a loss of next words."""
    import transformers
    config = getattr(transformers, architecture.replace("ForCausalLM", "") + "Config")
    common = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                  max_position_embeddings=64, initializer_range=0.15)
    module = getattr(transformers, architecture)(config(**{**common, **numbers}))
    return module, {"input_ids": tokens(), "labels": tokens()}, of_words


def mistral():
    return causal("MistralForCausalLM", num_key_value_heads=2, sliding_window=6)


def qwen2():
    return causal("Qwen2ForCausalLM", num_key_value_heads=2, tie_word_embeddings=True)


def gemma():
    return causal("GemmaForCausalLM", num_key_value_heads=2, head_dim=8)


def olmo():
    return causal("OlmoForCausalLM", num_key_value_heads=4, clip_qkv=None)


def phi():
    return causal("PhiForCausalLM", num_key_value_heads=4, resid_pdrop=0.0, embd_pdrop=0.0)


def stablelm():
    return causal("StableLmForCausalLM", num_key_value_heads=2)


def gpt_neox():
    return causal("GPTNeoXForCausalLM")


def bloom():
    return causal("BloomForCausalLM", n_layer=2, n_head=4, hidden_dropout=0.0, attention_dropout=0.0)


def opt():
    return causal("OPTForCausalLM", ffn_dim=64, dropout=0.0, word_embed_proj_dim=32)


def falcon():
    return causal("FalconForCausalLM", new_decoder_architecture=False, multi_query=True)


def roberta():
    import transformers
    module = transformers.RobertaForMaskedLM(transformers.RobertaConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=24, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.15))
    seen = (torch.arange(16) < torch.randint(8, 17, (ROWS, 1))).long()
    labels = tokens().masked_fill(torch.rand(ROWS, 16) > 0.3, -100)
    return module, {"input_ids": tokens(low=2) * seen + (1 - seen), "attention_mask": seen, "labels": labels}, None


def t5():
    import transformers
    module = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=3, num_heads=4, relative_attention_num_buckets=8,
        relative_attention_max_distance=12, dropout_rate=0.0, decoder_start_token_id=0))
    seen = (torch.arange(16) < torch.randint(8, 17, (ROWS, 1))).long()
    return module, {"input_ids": tokens() * seen, "attention_mask": seen, "labels": tokens(12)}, None


def images(channels=3, size=16):
    return torch.randn(ROWS, channels, size, size)


def of_images(output, labels):
    logits = output if isinstance(output, torch.Tensor) else output.logits
    return torch.nn.functional.cross_entropy(logits, labels)


def vit():
    import transformers
    module = transformers.ViTForImageClassification(transformers.ViTConfig(
        image_size=16, patch_size=4, num_labels=10, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.15))
    return module, {"pixel_values": images(), "labels": torch.randint(0, 10, (ROWS,))}, of_images


def swin():
    import transformers
    module = transformers.SwinForImageClassification(transformers.SwinConfig(
        image_size=32, patch_size=2, num_channels=1, num_labels=10, embed_dim=8, depths=[2, 2], num_heads=[2, 4],
        window_size=4, drop_path_rate=0.0, initializer_range=0.15))
    return module, {"pixel_values": images(1, 32), "labels": torch.randint(0, 10, (ROWS,))}, of_images


def mixtral():
    return causal("MixtralForCausalLM", num_key_value_heads=2, num_local_experts=4, sliding_window=None)


def mixer():
    """MLP-Mixer (Tolstikhin et al., 2021)."""
    from torch.nn import GELU, LayerNorm, Linear, Sequential

    class Block(torch.nn.Module):
        def __init__(self, places, hidden):
            super().__init__()
            self.norm1, self.norm2 = LayerNorm(hidden), LayerNorm(hidden)
            self.places = Sequential(Linear(places, 24), GELU(), Linear(24, places))
            self.channels = Sequential(Linear(hidden, 48), GELU(), Linear(48, hidden))

        def forward(self, x):
            x = x + self.places(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    class Mixer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = torch.nn.Conv2d(3, 32, 4, 4)
            self.blocks = Sequential(*[Block(16, 32) for _ in range(2)])
            self.head = Linear(32, 10)

        def forward(self, images):
            return self.head(self.blocks(self.patches(images).flatten(2).transpose(1, 2)).mean(1))
    return Mixer(), (images(), torch.randint(0, 10, (ROWS,))), of_images


def resnet():
    """Two stages of residual blocks of 3 x 3 convolutions (He et al., 2016), with batch norms and running statistics."""
    from torch.nn import BatchNorm2d, Conv2d, Linear, MaxPool2d, ReLU, Sequential

    class Block(torch.nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.conv1, self.bn1 = Conv2d(channels, out, 3, stride, 1, bias=False), BatchNorm2d(out)
            self.conv2, self.bn2 = Conv2d(out, out, 3, 1, 1, bias=False), BatchNorm2d(out)
            self.shortcut = None if stride == 1 else Sequential(Conv2d(channels, out, 1, stride, bias=False), BatchNorm2d(out))

        def forward(self, x):
            y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))

    class ResNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = Sequential(Conv2d(3, 8, 3, 1, 1), BatchNorm2d(8), ReLU(), MaxPool2d(2))
            self.stages = Sequential(Block(8, 8, 1), Block(8, 8, 1), Block(8, 16, 2))
            self.head = Linear(16, 10)

        def forward(self, images):
            return self.head(torch.nn.functional.adaptive_avg_pool2d(self.stages(self.stem(images)), 1).flatten(1))
    return ResNet(), (images(), torch.randint(0, 10, (ROWS,))), of_images


class Many(torch.nn.Module):
    """Operators that no model here has."""

    def __init__(self):
        super().__init__()
        from torch.nn import Conv1d, Conv2d, GroupNorm
        self.grouped, self.depthwise = Conv2d(4, 8, 3, padding=1, groups=2), Conv2d(8, 8, 3, stride=2, groups=8)
        self.norm, self.line = GroupNorm(4, 8), Conv1d(8, 6, 3, padding=2, dilation=2)
        self.head = torch.nn.Linear(3, 3)
        self.a, self.b = (torch.nn.Parameter(torch.randn(6, 6)) for _ in range(2))

    def of_image(self, x):
        from torch.nn import functional as F
        x = self.norm(F.elu(self.grouped(x)))
        x = F.avg_pool2d(F.pad(x, (1, 0, 0, 1), value=0.5), 3, 1, 1, count_include_pad=False)
        x = F.softplus(self.depthwise(torch.roll(x, (2, -1), (2, 3)).flip(3)))
        return self.line(F.max_pool2d(x, 2).flatten(2))

    def of_rows(self, x):
        from torch.nn import functional as F
        x = F.hardswish(x.transpose(1, 2) @ self.a)
        x = F.leaky_relu(torch.einsum("bsi,ij->bsj", x, self.b.tril()), 0.1) + torch.logsumexp(x, 1, keepdim=True)
        x = x.cumsum(1) - x.var(1, keepdim=True) + torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        best, places = (0.1 * x).sin().topk(3, dim=2)
        x = torch.where(x > 0.5, x.abs() ** 1.5, x.clamp(-2, 1)) / (1 + x.amax(2, keepdim=True).exp().rsqrt())
        return x.gather(2, places) + best.log_softmax(2) + x[:, :, [0, 2, 5]] * torch.minimum(best, x[..., ::2])

    def forward(self, images, targets, classes):
        from torch.nn import functional as F
        rows = self.of_rows(self.of_image(images))
        few = self.head(rows.mean(1).tanh())
        losses = F.cross_entropy(few, classes, reduction="none") + F.nll_loss(F.log_softmax(few, 1), classes)
        return (F.binary_cross_entropy_with_logits(few, targets) + F.mse_loss(few.tanh(), targets) + losses.mean()
                + 0.1 * F.l1_loss(few.floor(), few) + F.cross_entropy(few, classes, label_smoothing=0.1))


def many_operators():
    return Many(), {"images": torch.randn(ROWS, 4, 9, 9), "targets": torch.rand(ROWS, 3),
                    "classes": torch.randint(0, 3, (ROWS,))}, None
