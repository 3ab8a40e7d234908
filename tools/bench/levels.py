"""Collectives among two hosts of four ranks: on two levels, where the cost model takes them, beside directly."""

from over_link import over_link

RANKS = 4
DELAY_S, BYTES_PER_S = 2e-4, 40e6


def levels(tools, quick):
    print("Two hosts of %d ranks, over a link of %.0f MB/s and %.1f ms" % (RANKS, BYTES_PER_S / 1e6, DELAY_S * 1e3))
    # What a rank sends while all ranks of its host do, of a link that serves one direction at a time.
    run = ["collectives", str(BYTES_PER_S / 2 / RANKS), str(DELAY_S), "1" if quick else "8"]
    said, printed = over_link(tools, [run], DELAY_S, BYTES_PER_S, RANKS)
    print("  skipped: " + said if said is not None else printed.rstrip())
