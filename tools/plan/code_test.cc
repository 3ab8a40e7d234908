#include "tools/plan/code.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tools/plan/joined_plan.h"

namespace weft::tools {
namespace {

// On a GPU, with a second actor that runs what the first one's cast does.
plan::Plan Parsed() {
  plan::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kJoinedPlan, &plan));
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(R"(
    header { target: "cuda" }
    code {
      target: "nvptx64 sm_80 1"
      symbols: "k0_add_gelu" symbols: "k0_add"
      source: "cell.kernel @k0_add_gelu domain [32] {\n  1\n}\ncell.kernel @k0_add domain [8] {\n  2\n}\n"
      object: ".target sm_80\n.visible .entry k0_add_gelu(\n)\n{\n  a\n}\n"
              ".visible .entry k0_add(\n)\n{\n  b\n}\n.visible .entry k0_add_sums(\n)\n{\n  c\n}\n"
    })",
                                                            &plan));
  plan::Stage& stage = *plan.mutable_stages(0);
  plan::Actor& again = *stage.add_actors();
  again.set_name("again");
  *again.add_kernels() = stage.actors(0).kernels(2);
  return plan;
}

TEST(CodeTest, SaysWhatAPartsKernelsCompute) {
  const plan::Plan plan = Parsed();
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .name = "forward/1"}).output,
            "// add of h.0 (m.mlir:5), gelu of h.0.mlp (l.mlir:3)\n// run by forward/1\n"
            "cell.kernel @k0_add_gelu domain [32] {\n  1\n}\n");
  const std::string one = RunCode(plan, {.path = "a.plan", .name = "k0_add"}).output;
  EXPECT_NE(one.find("// run by forward/2 and 1 more\ncell.kernel @k0_add domain [8] {\n  2\n}\n"), std::string::npos)
      << one;
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .name = "again"}).output, one);
  const std::string all = RunCode(plan, {.path = "a.plan"}).output;
  EXPECT_NE(all.find("  1\n}\n\n// "), std::string::npos) << all;
  EXPECT_NE(all.find("  2\n}\n"), std::string::npos) << all;
}

TEST(CodeTest, PrintsInstructionsWithThoseThatAddUp) {
  const plan::Plan plan = Parsed();
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .name = "k0_add", .object = true}).output,
            ".visible .entry k0_add(\n)\n{\n  b\n}\n.visible .entry k0_add_sums(\n)\n{\n  c\n}\n");
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .object = true}).output, plan.code().object());
}

TEST(CodeTest, WritesAHostsObjectToAFileAlone) {
  plan::Plan plan = Parsed();
  plan.mutable_header()->set_target("cpu");
  plan.mutable_code()->set_object(std::string("\177ELF\0\1", 6));
  const Outcome refused = RunCode(plan, {.path = "a.plan", .object = true});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error, "code: --object: a host's is one shared object: expected -o FILE and no name");
  const std::string path = testing::TempDir() + "/kernels.so";
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .object = true, .output = path}).output, path + ": written\n");
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), plan.code().object());
}

TEST(CodeTest, SaysWhatHasNone) {
  plan::Plan plan = Parsed();
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .name = "forward/0"}).error,
            "a.plan: `forward/0` has no generated kernel");
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .name = "frward"}).status, 2);
  EXPECT_EQ(RunCode(plan, {.path = "a.plan", .output = "/nowhere/x"}).status, 2);
  plan.clear_code();
  EXPECT_EQ(RunCode(plan, {.path = "a.plan"}).error, "a.plan: has no generated kernels");
}

}  // namespace
}  // namespace weft::tools
