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
