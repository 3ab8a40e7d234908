"""Every rule of the house, broken once."""

import os
import shutil
import tempfile
import unittest

import builds
import families
import format
import includes
import links
import passes
import texts
import words
from layers import Rules
from tree import Tree, matches

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = Rules.read(os.path.join(HERE, "rules.toml"))


def said(findings):
    return [str(finding) for finding in findings]


class LintTest(unittest.TestCase):
    def assert_clean(self, findings):
        self.assertEqual(said(findings), [])

    def assert_says(self, findings, *expected):
        self.assertEqual(said(findings), list(expected))


class PatternTest(unittest.TestCase):
    def test_stars(self):
        self.assertTrue(matches("ops/softmax/cpu.cc", "ops/*/cpu*"))
        self.assertFalse(matches("ops/softmax/test/cpu.cc", "ops/*/cpu*"))
        self.assertTrue(matches("runtime/a/b/c.cc", "runtime/**"))
        self.assertTrue(matches("a_test.cc", "**/*_test.cc"))
        self.assertTrue(matches("a/b/a_test.cc", "**/*_test.cc"))

    def test_choices_and_classes(self):
        self.assertTrue(matches("unistd.h", "{fcntl,unistd}.h"))
        self.assertFalse(matches("unistd_h", "{fcntl,unistd}.h"))
        self.assertTrue(matches("string", "[a-z_]*"))
        self.assertFalse(matches("string.h", "[a-z_]*"))


class IncludesTest(LintTest):
    def check(self, path, line):
        return includes.check(Tree.of_texts({path: line + "\n"}), RULES)

    def test_the_runtime_knows_no_mlir(self):
        self.assert_says(self.check("runtime/executor/work.cc", '#include "mlir/IR/Value.h"'),
                         "runtime/executor/work.cc:1: include mlir/IR/Value.h: MLIR and LLVM is not known here")
        self.assert_says(self.check("ops/softmax/cpu.cc", '#include "llvm/ADT/ArrayRef.h"'),
                         "ops/softmax/cpu.cc:1: include llvm/ADT/ArrayRef.h: MLIR and LLVM is not known here")
        self.assert_clean(self.check("ops/softmax/ops.cc", '#include "mlir/IR/Value.h"'))

    def test_nothing_points_back(self):
        self.assert_says(
            self.check("runtime/plan/load.cc", '#include "compiler/emit/emit.h"'),
            "runtime/plan/load.cc:1: include compiler/emit/emit.h: the layer `plan` may not include it")
        self.assert_says(
            self.check("ops/abi/kernel.h", '#include "runtime/plan/layout.h"'),
            "ops/abi/kernel.h:1: include runtime/plan/layout.h: the layer `kernel contract` may not include it")
        self.assert_clean(self.check("runtime/data/order.cc", '#include "runtime/plan/job.pb.h"'))

    def test_actors_know_the_trace_only(self):
        self.assert_clean(self.check("runtime/actor/run_loop.cc", '#include "runtime/trace/timeline.h"'))
        self.assert_says(
            self.check("runtime/actor/run_loop.cc", '#include "runtime/device/device.h"'),
            "runtime/actor/run_loop.cc:1: include runtime/device/device.h: the layer `actors` may not include it")

    def test_only_emit_and_the_pipeline_write_the_plan(self):
        self.assert_says(
            self.check("compiler/passes/shard/infer.cc", '#include "runtime/plan/plan.pb.h"'),
            "compiler/passes/shard/infer.cc:1: include runtime/plan/plan.pb.h: the layer `compiler passes` may not "
            "include it")
        self.assert_clean(self.check("compiler/emit/emit.cc", '#include "runtime/plan/plan.pb.h"'))

    def test_the_sides_of_a_family_do_not_meet(self):
        self.assert_says(self.check("ops/softmax/cpu.cc", '#include "ops/dialect/weft.h"'),
                         "ops/softmax/cpu.cc:1: include ops/dialect/weft.h: the layer `kernels` may not include it")
        self.assert_says(self.check("ops/softmax/ops.cc", '#include "ops/abi/kernel.h"'),
                         "ops/softmax/ops.cc:1: include ops/abi/kernel.h: the layer `families` may not include it")
        self.assert_says(self.check("ops/softmax/cpu.cc", '#include "ops/norm/residual.h"'),
                         "ops/softmax/cpu.cc:1: include ops/norm/residual.h: the layer `kernels` may not include it")
        self.assert_clean(self.check("ops/softmax/ops.cc", '#include "ops/reduce/ops.h"'))

    def test_vendors_have_homes(self):
        self.assert_clean(self.check("ops/einsum/cpu_matmul.cc", '#include "oneapi/dnnl/dnnl.hpp"'))
        self.assert_says(self.check("ops/norm/cpu.cc", '#include "oneapi/dnnl/dnnl.hpp"'),
                         "ops/norm/cpu.cc:1: include oneapi/dnnl/dnnl.hpp: oneDNN is not known here")
        self.assert_says(self.check("runtime/actor/order.cc", '#include "nlohmann/json.hpp"'),
                         "runtime/actor/order.cc:1: include nlohmann/json.hpp: JSON is not known here")
        self.assert_says(self.check("runtime/executor/work.cc", '#include <mpi.h>'),
                         "runtime/executor/work.cc:1: include mpi.h: MPI is not known here")
        self.assert_says(self.check("ops/softmax/ops.cc", '#include "absl/status/status.h"'),
                         "ops/softmax/ops.cc:1: include absl/status/status.h: abseil is not known here")

    def test_unknown_headers_and_folders(self):
        self.assert_says(
            self.check("runtime/plan/load.cc", '#include <boost/any.hpp>'),
            "runtime/plan/load.cc:1: include boost/any.hpp: expected a path from the root or a vendor of "
            "tools/lint/rules.toml")
        self.assert_says(self.check("runtime/plan/load.cc", '#include "layout.h"'),
                         "runtime/plan/load.cc:1: include layout.h: expected a path from the root or a vendor of "
                         "tools/lint/rules.toml")
        self.assert_says(self.check("extra/a.cc", ""),
                         "extra/a.cc: layer: expected one in tools/lint/rules.toml, got none")
        self.assert_says(self.check("runtime/plan/load.cc", "#include <runtime/plan/load.h>"),
                         'runtime/plan/load.cc:1: include: expected "runtime/plan/load.h", got <runtime/plan/load.h>')

    def test_tests_may_include_tests(self):
        self.assert_clean(self.check("runtime/plan/load_test.cc", '#include "tests/plans/corpus.h"'))
        self.assert_says(
            self.check("runtime/plan/load.cc", '#include "tests/plans/corpus.h"'),
            "runtime/plan/load.cc:1: include tests/plans/corpus.h: the layer `plan` may not include it")
        self.assert_says(self.check("runtime/plan/load.cc", '#include "gtest/gtest.h"'),
                         "runtime/plan/load.cc:1: include gtest/gtest.h: GoogleTest is not known here")


class BuildsTest(LintTest):
    def test_public_visibility(self):
        public = 'package(default_visibility = ["//visibility:public"])\n'
        self.assert_says(builds.check(Tree.of_texts({"runtime/plan/BUILD": public})),
                         "runtime/plan/BUILD:1: visibility: expected those who use it, got public")
        self.assert_says(builds.check(Tree.of_texts({"BUILD": public})),
                         "BUILD:1: visibility: expected those who use it, got public")
        self.assert_clean(builds.check(Tree.of_texts({"third_party/x/BUILD": public, "tools/pch/BUILD": public})))
        self.assert_clean(builds.check(Tree.of_texts({"runtime/plan/BUILD": "# not //visibility:public\n"})))


class TextsTest(LintTest):
    def check(self, path, text):
        return texts.check(Tree.of_texts({path: text}))

    def test_length(self):
        self.assert_clean(self.check("runtime/a.cc", "\n" * 800))
        self.assert_says(self.check("runtime/a.cc", "\n" * 801),
                         "runtime/a.cc: length: expected at most 800 lines, got 801")
        self.assert_clean(self.check("docs/reference/ops.md", "\n" * 2000))

    def test_markers(self):
        for marker in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            self.assert_says(self.check("a.cc", "\n// %s(me): later\n" % marker),
                             "a.cc:2: marker: expected finished work, got " + marker)
        self.assert_clean(self.check("a.cc", "// mTO" + "DOs\n"))

    def test_paths_of_a_machine(self):
        self.assert_says(self.check("a.sh", "cd /ro" + "ot/weft\n"),
                         "a.sh:1: path: expected none of one machine, got /ro" + "ot/")
        self.assert_says(self.check("a.sh", "cd /ho" + "me/ann/weft\n"),
                         "a.sh:1: path: expected none of one machine, got /ho" + "me/ann/")
        self.assert_clean(self.check("a.sh", "cd docs/wo" + "rk/ $HOME/ro" + "ot/\n"))

    def test_guards(self):
        self.assert_clean(self.check("ops/a/ops.h", "// A.\n#ifndef WEFT_OPS_A_OPS_H_\n"))
        self.assert_says(self.check("ops/a/ops.h", "// A.\n#ifndef OPS_H\n"),
                         "ops/a/ops.h: guard: expected WEFT_OPS_A_OPS_H_, got OPS_H")
        self.assert_says(self.check("ops/a/ops.h", "// A.\n#pragma once\n"),
                         "ops/a/ops.h: guard: expected WEFT_OPS_A_OPS_H_, got none")

    def test_headers_say_what_they_are_for(self):
        self.assert_says(self.check("ops/a/ops.h", "#ifndef WEFT_OPS_A_OPS_H_\n"),
                         "ops/a/ops.h:1: header: expected a comment that says what it is for, got none")


class WordsTest(LintTest):
    def check(self, path, line):
        return words.check(Tree.of_texts({path: line + "\n"}), RULES)

    def test_every_word(self):
        for line in ('getenv("X")', "absl::Mutex m;", "int x = rand();", "std::random_device d;", "throw 1;",
                     "signalPassFailure();", "abort();"):
            self.assertEqual(len(self.check("compiler/passes/shard/infer.cc", line)), 1, line)
        self.assertEqual(len(self.check("ops/a/cuda.cu", "atomicAdd(&sum, x);")), 1)
        self.assert_clean(self.check("ops/cuda/kernel.h", "atomicCAS(&alarm->raised, 0u, 1u);"))
        self.assert_says(self.check("runtime/a/a.cc", "std::exit(1);"),
                         "runtime/a/a.cc:1: exit: a library returns its errors")

    def test_what_is_no_such_word(self):
        for line in ("// does not throw", "return signalPassFailure();", "at_exit(1);", 'Say("throw");', "operand();",
                     "absl::MutexLock"):
            self.assert_clean(self.check("compiler/passes/shard/infer.cc", line))
        self.assert_clean(self.check("runtime/trace/a_test.cc", 'getenv("TEST_TMPDIR")'))


class PassesTest(LintTest):
    FOLDER = "compiler/passes/shard/"

    def check(self, definition, *files):
        tree = {self.FOLDER + file: "" for file in files}
        tree[self.FOLDER + "Passes.td"] = definition
        tree["docs/reference/passes.md"] = "### `-weft-shard-infer`\n### `-weft-shard`\n### `-weft-shard-in-place`\n"
        return passes.check(Tree.of_texts(tree))

    def test_one_stem(self):
        self.assert_clean(self.check('def ShardInfer : Pass<"weft-shard-infer", "M"> {', "infer.cc", "test/infer.mlir"))
        self.assert_clean(self.check('def Shard : Pass<"weft-shard", "M"> {', "shard.cc", "test/shard.mlir"))
        self.assert_clean(self.check('def ShardInPlace : Pass<"weft-shard-in-place", "M"> {', "in_place.cc",
                                     "test/in_place.mlir"))

    def test_missing_files(self):
        self.assert_says(
            self.check('def ShardInfer : Pass<"weft-shard-infer", "M"> {'),
            self.FOLDER + "Passes.td:1: pass ShardInfer: expected " + self.FOLDER + "infer.cc, found none",
            self.FOLDER + "Passes.td:1: pass ShardInfer: expected " + self.FOLDER + "test/infer.mlir or " +
            self.FOLDER + "test/infer_*.mlir, found none")
        self.assert_clean(self.check('def ShardInfer : Pass<"weft-shard-infer", "M"> {', "infer.cc",
                                     "test/infer_data.mlir"))

    def test_missing_reference(self):
        self.assert_says(
            self.check('def ShardCut : Pass<"weft-shard-cut", "M"> {', "cut.cc", "test/cut.mlir"),
            self.FOLDER + "Passes.td:1: pass ShardCut: expected a section in docs/reference/passes.md, found none (the "
            "phases in docs/reference/BUILD)")

    def test_other_names(self):
        self.assert_says(self.check('def ShardInfer : Pass<"weft-infer", "M"> {', "infer.cc", "test/infer.mlir"),
                         self.FOLDER + "Passes.td:1: pass ShardInfer: flag: expected weft-shard-infer, got weft-infer")
        self.assert_says(
            self.check('def BoxRoute : Pass<"weft-box-route", "M"> {'),
            self.FOLDER + "Passes.td:1: pass BoxRoute: phase: expected a name that begins with shard, got BoxRoute")


class FamiliesTest(LintTest):
    BUILD = 'op_family(\n    name = "softmax",\n)\n'
    ROOMS = ("softmax.td", "ops.h", "ops.cc", "cpu.cc", "cpu_test.cc", "test/ops.mlir", "test/invalid.mlir")

    def check(self, rooms, folder="softmax", listed="softmax"):
        tree = {"ops/%s/%s" % (folder, room): "" for room in rooms}
        tree["ops/%s/BUILD" % folder] = self.BUILD
        tree["ops/families.bzl"] = '    "%s": "Softmax",' % listed
        return families.check(Tree.of_texts(tree))

    def test_a_whole_family(self):
        self.assert_clean(self.check(self.ROOMS))

    def test_each_room_is_missed(self):
        for room in self.ROOMS:
            found = self.check([other for other in self.ROOMS if other != room])
            if room != "test/ops.mlir":  # one test file is enough
                self.assertEqual(len(found), 1, room)
        self.assert_says(self.check(self.ROOMS[:-3] + self.ROOMS[-2:]),
                         "ops/softmax: family softmax: expected cpu*_test.cc, found none")

    def test_kernels_are_written_or_generated(self):
        generated = [room.replace("cpu.cc", "cells.cc").replace("cpu_", "generated_") for room in self.ROOMS]
        self.assert_clean(self.check(generated))
        generated.remove("generated_test.cc")
        self.assert_says(self.check(generated), "ops/softmax: family softmax: expected generated*_test.cc, found none")

    def test_a_family_is_in_the_list(self):
        self.assert_says(self.check(self.ROOMS, listed="soft"),
                         "ops/families.bzl: expected softmax among them, found none")

    def test_a_family_has_its_folder_s_name(self):
        self.assert_says(self.check(self.ROOMS, folder="soft"),
                         "ops/soft/BUILD: family: expected its folder's name, got softmax")


class LinksTest(LintTest):
    def check(self, line):
        return links.check(Tree.of_texts({
            "docs/tour/a.md": line, "docs/howto/b.md": "# The `last` part, again\n```sh\n# none\n```\n", "ops/softmax/cpu.cc": ""}))

    def test_links(self):
        self.assert_clean(self.check("see [b](../howto/b.md#the-last-part-again), [web](https://example.org/x#y)"))
        self.assert_says(self.check("see [c](../howto/c.md)"),
                         "docs/tour/a.md:1: link: expected a file, got ../howto/c.md")

    def test_headings(self):
        for part in ("part", "none"):
            self.assert_says(self.check("see [b](../howto/b.md#%s)" % part),
                             "docs/tour/a.md:1: link: expected a heading of docs/howto/b.md, got #%s" % part)
        self.assert_says(self.check("see [below](#below)"),
                         "docs/tour/a.md:1: link: expected a heading of docs/tour/a.md, got #below")

    def test_the_index_leads_to_every_how_to(self):
        tree = {"docs/README.md": "[a](howto/a.md#x)", "docs/howto/a.md": "# x\n", "docs/howto/b.md": ""}
        self.assert_says(links.check(Tree.of_texts(tree)), "docs/README.md: expected a link to docs/howto/b.md, found none")
        self.assert_clean(links.check(Tree.of_texts({**tree, "docs/README.md": "[a](howto/a.md) [b](howto/b.md)"})))

    def test_every_folder_at_the_top_has_a_readme(self):
        tree = {"docs/README.md": "", "ops/a/README.md": "", ".ci/run": "", "BUILD": ""}
        self.assert_says(links.check(Tree.of_texts(tree)),
                         "ops/README.md: expected, as every folder at the top has one, found none")
        self.assert_clean(links.check(Tree.of_texts({**tree, "ops/README.md": ""})))

    def test_named_files(self):
        self.assert_clean(self.check("`ops/softmax/cpu.cc`, `ops/softmax/`, `ops/<family>/cpu.cc`, `//ops/none`"))
        self.assert_says(self.check("`ops/softmax/gpu.cc`"),
                         "docs/tour/a.md:1: expected a file or folder, got `ops/softmax/gpu.cc`")


class FormatTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.root)
        for style in format.STYLES.values():
            os.makedirs(os.path.dirname(os.path.join(self.root, style)), exist_ok=True)
            shutil.copy(os.path.join(HERE, "..", "..", style), os.path.join(self.root, style))
        self.write("runtime/plan/a.cc", "int* a;\n")
        self.write("compiler/emit/a.cc", "int *a;\n")
        self.write("tools/plan/a.js", "const a = [1, 2];\n")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, **options):
        tree = Tree(self.root, ["runtime/plan/a.cc", "compiler/emit/a.cc", "tools/plan/a.js"])
        return said(format.check(tree, RULES, **options))

    def test_each_side_has_its_style(self):
        self.assertEqual(self.check(), [])
        self.write("runtime/plan/a.cc", "int* b;\nint *a;\n")
        self.write("compiler/emit/a.cc", "int* a;\n")
        self.write("tools/plan/a.js", "const a = [ 1,2 ];\n")
        self.assertEqual([line.split(": format")[0] for line in self.check()],
                         ["compiler/emit/a.cc:1", "runtime/plan/a.cc:2", "tools/plan/a.js:1"])

    def test_fix(self):
        self.write("runtime/plan/a.cc", "int  *a ;\n")
        self.check(fix=True)
        self.assertEqual(self.check(), [])


if __name__ == "__main__":
    unittest.main()
