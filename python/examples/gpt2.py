# %% [markdown]
# # A small GPT-2, from a job to arrays
# Cells as editors know them. Before: the programs on the path, `pip install python/`, a text, and the folder of a checkout.

# %%
import pathlib
import sys

import weft

checkout, text, runs = map(pathlib.Path, sys.argv[1:4])

# %% [markdown]
# Compile one job in two layouts. A step's seconds are known before anything runs.

# %%
job = checkout / "models/gpt2/tiny.job"
layouts = {"data": {"data": 4}, "tensor": {"tensor": 4}}
plans = {name: weft.compile(job, dist=dist) for name, dist in layouts.items()}
for name, plan in plans.items():
    foreseen, memory = plan.simulate(), plan.memory()
    print("%-6s  %.2f ms a step, %d bytes a rank" % (name, 1e3 * foreseen["step_s"], memory["stages"][0]["arena_bytes"]))

# %% [markdown]
# What would a link twice as fast change?

# %%
plan = plans["tensor"]
faster = plan.simulate(node={"link_bytes_s": "2x"})
print("%.2f ms instead of %.2f ms a step" % (1e3 * faster["step_s"], 1e3 * plan.simulate()["step_s"]))

# %% [markdown]
# Train. Metrics come while the run goes on.

# %%
losses = []
for step in weft.run(plan, data=text, steps=20, checkpoint_dir=runs):
    losses.append(step["loss"])
print("loss %.3f to %.3f in %d steps" % (losses[0], losses[-1], len(losses)))

# %% [markdown]
# What was learned, as arrays.

# %%
checkpoint = weft.load(runs)
embedding = checkpoint["wte.weight"]
print(checkpoint, embedding.shape, "%.3f" % embedding.std())

# %% [markdown]
# What is wrong is said by the program that finds it.

# %%
try:
    weft.compile(job, dist={"tenser": 2})
except weft.RequestError as error:
    print(error)
