"""Planned memory of activations beside the formulas of Korthikanti et al., "Reducing activation recomputation in large
transformer models" (2022), which say what Megatron-LM keeps."""

import collections

MIB = 2.0**20
# `micro`: sequences of a micro-batch.
Model = collections.namedtuple("Model", "label job layers hidden heads sequence tensor pipeline micro micro_batches")
MODELS = [Model("345M, tensor 8", "345m", 24, 1024, 16, 1024, 8, 1, 8, 1),
          Model("175B, pipeline 8 x tensor 8", "175b", 96, 12288, 96, 2048, 8, 8, 1, 16)]
POLICIES = ("NONE", "SELECTIVE", "FULL")


def formulas(model):
    """Bytes of all layers on a rank of the first stage, which keeps as many layers' activations as the model has layers
    (their equations 1 to 4, and section 5). With dropout and, but for the last two, with stored scores."""
    sbh = model.sequence * model.micro * model.hidden * model.layers
    scores = 5 * model.heads * model.sequence / model.hidden
    t = model.tensor
    return [("tensor parallel", sbh * (10 + 24 / t + scores / t)),
            ("and sequence parallel", sbh / t * (34 + scores)),
            ("and selective recomputation", sbh / t * 34),
            ("full recomputation", sbh * 2)]


def planned(tools, model, policy):
    """The plan's description with BF16 on nodes of eight H200."""
    plan = tools.path("activations.plan")
    tools.run("weft-compile", tools.job(model.job), "cluster=" + tools.cluster("8xh200"),
              "cluster.node.count=%d" % model.pipeline, "precision.compute=BF16", "recompute.policy=" + policy,
              "dist.tensor=%d" % model.tensor, "dist.pipeline=%d" % model.pipeline, "batch.micro=%d" % model.micro,
              "batch.global=%d" % (model.micro * model.micro_batches), "-o", plan, "--quiet")
    return tools.run_json("weft-plan", "memory", plan), tools.run_json("weft-plan", "show", plan)


def activations(tools, quick):
    print("Memory of the first stage in MiB: planned, and by the formulas for Megatron-LM (its activations alone)")
    for model in MODELS[:1] if quick else MODELS:
        print("  %s, micro-batches of %d" % (model.label, model.micro))
        for policy in POLICIES:
            memory, plan = planned(tools, model, policy)
            stage = memory["stages"][0]
            print("    %-29s activations %7.0f, peak %7.0f, step %.4f s" %
                  (policy, stage["at_peak"]["activations"] / MIB, stage["peak_bytes"] / MIB,
                   plan["prediction"]["step_s"]), flush=True)
        for name, count in formulas(model):
            print("    %-29s activations %7.0f" % (name, count / MIB))
