"""Greedy generation by Hugging Face's transformers: transformers_generate.py FOLDER PROMPT TOKENS THREADS TYPE.

PROMPT is a list of tokens, "1,2,3", TYPE is F32 or BF16. Prints a JSON object: first_token_s of the first call, as `weft generate` has it too,
and tokens_per_s behind the first token, of the best of three later calls.
"""
import json
import sys
import time

import torch
import transformers


def main():
    folder, prompt, tokens, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(threads)
    dtype = {"F32": torch.float32, "BF16": torch.bfloat16}[sys.argv[5]]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    ids = torch.tensor([[int(word) for word in prompt.split(",")]])

    def seconds(count):
        begin = time.monotonic()
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False,
                             eos_token_id=None, pad_token_id=0)
        return time.monotonic() - begin, out[0, ids.shape[1]:].tolist()

    first = seconds(1)[0]
    again = min(seconds(1)[0] for _ in range(3))
    runs = [seconds(tokens) for _ in range(3)]
    rest = min(taken for taken, _ in runs) - again
    print(json.dumps({"first_token_s": first, "tokens_per_s": (tokens - 1) / rest, "answer": runs[0][1]}))


if __name__ == "__main__":
    main()
