"""Planned memory of activations beside the formulas of Korthikanti et al., "Reducing activation recomputation in large
transformer models" (2022), which say what Megatron-LM keeps, and for Llama beside that of Megatron-LM's own
training/theoretical_memory_usage.py."""

import collections

MIB = 2.0**20
# `micro`: sequences of a micro-batch.
Model = collections.namedtuple("Model", "label job layers hidden heads sequence tensor pipeline micro micro_batches context",
                               defaults=(1,))
MODELS = [Model("345M, tensor 8", "345m", 24, 1024, 16, 1024, 8, 1, 8, 1),
          Model("175B, pipeline 8 x tensor 8", "175b", 96, 12288, 96, 2048, 8, 8, 1, 16)]
LLAMA = "../llama/8b"
MODELS += [Model("Llama 8B, %dk tokens, tensor 8 x context 8" % thousands, LLAMA, 32, 4096, 32, 1024 * thousands, 8, 1, 1, 8, 8)
           for thousands in (8, 32, 128)]
INNER, WORDS = 14336, 128256  # of Llama 8B
POLICIES = ("NONE", "SELECTIVE", "FULL")


def formulas(model):
    """Bytes of all layers on a rank of the first stage, which keeps as many layers' activations as the model has layers
    (their equations 1 to 4, and section 5). With dropout and, but for the last two, with stored scores."""
    if model.job == LLAMA:
        return llama_formulas(model)
    sbh = model.sequence * model.micro * model.hidden * model.layers
    scores = 5 * model.heads * model.sequence / model.hidden
    t = model.tensor
    return [("tensor parallel", sbh * (10 + 24 / t + scores / t)),
            ("and sequence parallel", sbh / t * (34 + scores)),
            ("and selective recomputation", sbh / t * 34),
            ("full recomputation", sbh * 2)]


def llama_formulas(model):
    """The same with a split sequence: of the layers, with what the head keeps, and with all layers computed again."""
    tokens = model.sequence * model.micro / model.context
    layers = tokens * model.hidden * model.layers
    head = tokens * 4 * (model.hidden + WORDS) / model.tensor
    return [("sequence parallel, selective", layers * (18 + 4 * INNER / model.hidden) / model.tensor + head),
            ("full recomputation", layers * 2 + head)]


def lengths(model):
    return ["model.set=%s=%d" % (name, model.sequence) for name in (["seq"] if model.job == LLAMA else ["seq", "positions"])]


def planned(tools, model, policy):
    """The plan's description with BF16 on nodes of eight H200."""
    plan = tools.path("activations.plan")
    tools.run("weft-compile", tools.job(model.job), "cluster=" + tools.cluster("8xh200"),
              "cluster.node.count=%d" % (model.pipeline * model.context), "precision.compute=BF16", "recompute.policy=" + policy,
              "dist.tensor=%d" % model.tensor, "dist.pipeline=%d" % model.pipeline, "dist.context=%d" % model.context,
              *lengths(model), "batch.micro=%d" % model.micro, "batch.global=%d" % (model.micro * model.micro_batches), "-o", plan, "--quiet")
    return tools.run_json("weft-plan", "memory", plan), tools.run_json("weft-plan", "show", plan)


def activations(tools, quick):
    print("Memory of the first stage in MiB: planned, activations at most; and by the formulas for Megatron-LM, activations alone")
    for model in MODELS[:1] if quick else MODELS:
        print("  %s, micro-batches of %d" % (model.label, model.micro))
        for policy in POLICIES:
            memory, plan = planned(tools, model, policy)
            stage = memory["stages"][0]
            print("    %-29s activations %7.0f, peak %7.0f, step %.4f s" %
                  (policy, stage["categories"]["activations"] / MIB, stage["peak_bytes"] / MIB, plan["prediction"]["step_s"]),
                  flush=True)
        for name, count in formulas(model):
            print("    %-29s activations %7.0f" % (name, count / MIB))
