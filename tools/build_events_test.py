import unittest

from build_events import report


def configured(label, kind="cc_test rule"):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": kind}}


def completed(label, success=True):
    return {"id": {"targetCompleted": {"label": label}}, "completed": {"success": True} if success else {}}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def ran(label, status):
    return [configured(label), completed(label), summary(label, status)]


class ReportTest(unittest.TestCase):
    def closing(self, events, bazel_status, **also):
        lines, status = report(events, bazel_status, **also)
        return lines[-1], status

    def test_counts_tests_that_pass(self):
        events = ran("//a:x", "PASSED") + ran("//a:y", "FLAKY")
        self.assertEqual(self.closing(events, 0), ("2 passed, 0 failed", 0))

    def test_counts_and_names_tests_that_fail(self):
        events = ran("//a:x", "PASSED") + ran("//a:y", "FAILED") + ran("//a:z", "TIMEOUT")
        lines, status = report(events, 3)
        self.assertEqual(lines, ["failed: //a:y", "timeout: //a:z", "1 passed, 2 failed"])
        self.assertEqual(status, 1)

    def test_a_test_that_does_not_build_fails_once(self):
        events = ran("//a:x", "PASSED") + [configured("//a:y"), completed("//a:y", success=False)]
        lines, status = report(events, 1)
        self.assertEqual(lines, ["did not build: //a:y", "1 passed, 1 failed"])
        self.assertEqual(status, 1)

    def test_a_test_without_a_summary_fails(self):
        lines, status = report([configured("//a:x"), completed("//a:x")], 0)
        self.assertEqual(lines, ["not run: //a:x", "0 passed, 1 failed"])
        self.assertEqual(status, 1)

    def test_a_library_that_does_not_build_fails(self):
        events = ran("//a:x", "PASSED") + [configured("//a:l", "cc_library rule"), completed("//a:l", success=False)]
        self.assertEqual(self.closing(events, 1), ("1 passed, 1 failed", 1))

    def test_a_library_that_builds_is_no_test(self):
        events = ran("//a:x", "PASSED") + [configured("//a:l", "cc_library rule"), completed("//a:l")]
        self.assertEqual(self.closing(events, 0), ("1 passed, 0 failed", 0))

    def test_targets_that_cannot_be_analysed_or_loaded_fail(self):
        events = [configured("//a:x"), {"id": {"targetCompleted": {"label": "//a:x"}}, "aborted": {}}]
        self.assertEqual(self.closing(events, 1), ("0 passed, 1 failed", 1))
        events = [{"id": {"pattern": {"pattern": ["//no:where"]}}, "aborted": {}}]
        self.assertEqual(self.closing(events, 1), ("0 passed, 1 failed", 1))

    def test_an_error_of_bazel_itself_fails(self):
        self.assertEqual(self.closing(ran("//a:x", "PASSED"), 1), ("1 passed, 1 failed", 1))
        self.assertEqual(self.closing([], 2), ("0 passed, 1 failed", 1))

    def test_nothing_tested_is_a_failure(self):
        self.assertEqual(self.closing([], 4), ("0 passed, 1 failed", 1))
        self.assertEqual(self.closing([], 0), ("0 passed, 0 failed", 1))

    def test_other_checks_are_counted(self):
        events = ran("//a:x", "PASSED")
        self.assertEqual(self.closing(events, 0, also_passed=1), ("2 passed, 0 failed", 0))
        self.assertEqual(self.closing(events, 0, also_failed=1), ("1 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
