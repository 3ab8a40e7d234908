"""Counts the tests of a Bazel run from its build event file (--build_event_json_file).

usage: build_events.py FILE BAZEL_STATUS [--also-passed N] [--also-failed N]

Prints each test that did not pass and each target that did not build, then, as the last line, "N passed, N failed".
Exit status: 0 when something passed and nothing failed, 1 otherwise.
"""

import argparse
import json
import sys

PASSED = ("PASSED", "FLAKY")


class Outcome:
    """What a run did.

    passed: labels of tests that passed; failed: {label: what happened}, tests and other targets together.
    """

    def __init__(self, passed, failed):
        self.passed = passed
        self.failed = failed


def read_events(path):
    """The events of a file, which a killed Bazel may have left without its last line's end."""
    events = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                break
    return events


def outcome(events):
    """A test without a summary was not built or not run: that is a failure. So is any target that did not build."""
    tests, summaries, broken = set(), {}, {}
    for event in events:
        kind, key = next(iter(event["id"].items()))
        label = key.get("label") if isinstance(key, dict) else None
        if kind == "targetConfigured" and event.get("configured", {}).get("targetKind", "").endswith("_test rule"):
            tests.add(label)
        elif kind == "testSummary" and "testSummary" in event:
            summaries[label] = event["testSummary"].get("overallStatus", "NO_STATUS")
        elif kind == "targetCompleted" and not event.get("completed", {}).get("success"):
            broken[label] = "did not build"
        elif kind == "pattern" and "aborted" in event:
            broken[" ".join(key.get("pattern", []))] = "could not be loaded"
    passed = sorted(label for label in tests if summaries.get(label) in PASSED)
    failed = dict(broken)
    for label in tests - set(passed):
        status = summaries.get(label)
        failed[label] = status.lower().replace("_", " ") if status else broken.get(label, "not run")
    return Outcome([label for label in passed if label not in broken], failed)


def report(events, bazel_status, also_passed=0, also_failed=0):
    """The lines to print, and the exit status."""
    result = outcome(events)
    lines = ["%s: %s" % (what, label) for label, what in sorted(result.failed.items())]
    if also_failed:
        lines.append("failed: the checks before the tests (see above)")
    passed, failed = len(result.passed) + also_passed, len(result.failed) + also_failed
    # Whatever went wrong without a target to blame (4: no test was found) must be counted too.
    if bazel_status != 0 and not result.failed:
        lines.append("bazel: exit status %d" % bazel_status if bazel_status != 4 else "bazel: no test was found")
        failed += 1
    if passed + failed == 0:
        lines.append("nothing was tested")
    lines.append("%d passed, %d failed" % (passed, failed))
    return lines, 0 if passed and not failed else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("bazel_status", type=int)
    parser.add_argument("--also-passed", type=int, default=0)
    parser.add_argument("--also-failed", type=int, default=0)
    arguments = parser.parse_args()
    try:
        events = read_events(arguments.file)
    except OSError:  # Bazel did not get as far as its first event.
        events = []
    lines, status = report(events, arguments.bazel_status, arguments.also_passed, arguments.also_failed)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
