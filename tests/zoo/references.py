"""Makes the references of tests/zoo with Hugging Face's transformers, timm and torchvision: see README.md there.

usage: references.py --tokens tests/oracle/tokens.bin --out tests/zoo [--models llama,...]

A model is a class with what it is made of, the batches of its steps, and its loss on one. Data that is not the tokens of
tests/oracle is drawn here and written beside, a tensor for every input of the model's graph.
"""

import argparse
import copy
import functools
import math
import os

import numpy
import torch
import transformers
from safetensors.torch import save_file

BATCH, SEQUENCE, STEPS = 4, 64, 10


class Llama:
    """With fewer key heads, weights large enough for attention to matter, and positions stretched beyond 16 as Llama 3.1
    stretches them beyond 8192."""

    def make(self):
        stretched = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 16}
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=256, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=SEQUENCE, rms_norm_eps=1e-5, rope_theta=500000.0,
            rope_scaling=stretched, tie_word_embeddings=False, initializer_range=0.15, attn_implementation="eager"))

    def batches(self, options):
        return token_batches(options.tokens)

    def loss(self, model, batch):
        logits = model(input_ids=batch["tokens"]).logits
        return torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), batch["labels"].reshape(-1))


class LlamaLora(Llama):
    """With peft's adapters of queries and values, which alone are trained, and begin with random numbers."""

    def make(self):
        import peft  # this model alone needs it
        model = peft.get_peft_model(super().make(), peft.LoraConfig(
            r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], lora_dropout=0.0, init_lora_weights=False))
        return model

    def weights(self, model):
        plain = lambda name: (name.removeprefix("base_model.model.").replace(".base_layer", "").replace(".default", ""))
        return {plain(name): value for name, value in model.named_parameters()}


class Vit:
    """Images of 16 x 16 in patches of 4 x 4: 17 places, which nothing divides."""

    def make(self):
        return transformers.ViTForImageClassification(transformers.ViTConfig(
            image_size=16, patch_size=4, num_channels=3, num_labels=10, hidden_size=32, intermediate_size=64,
            num_hidden_layers=2, num_attention_heads=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            initializer_range=0.15, attn_implementation="eager"))

    def batches(self, options):
        return image_batches(options, "vit")

    def loss(self, model, batch):
        logits = model(pixel_values=scaled(batch["images"])).logits
        return torch.nn.functional.cross_entropy(logits, batch["labels"].long())


class ResMlp:
    """timm's: transformers has none. 16 places of 4 x 4 pixels."""

    def make(self):
        import timm.models.mlp_mixer as mixer  # this model alone needs it
        model = mixer.MlpMixer(
            num_classes=10, img_size=16, patch_size=4, num_blocks=2, embed_dim=32, mlp_ratio=2, norm_layer=mixer.Affine,
            block_layer=functools.partial(mixer.ResBlock, init_values=0.5))
        return stirred(model)

    def batches(self, options):
        return image_batches(options, "resmlp")

    def loss(self, model, batch):
        return torch.nn.functional.cross_entropy(model(scaled(batch["images"])), batch["labels"].long())


class Bert:
    """Records of unequal lengths, each with nine words to be guessed; a table of more places than a record has."""

    def make(self):
        return transformers.BertForPreTraining(transformers.BertConfig(
            vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=80, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            initializer_range=0.15, attn_implementation="eager"))

    def batches(self, options):
        fields = masked_records(hidden=3, places=9)
        lengths = fields["mask"].sum(1)
        first = (lengths * torch.rand(BATCH * STEPS)).long()
        fields["types"] = ((torch.arange(SEQUENCE) >= first[:, None]) & (fields["mask"] == 1)).to(torch.uint8)
        fields["next"] = torch.randint(0, 2, (BATCH * STEPS,), dtype=torch.uint8)
        return record_batches(options, "bert", fields)

    def loss(self, model, batch):
        return model(input_ids=batch["tokens"].long(), token_type_ids=batch["types"].long(),
                     attention_mask=batch["mask"].long(), labels=batch["labels"].long(),
                     next_sentence_label=batch["next"].long()).loss


class Roberta:
    """Positions from 2, which follow from what is not padding: the token 1, drawn for nothing else."""

    def make(self):
        return transformers.RobertaForMaskedLM(transformers.RobertaConfig(
            vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=SEQUENCE + 2, type_vocab_size=1, layer_norm_eps=1e-5, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0, initializer_range=0.15, attn_implementation="eager"))

    def batches(self, options):
        return record_batches(options, "roberta", masked_records(padding=1, hidden=3))

    def loss(self, model, batch):
        return model(input_ids=batch["tokens"].long(), attention_mask=batch["mask"].long(),
                     labels=batch["labels"].long()).loss


class Swin:
    """Windows of 4 x 4 in images of 32 x 32 patches, which halve three times: the last stage is one window."""

    def make(self):
        return transformers.SwinForImageClassification(transformers.SwinConfig(
            image_size=64, patch_size=2, num_channels=1, num_labels=10, embed_dim=4, depths=[2, 2, 6, 2],
            num_heads=[2, 4, 8, 16], window_size=4, drop_path_rate=0.0, initializer_range=0.15,
            attn_implementation="eager"))

    def batches(self, options):
        return image_batches(options, "swin", channels=1, size=64)

    def loss(self, model, batch):
        return torch.nn.functional.cross_entropy(model(pixel_values=scaled(batch["images"])).logits, batch["labels"].long())


class ConvNext:
    """16 x 16 places, which halve three times: windows of 7 x 7 reach beyond every side, at last of 2 x 2. The head is
    smaller than what else is drawn, so that logits are about 1, as those of the others."""

    def make(self):
        model = stirred(transformers.ConvNextForImageClassification(transformers.ConvNextConfig(
            image_size=32, patch_size=2, num_channels=3, num_labels=10, hidden_sizes=[8, 16, 32, 64],
            depths=[1, 1, 2, 1], layer_scale_init_value=0.5, drop_path_rate=0.0, initializer_range=0.15)))
        with torch.no_grad():
            model.classifier.weight.mul_(0.3)
        return model

    def batches(self, options):
        return image_batches(options, "convnext", size=32)

    def loss(self, model, batch):
        return torch.nn.functional.cross_entropy(model(pixel_values=scaled(batch["images"])).logits, batch["labels"].long())


class Vgg:
    """torchvision's: transformers has none. Five poolings leave 2 x 2 places, whose channels come first in the matrix behind
    them. Images have one channel, and the head has sizes of its own and no pooling to 7 x 7."""

    def make(self):
        import torchvision.models.vgg as vgg  # this model alone needs it
        from torch.nn import Conv2d, Dropout, Identity, Linear, ReLU, Sequential
        model = vgg.VGG(vgg.make_layers([2, "M", 4, "M", 8, 8, "M", 16, 16, "M", 16, 16, "M"]), init_weights=True)
        model.features[0] = Conv2d(1, 2, kernel_size=3, padding=1)
        model.avgpool = Identity()
        model.classifier = Sequential(Linear(64, 32), ReLU(), Dropout(0.0), Linear(32, 32), ReLU(), Dropout(0.0),
                                      Linear(32, 10))
        with torch.no_grad():
            for bias in (p for p in model.parameters() if p.ndim == 1):  # which begin at 0
                bias.add_(0.1 * torch.randn(bias.shape))
        return model

    def batches(self, options):
        return image_batches(options, "vgg", channels=1, size=64)

    def loss(self, model, batch):
        return torch.nn.functional.cross_entropy(model(scaled(batch["images"])), batch["labels"].long())


class T5:
    """What is read and what is written have lengths of their own, and distances reach beyond the last bucket."""

    name, variant = "t5", {}

    def make(self):
        return transformers.T5ForConditionalGeneration(transformers.T5Config(
            vocab_size=256, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=2, num_heads=4,
            relative_attention_num_buckets=16, relative_attention_max_distance=32, dropout_rate=0.0,
            decoder_start_token_id=0, **self.variant))

    def batches(self, options):
        fields = masked_records(hidden=3)
        labels = torch.randint(1, 256, (BATCH * STEPS, 24), dtype=torch.int32)
        ends = torch.randint(8, 25, (BATCH * STEPS, 1))
        labels[torch.arange(24) >= ends] = -100
        return record_batches(options, self.name, {"tokens": fields["tokens"], "mask": fields["mask"], "labels": labels})

    def loss(self, model, batch):
        return model(input_ids=batch["tokens"].long(), attention_mask=batch["mask"].long(),
                     labels=batch["labels"].long()).loss


class T5Gated(T5):
    """T5 1.1. Its head begins smaller than there, so that logits are about 1, as those of the others."""

    name, variant = "t5_1_1", {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}

    def make(self):
        model = super().make()
        with torch.no_grad():
            model.lm_head.weight.mul_(model.config.d_model**-0.5)
        return model


class Mixtral:
    """Four experts, of which a token sees two, and a loss that keeps their loads alike."""

    def make(self):
        return transformers.MixtralForCausalLM(transformers.MixtralConfig(
            vocab_size=256, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=SEQUENCE, rms_norm_eps=1e-5, rope_theta=1e6,
            sliding_window=None, num_local_experts=4, num_experts_per_tok=2, output_router_logits=True,
            router_aux_loss_coef=0.05, tie_word_embeddings=False, initializer_range=0.15,
            attn_implementation="eager"))

    def batches(self, options):
        return token_batches(options.tokens)

    def loss(self, model, batch):
        output = model(input_ids=batch["tokens"])
        loss = torch.nn.functional.cross_entropy(output.logits.view(-1, output.logits.shape[-1]),
                                                 batch["labels"].reshape(-1))
        return loss + model.config.router_aux_loss_coef * output.aux_loss


class Mae:
    """The noise that says which patches are masked is data here. Nothing in the tables of positions is trained."""

    def make(self):
        model = transformers.ViTMAEForPreTraining(transformers.ViTMAEConfig(
            image_size=16, patch_size=4, num_channels=3, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, decoder_hidden_size=16, decoder_intermediate_size=32, decoder_num_hidden_layers=2,
            decoder_num_attention_heads=2, mask_ratio=0.75, norm_pix_loss=True, initializer_range=0.15,
            attn_implementation="eager"))
        model.decoder.initialize_weights(16)  # the table, which the class then sets to 0; published weights have it
        return stirred(model)

    def batches(self, options):
        return record_batches(options, "mae", {
            "images": torch.randint(0, 256, (BATCH * STEPS, 3, 16, 16), dtype=torch.uint8),
            "noise": torch.rand(BATCH * STEPS, 16)})

    def loss(self, model, batch):
        return model(pixel_values=scaled(batch["images"]), noise=batch["noise"]).loss


class MoCo:
    """MoCo v3, which neither library has: written from the paper's algorithm 1 and its appendix, with the ViT of
    transformers and torch's batch norms. The momentum encoder of the file is another one: in the first step it becomes a
    copy of the encoder."""

    batch, rate, temperature, momentum, total = 16, 1e-4, 0.2, 0.9, 20

    def make(self):
        model = torch.nn.Module()
        model.base_encoder = self.encoder()
        model.predictor = self.head([16, 48, 16])
        model.momentum_encoder = self.encoder()
        for parameter in model.momentum_encoder.parameters():
            parameter.requires_grad = False
        model.momentum = torch.nn.Module()
        model.momentum.register_buffer("steps", torch.zeros(()))
        return stirred(model)

    def encoder(self):
        """The projection of patches and the positions are not trained."""
        vit = transformers.ViTModel(transformers.ViTConfig(
            image_size=16, patch_size=4, num_channels=1, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, layer_norm_eps=1e-6,
            initializer_range=0.15, attn_implementation="eager"), add_pooling_layer=False)
        for parameter in vit.embeddings.patch_embeddings.parameters():
            parameter.requires_grad = False
        vit.embeddings.position_embeddings = torch.nn.Parameter(sine_positions(4, 32), requires_grad=False)
        vit.head = self.head([32, 48, 48, 16])
        return vit

    def head(self, widths):
        """Matrices without biases, each with a batch norm behind it; the last one neither scales nor shifts."""
        layers = []
        for width, following in zip(widths, widths[1:]):
            layers += [torch.nn.Linear(width, following, bias=False), torch.nn.BatchNorm1d(following), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers[:-2], torch.nn.BatchNorm1d(widths[-1], affine=False))

    def weights(self, model):
        positions = "embeddings.position_embeddings"
        return {key: value for key, value in model.state_dict().items()
                if value.is_floating_point() and not key.endswith(positions)}

    def batches(self, options):
        """Images of 2 x 2 random fields, so that they differ by more than noise; each view has noise of its own."""
        count = self.batch * STEPS
        fields = torch.randint(0, 192, (count, 1, 2, 2)).repeat_interleave(8, 2).repeat_interleave(8, 3)
        view = lambda: (fields + torch.randint(0, 64, fields.shape)).to(torch.uint8)
        return record_batches(options, "moco", {"view_1": view(), "view_2": view()}, self.batch)

    def loss(self, model, batch):
        views = [scaled(batch["view_1"]), scaled(batch["view_2"])]
        encode = lambda encoder, images: encoder.head(encoder(pixel_values=images).last_hidden_state[:, 0])
        with torch.no_grad():
            past = self.follow(model)
            for slow, fast in zip(model.momentum_encoder.parameters(), model.base_encoder.parameters()):
                slow.mul_(past).add_(fast, alpha=1 - past)
            keys = [encode(model.momentum_encoder, images) for images in views]
        queries = [model.predictor(encode(model.base_encoder, images)) for images in views]
        return self.contrast(queries[0], keys[1]) + self.contrast(queries[1], keys[0])

    def follow(self, model):
        """The momentum of the step."""
        step = model.momentum.steps.item()
        model.momentum.steps += 1
        return 0 if step == 0 else 1 - (1 - self.momentum) * (math.cos(math.pi * step / self.total) + 1) / 2

    def contrast(self, queries, keys):
        logits = torch.nn.functional.normalize(queries, dim=1) @ torch.nn.functional.normalize(keys, dim=1).T
        own = torch.arange(len(logits))
        return 2 * self.temperature * torch.nn.functional.cross_entropy(logits / self.temperature, own)


MODELS = {"llama": Llama, "llama_lora": LlamaLora, "mixtral": Mixtral, "vit": Vit, "mae": Mae, "moco": MoCo, "resmlp": ResMlp, "bert": Bert,
          "roberta": Roberta, "t5": T5, "t5_1_1": T5Gated, "swin": Swin, "convnext": ConvNext, "vgg": Vgg}


def token_batches(path):
    """Tokens, and as labels those shifted by one, as Weft cuts them."""
    words = numpy.fromfile(path, dtype=numpy.uint16)[512:].astype(numpy.int64)  # behind llm.c's header
    for step in range(STEPS):
        at = step * BATCH * SEQUENCE
        window = torch.from_numpy(words[at:at + BATCH * SEQUENCE + 1])
        yield {"tokens": window[:-1].view(BATCH, SEQUENCE), "labels": window[1:].view(BATCH, SEQUENCE)}


def image_batches(options, name, channels=3, size=16):
    """Random bytes, and one of ten classes each."""
    return record_batches(options, name, {
        "images": torch.randint(0, 256, (BATCH * STEPS, channels, size, size), dtype=torch.uint8),
        "labels": torch.randint(0, 10, (BATCH * STEPS,), dtype=torch.int32)})


def sine_positions(grid, hidden):
    """That of the class, which is 0, and of grid x grid patches: of each first its column, then its row."""
    places, waves = torch.arange(grid)[:, None].double(), torch.arange(hidden // 4).double()
    angles = places / 10000 ** (waves / (hidden // 4))
    axis = torch.cat([torch.sin(angles), torch.cos(angles)], 1)
    table = torch.cat([axis.repeat(grid, 1), axis.repeat_interleave(grid, 0)], 1)
    return torch.cat([torch.zeros(1, hidden), table.float()])[None]


def stirred(model):
    """With noise on what is trained, so that what begins at one value matters."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn(parameter.shape))
    return model


def scaled(images):
    """Bytes as numbers from -1 to 1."""
    return images.double() / 127.5 - 1


def masked_records(hidden, padding=0, places=None):
    """Tokens from 4 on, each record filled up with `padding` behind a length drawn from half to all of it. Of the words,
    `places` are replaced by the token `hidden` and are labels, or some of them; other labels are -100."""
    count = BATCH * STEPS
    tokens = torch.randint(4, 256, (count, SEQUENCE), dtype=torch.int32)
    lengths = torch.randint(SEQUENCE // 2, SEQUENCE + 1, (count, 1))
    seen = torch.arange(SEQUENCE) < lengths
    draw = torch.rand(count, SEQUENCE).masked_fill(~seen, 2)
    chosen = draw < 0.15 if places is None else draw <= draw.sort(1).values[:, places - 1:places]
    labels = torch.where(chosen, tokens, torch.full_like(tokens, -100))
    tokens = tokens.masked_fill(chosen, hidden).masked_fill(~seen, padding)
    return {"tokens": tokens, "mask": seen.to(torch.uint8), "labels": labels}


def record_batches(options, name, fields, batch=BATCH):
    """Records of `fields`, in order, which are written for Weft."""
    save_file(fields, os.path.join(options.out, name + "_data.safetensors"))
    for step in range(STEPS):
        yield {key: field[step * batch:(step + 1) * batch] for key, field in fields.items()}


def train(reference, model, batches):
    """(loss, norm of the gradients) of each step."""
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                  lr=getattr(reference, "rate", 1e-3), betas=(0.9, 0.999), eps=1e-8)
    for batch in batches:
        optimizer.zero_grad()
        loss = reference.loss(model, batch)
        loss.backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters() if p.grad is not None))
        yield loss.item(), norm.item()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    for name in options.models.split(","):
        torch.manual_seed(1)
        reference = MODELS[name]()
        model = reference.make()
        # A parameter that is tied to another has one name.
        named = reference.weights(model) if hasattr(reference, "weights") else dict(model.named_parameters())
        weights = {key: value.detach().clone().contiguous() for key, value in named.items()}
        save_file(weights, os.path.join(options.out, name + ".safetensors"))
        with open(os.path.join(options.out, name + "_losses.txt"), "w") as out:
            for step, (loss, norm) in enumerate(train(reference, model.double(), reference.batches(options))):
                out.write("%d %.10f %.10f\n" % (step, loss, norm))


if __name__ == "__main__":
    main()
