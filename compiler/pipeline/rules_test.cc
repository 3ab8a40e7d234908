// A job's rules of the optimizer are those that the ops know, with the same numbers.
#include "compiler/job/job.h"
#include "compiler/job/optimizer.h"
#include "gmock/gmock.h"
#include "ops/optimizer/ops.h"
#include "ops/register.h"

namespace weft::compiler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::OneofDescriptor;

class RulesTest : public ::testing::Test {
protected:
  RulesTest() {
    mlir::DialectRegistry registry;
    ir::registerWeftDialect(registry);
    context_.appendDialectRegistry(registry);
    context_.loadDialect<ir::WeftDialect>();
  }

  static const OneofDescriptor &rules() { return *Optimizer::descriptor()->FindOneofByName("rule"); }

  // A rule all of whose numbers are 0.5.
  static Optimizer filled(const FieldDescriptor &rule) {
    Optimizer optimizer;
    google::protobuf::Message *message = optimizer.GetReflection()->MutableMessage(&optimizer, &rule);
    for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
      message->GetReflection()->SetDouble(message, message->GetDescriptor()->field(i), 0.5);
    }
    return optimizer;
  }

  mlir::MLIRContext context_;
};

TEST_F(RulesTest, EveryRuleOfAJobHasAnOpThatTakesItsNumbers) {
  for (int i = 0; i < rules().field_count(); ++i) {
    Optimizer optimizer = filled(*rules().field(i));
    EXPECT_TRUE(ValidateRule(optimizer).ok()) << ValidateRule(optimizer);
    OptimizerRule rule = RuleOf(optimizer);
    EXPECT_EQ(rule.lr, 0.5);
    llvm::StringMap<double> numbers;
    for (const auto &[name, value] : rule.numbers) {
      numbers[name] = value;
    }
    std::optional<ir::UpdateRule> found = ir::findUpdateRule(&context_, rule.name, numbers);
    ASSERT_TRUE(found) << rule.name;
    auto *op = mlir::OperationName(found->op, &context_).getInterface<ir::UpdateOpInterface>();
    ASSERT_NE(op, nullptr) << found->op.str();
    // A number that the job cannot give would be 0 for ever.
    for (llvm::StringRef name : op->getNumberNames()) {
      EXPECT_TRUE(numbers.contains(name)) << rule.name << " has no " << name.str();
    }
  }
}

TEST_F(RulesTest, EveryRuleOfTheOpsCanBeNamed) {
  for (const ir::UpdateRule &rule : ir::updateRules(&context_)) {
    const FieldDescriptor *field = Optimizer::descriptor()->FindFieldByName(rule.name.str());
    ASSERT_NE(field, nullptr) << rule.name.str();
    EXPECT_EQ(field->containing_oneof(), &rules());
    auto *op = mlir::OperationName(rule.op, &context_).getInterface<ir::UpdateOpInterface>();
    ASSERT_NE(op, nullptr) << rule.op.str();
    EXPECT_EQ(op->getStateNames().size(), rule.state.size()) << rule.op.str();
  }
}

// Two ops of one rule: the one with less state where that does.
TEST_F(RulesTest, TheFirstOpThatTakesTheNumbersIsBuilt) {
  auto opOf = [&](double momentum) {
    llvm::StringMap<double> numbers;
    numbers["momentum"] = momentum;
    return ir::findUpdateRule(&context_, "sgd", numbers)->op;
  };
  EXPECT_EQ(opOf(0), "weft.sgd");
  EXPECT_EQ(opOf(0.9), "weft.sgd_momentum");
}

} // namespace
} // namespace weft::compiler
