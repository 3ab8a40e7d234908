"""What every fault must look like: a status, one error that says where and what, and no trace in the files."""
import os
import sys

sys.path.insert(0, "tests/support")
from programs import ProgramTest, call, contents  # noqa: E402


class FaultTest(ProgramTest):
    def files(self):
        """{path: content} of the test's folder; None for a folder."""
        found = {}
        for folder, folders, names in os.walk(self.folder):
            found.update({os.path.join(folder, name): None for name in folders})
            for name in names:
                path = os.path.join(folder, name)
                found[path] = contents(path) if os.path.isfile(path) else "special"
        return found

    def one_line(self, program, result, line):
        """The error is one line, the program's name and `line`."""
        self.assertEqual(result.err, f"{program}: {line}\n")

    def refused(self, program, *arguments, line=None, says=(), status=2, shell=None, notes=False):
        """Calls a program and checks the exit status, the error, and that no file came, went or changed.

        `line` is the whole error; `says` are parts of it, for errors that name a place that the test cannot know.
        With `notes`, lines that tell what to do follow the error.
        """
        before = self.files()
        result = call(program, *arguments, shell=shell)
        self.assertEqual(result.status, status, f"{arguments}: {result.out}{result.err}")
        if line is not None:
            self.one_line(program, result, line)
        else:
            (self.assertGreater if notes else self.assertEqual)(result.err.count("\n"), 1, result.err)
            self.assertTrue(result.err.startswith(program + ": "), result.err)
        for part in says:
            self.assertIn(part, result.err)
        self.assertEqual(result.out, "")
        after = self.files()
        self.assertEqual(sorted(after), sorted(before))
        self.assertEqual(after, before)
        return result
