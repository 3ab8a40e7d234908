// Every plan of the corpus is accepted or refused with the message it names.
#include "tests/plans/corpus.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/proof/verify.h"

namespace weft::plan {
namespace {

TEST(Corpus, IsAcceptedOrRefusedAsItSays) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  int valid = 0, refused = 0;
  for (const CorpusPlan& it : *corpus) {
    SCOPED_TRACE(it.file);
    VerifyOptions options;
    options.device_bytes = it.device_bytes;
    const absl::Status status = Verify(it.plan, options);
    if (it.expect.empty()) {
      ++valid;
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    ++refused;
    EXPECT_FALSE(status.ok()) << "expected: " << it.expect;
    const std::string message(status.message().data(), status.message().size());
    EXPECT_NE(message.find(it.expect), std::string::npos) << "expected: " << it.expect << "\n     got: " << message;
  }
  EXPECT_GE(valid, 6);
  EXPECT_GE(refused, 100);
}

TEST(Corpus, HasOneFileAnError) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  std::set<std::string> messages;
  for (const CorpusPlan& it : *corpus) {
    if (!it.expect.empty()) {
      EXPECT_TRUE(messages.insert(it.expect).second) << it.file << ": " << it.expect;
    }
  }
}

}  // namespace
}  // namespace weft::plan
