"""Small models of Hugging Face's transformers, their inputs, and their logits: for make.py and live.py beside it.

A vocabulary is 509, which two ranks do not divide.
"""
import torch
import transformers

BATCH, SEQUENCE, VOCAB = 2, 16, 509
SMALL = {"initializer_range": 0.15, "attn_implementation": "eager"}
LLAMA = {"vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, **SMALL}
BERT = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **SMALL}
T5 = {"vocab_size": VOCAB, "d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 4,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12, "dropout_rate": 0.0,
      "decoder_start_token_id": 0}
IMAGES = {"num_labels": 5, "drop_path_rate": 0.0, "initializer_range": 0.15}


def gpt2():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=VOCAB, n_embd=16, n_layer=2, n_head=4, n_positions=32, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=508, eos_token_id=508, **SMALL))


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        rope_theta=500000.0, rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                           "high_freq_factor": 4.0, "original_max_position_embeddings": 16}, **LLAMA))


def llama_tied():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**LLAMA, "tie_word_embeddings": True}))


def mistral():
    return transformers.MistralForCausalLM(transformers.MistralConfig(head_dim=6, sliding_window=64, **LLAMA))


def mixtral():
    return transformers.MixtralForCausalLM(transformers.MixtralConfig(
        rope_theta=1e6, sliding_window=None, num_local_experts=3, num_experts_per_tok=2, router_aux_loss_coef=0.05, **LLAMA))


def bert():
    return transformers.BertForPreTraining(transformers.BertConfig(max_position_embeddings=24, **BERT))


def roberta():
    return transformers.RobertaForMaskedLM(transformers.RobertaConfig(
        max_position_embeddings=26, type_vocab_size=1, layer_norm_eps=1e-5, **BERT))


def t5():
    return transformers.T5ForConditionalGeneration(transformers.T5Config(**T5))


def t5_1_1():
    return transformers.T5ForConditionalGeneration(transformers.T5Config(
        feed_forward_proj="gated-gelu", tie_word_embeddings=False, **T5))


def vit():
    return transformers.ViTForImageClassification(transformers.ViTConfig(
        image_size=8, patch_size=4, num_channels=3, num_labels=5, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=4, **SMALL))


def mae():
    model = transformers.ViTMAEForPreTraining(transformers.ViTMAEConfig(
        image_size=16, patch_size=4, num_channels=3, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=4, decoder_hidden_size=8, decoder_intermediate_size=24, decoder_num_hidden_layers=1,
        decoder_num_attention_heads=2, norm_pix_loss=True, **SMALL))
    model.decoder.initialize_weights(16)  # the table, which the class then sets to 0; published weights have it
    return model


def swin():
    return transformers.SwinForImageClassification(transformers.SwinConfig(
        image_size=32, patch_size=2, num_channels=1, embed_dim=4, depths=[2, 2, 6, 2], num_heads=[2, 4, 8, 16], window_size=2,
        attn_implementation="eager", **IMAGES))


def convnext():
    return transformers.ConvNextForImageClassification(transformers.ConvNextConfig(
        image_size=16, patch_size=2, num_channels=3, hidden_sizes=[4, 8, 16, 32], depths=[1, 1, 2, 1],
        layer_scale_init_value=0.5, **IMAGES))


MODELS = {"gpt2": gpt2, "llama": llama, "llama_tied": llama_tied, "mistral": mistral, "mixtral": mixtral, "bert": bert,
          "roberta": roberta, "t5": t5, "t5_1_1": t5_1_1, "vit": vit, "mae": mae, "swin": swin, "convnext": convnext}


def inputs_of(name, model):
    """Of the graph `logits`, by name."""
    tokens = torch.randint(4, VOCAB, (BATCH, SEQUENCE), dtype=torch.int32)
    if hasattr(model.config, "image_size"):
        size, channels = model.config.image_size, model.config.num_channels
        inputs = {"images": torch.randint(0, 256, (BATCH, channels, size, size), dtype=torch.uint8)}
        if name == "mae":  # it says which patches are masked
            inputs["noise"] = torch.rand(BATCH, (size // model.config.patch_size) ** 2)
        return inputs
    inputs = {"tokens": tokens}
    if name in ("bert", "roberta", "t5", "t5_1_1"):
        # What RoBERTa says of places that fill up is another thing there: they have positions of their own.
        mask = torch.arange(SEQUENCE) < torch.tensor([[SEQUENCE], [SEQUENCE - (0 if name == "roberta" else 5)]])
        inputs["tokens"] = tokens.masked_fill(~mask, model.config.pad_token_id)
        inputs["mask"] = mask.to(torch.uint8)
    if name == "bert":
        inputs["types"] = torch.randint(0, 2, (BATCH, SEQUENCE), dtype=torch.int32)
    if name.startswith("t5"):
        inputs["inputs"] = torch.randint(1, VOCAB, (BATCH, SEQUENCE // 4), dtype=torch.int32)
    return inputs


def outputs_of(model, inputs):
    """Of the graph `logits`, by name; computed in float64."""
    arguments = {"tokens": "input_ids", "mask": "attention_mask", "types": "token_type_ids", "inputs": "decoder_input_ids"}
    given = {arguments[key]: value.long() for key, value in inputs.items() if key in arguments}
    if "images" in inputs:
        given = {"pixel_values": inputs["images"].double() / 127.5 - 1}
    if "noise" in inputs:
        given["noise"] = inputs["noise"].double()
    model = model.double().eval()
    with torch.no_grad():
        output = model(**given)
    if hasattr(output, "prediction_logits"):
        return {"logits": output.prediction_logits, "order": output.seq_relationship_logits}
    return {"logits": output.logits}
