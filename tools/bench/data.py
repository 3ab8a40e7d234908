"""How fast each source of data fills batches, beside what a step takes.

A source is read by the program `reading`, by one thread. How long a step waits for its batch is read off its trace.
"""

import gzip
import os
import struct

from traces import read_acts, without

SEQUENCES, SEQUENCE = 4096, 64
IMAGES, SIDE = 4096, 28
STEPS = 24


def idx(shape, content):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape) + content


def npy(descr, shape, content):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + content


def write(tools, name, *parts):
    path = tools.path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        for part in parts:
            out.write(part)
    return path


def token_sources(tools):
    """(name, --data) of sets of the same tokens."""
    count = SEQUENCES * SEQUENCE + 1
    text = bytes((i * 2654435761 >> 7) % 96 + 32 for i in range(count))
    words = struct.pack("<%dH" % count, *text)
    documents, length = 64, count // 64
    index = b"".join((b"MMIDIDX\0\0", struct.pack("<QBQQ", 1, 8, documents, documents + 1),
                      struct.pack("<%di" % documents, *[length] * documents),
                      struct.pack("<%dq" % documents, *[2 * length * i for i in range(documents)]),
                      struct.pack("<%dq" % (documents + 1), *range(documents + 1))))
    write(tools, "set.bin", words[:2 * length * documents])
    write(tools, "set.idx", index)
    half = len(words) // 4 * 2
    write(tools, "shards/a.bin", words[:half])
    write(tools, "shards/b.bin", words[half:])
    tokens = write(tools, "tokens.bin", words)
    return [("text", write(tools, "text.txt", text)), ("uint16", tokens),
            (".npy", write(tools, "tokens.npy", npy("<u2", (count,), words))),
            ("documents", tools.path("set.bin")), ("shards", tools.path("shards")),
            ("blend of two", "0.7 %s 0.3 %s" % (tokens, tools.path("shards")))]


def image_sources(tools):
    """(name, --data) of sets of the same images and labels."""
    images = bytes((i * 2654435761 >> 9) % 256 for i in range(IMAGES * SIDE * SIDE))
    labels = bytes(i % 10 for i in range(IMAGES))
    shape = (IMAGES, SIDE, SIDE)
    plain = "images=%s,labels=%s" % (write(tools, "images.idx", idx(shape, images)),
                                     write(tools, "labels.idx", idx((IMAGES,), labels)))
    packed = "images=%s,labels=%s" % (write(tools, "images.idx.gz", gzip.compress(idx(shape, images), 1)),
                                      tools.path("labels.idx"))
    arrays = "images=%s,labels=%s" % (write(tools, "images.npy", npy("|u1", shape, images)),
                                      write(tools, "labels.npy", npy("|u1", (IMAGES,), labels)))
    half = IMAGES // 2
    for name, begin in (("a", 0), ("b", half)):
        write(tools, "cut/images/%s.idx" % name, idx((half, SIDE, SIDE), images[SIDE * SIDE * begin:][:SIDE * SIDE * half]))
        write(tools, "cut/labels/%s.idx" % name, idx((half,), labels[begin:][:half]))
    shards = tools.path("cut")
    return [("IDX", plain), ("IDX, gzipped", packed), (".npy", arrays), ("shards", shards),
            ("blend of two", "0.7 %s 0.3 %s" % (arrays, shards))]


def measure(tools, plan, source):
    """(seconds of a step, share of them in which the batch is handed over and nobody computes)."""
    trace = tools.path("trace.json")
    tools.run("weft-run", plan, "--data", source, "--steps", str(STEPS), "--trace", trace, "--quiet")
    stage, = tools.run_json("weft-plan", "show", plan)["stages"]
    kinds = {actor["name"]: stage["streams"][actor["stream"]]["kind"] for actor in stage["actors"]}
    acts = read_acts(trace)
    spans = {kind: [(act.begin, act.end) for act in acts if kinds.get(act.name) == kind] for kind in ("host", "compute")}
    seconds = max(act.end for act in acts) - min(act.begin for act in acts)
    return seconds / (STEPS - 1), without(spans["host"], spans["compute"]) / seconds


def augmented(tools, model):
    """The tiny job of a model of images, with every kind of augmentation."""
    with open(tools.job("tiny", model)) as job:
        text = job.read().replace('file: "', 'file: "%s/' % os.path.dirname(tools.job("tiny", model)))
    return write(tools, "augmented.job", (text + 'data { augment { field: "images" crop_padding: 2 flip: true } }').encode())


def data(tools, quick):
    print("Sources of data: what is read of each in a second, beside what training takes; waits: share of a step")
    print("  %-8s %-16s %12s %12s %8s %8s" % ("model", "source", "read", "taken", "ratio", "waits"))
    tokens, images = token_sources(tools), image_sources(tools)
    rows = [("gpt2", tools.job("tiny"), ["data.format=AUTO", "batch.global=32", "batch.micro=32"], 32 * SEQUENCE, *source)
            for source in tokens]
    for model in ("vit", "resmlp"):
        batch = ["batch.global=64", "batch.micro=64"]
        rows += [(model, tools.job("tiny", model), batch, 64, *source) for source in images]
        rows.append((model, augmented(tools, model), batch, 64, "IDX, augmented", images[0][1]))
    for model, job, overrides, batch, name, source in rows:
        plan, unit = tools.path("data.plan"), "tokens/s" if model == "gpt2" else "images/s"
        tools.run("weft-compile", job, *overrides, "-o", plan, "--quiet")
        read = float(tools.run("reading", plan, source).split()[0]) * (SEQUENCE if model == "gpt2" else 1)
        seconds, waits = measure(tools, plan, source)
        print("  %-8s %-16s %12.0f %12.0f %7.0fx %7.3f%%  %s" %
              (model, name, read, batch / seconds, read * seconds / batch, 100 * waits, unit), flush=True)
