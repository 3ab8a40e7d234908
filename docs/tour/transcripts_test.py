"""Transcripts: what counts as equal, and what is found."""

import pathlib
import tempfile
import unittest

import transcripts


def problems(text, update=False):
    """What the checker says about a file of this text, and the file afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "root").mkdir()
        (folder / "root" / "data.txt").write_text("a file of the tree\n")
        (folder / "work").mkdir()
        path = folder / "tour.md"
        path.write_text(text)
        runner = transcripts.Runner(folder / "root", [], folder / "work")
        found = transcripts.check_file(path, runner, update)
        return [problem.replace(str(path) + ":", "") for problem in found], path.read_text()


def block(*lines, mode="check"):
    return "\n".join(["# Title", "```console " + mode, *lines, "```", ""])


class TranscriptsTest(unittest.TestCase):

    def expect_fine(self, text):
        self.assertEqual(problems(text)[0], [])

    def expect_problem(self, text, *parts):
        found, _ = problems(text)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_same_lines(self):
        self.expect_fine(block("$ printf 'one\\n  two   2\\n'", "one", "two 2"))

    def test_another_line(self):
        self.expect_problem(block("$ echo one", "two"), "4: expected: two\n  printed: one")

    def test_a_line_too_few_and_one_too_many(self):
        self.expect_problem(block("$ printf 'one\\ntwo\\n'", "one"), "expected the end of the output\n  printed: two")
        self.expect_problem(block("$ echo one", "one", "two"), "5: expected: two\n  printed: nothing more")

    def test_without_a_quote_nothing_may_be_printed(self):
        self.expect_fine(block("$ true"))
        self.expect_problem(block("$ echo one"), "printed: one")

    def test_dots_within_a_line(self):
        self.expect_fine(block("$ echo from a to b at 12:30", "from ... to b at ..."))
        self.expect_problem(block("$ echo from a to b", "from ... to c"), "printed: from a to b")

    def test_dots_for_lines(self):
        output = "$ seq 1 9"
        self.expect_fine(block(output, "1", "...", "5", "6", "..."))
        self.expect_problem(block(output, "1", "...", "5", "7", "..."), "expected: 7\n  printed: 6")
        self.expect_problem(block(output, "...", "5", "...", "3", "..."), "expected: 3\n  nearest:")
        self.expect_problem(block(output, "...", "5"), "expected the end of the output")

    def test_a_line_is_where_the_lines_after_it_fit(self):
        # The step before the last has more numbers of the expected line; the end is printed after the last.
        output = "$ printf 'step 1 loss 5\\nstep 98 loss 3\\nstep 99 loss 2\\n99 steps\\n'"
        self.expect_fine(block(output, "step 1 loss 4", "...", "step 99 loss 3", "99 steps", mode="check numbers"))
        self.expect_problem(block(output, "...", "step 99 loss 3", "...", "9 epochs", mode="check numbers"),
                            "expected: 9 epochs\n  nearest: ")

    def test_wrapped_lines(self):
        self.expect_fine(block("$ echo '  a long line, wrapped'", "  a long line,", "          wrapped"))
        self.expect_problem(block("$ echo '  a long line, wrapped'", "  a long line,", "    wrapped"), "expected: a long")

    def test_a_command_of_several_lines(self):
        self.expect_fine(block("$ echo one | \\", "  tr n m", "ome"))

    def test_numbers(self):
        self.expect_fine(block("$ echo 12.5 ms in step 3", "0.7 ms in step 4", mode="check numbers"))
        self.expect_problem(block("$ echo 12.5 ms", "0.7 s", mode="check numbers"), "expected: 0.7 s")
        self.expect_problem(block("$ echo 12.5 ms", "0.7 ms"), "expected: 0.7 ms")

    def test_commands_that_fail(self):
        self.expect_problem(block("$ false"), "3: false: ended with status 1")
        self.expect_fine(block("$ true", "$ false", mode="check fails"))
        self.expect_problem(block("$ true", mode="check fails"), "ended with status 0")

    def test_errors_are_output(self):
        self.expect_fine(block("$ echo wrong >&2", "wrong"))

    def test_one_folder_for_a_file(self):
        text = block("$ echo kept > out/a") + block("$ cat out/a data.txt", "kept", "a file of the tree")
        self.expect_fine(text)

    def test_setup(self):
        self.expect_fine("<!-- setup: echo seen > out/a; echo unseen -->\n" + block("$ cat out/a", "seen"))
        self.expect_problem("<!-- setup: false -->\n", "1: false: ended with status 1")

    def test_other_blocks_are_not_run(self):
        self.expect_fine(block("$ false", "text", mode="") + "```c++\nint a;\n```\n")

    def test_what_is_no_transcript(self):
        self.expect_problem(block("text", "$ true"), "3: expected a block that begins with `$ command`")
        self.expect_problem(block("$ true", mode="check loosely"), "2: expected numbers or fails, got loosely")
        self.expect_problem("```console check\n$ true\n", "1: expected a ``` that ends the block")

    def test_update_writes_numbers_and_nothing_else(self):
        found, text = problems(block("$ echo '  7 of 12 in a'", "  3 of 4", "          in a"), update=True)
        self.assertEqual(found, [])
        self.assertEqual(text, block("$ echo '  7 of 12 in a'", "  7 of 12", "          in a"))
        found, text = problems(block("$ echo 7 of 12", "3 in 4"), update=True)
        self.assertEqual(len(found), 1)
        self.assertIn("3 in 4", text)

    def test_update_takes_the_nearest_line(self):
        _, text = problems(block("$ printf 'h.0 at 5\\nh.1 at 6\\n'", "...", "h.1 at 9"), update=True)
        self.assertIn("h.1 at 6", text)


if __name__ == "__main__":
    unittest.main()
