#include "runtime/data/prefetched.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::data {
namespace {

// A number a batch, 10 step + micro-batch. Notes which were filled, and by which thread.
class Counting : public executor::BatchSource {
 public:
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port&) override {
    return std::make_unique<Field>(*this);
  }

  // Waits until it is filled: for ever, if nobody does.
  std::thread::id FilledBy(int64_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return filled_.count(number) != 0; });
    return filled_[number];
  }
  bool IsFilled(int64_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return filled_.count(number) != 0;
  }
  int64_t failing = -1;

 private:
  class Field : public executor::BatchField {
   public:
    explicit Field(Counting& source) : source_(source) {}
    absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
      const int64_t number = 10 * step + micro_batch;
      {
        std::lock_guard<std::mutex> lock(source_.mutex_);
        source_.filled_[number] = std::this_thread::get_id();
      }
      source_.changed_.notify_all();
      if (number == source_.failing) return absl::OutOfRangeError(absl::StrCat("bad ", number));
      std::memcpy(tile, &number, sizeof(number));
      return absl::OkStatus();
    }

   private:
    Counting& source_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, std::thread::id> filled_;
};

class PrefetchedTest : public ::testing::Test {
 protected:
  PrefetchedTest() : source_(*new Counting), prefetched_(std::unique_ptr<Counting>(&source_), 2) {
    executor::Port port;
    port.spec = TensorSpec::Whole(DType::kI64, {1});
    auto field = prefetched_.Bind(port);
    EXPECT_TRUE(field.ok()) << field.status();
    field_ = *std::move(field);
  }

  int64_t Get(int64_t step, int64_t micro_batch) {
    int64_t number = -1;
    const absl::Status status = field_->Fill(step, micro_batch, &number);
    EXPECT_TRUE(status.ok()) << status;
    return number;
  }

  Counting& source_;
  Prefetched prefetched_;  // owns it
  std::unique_ptr<executor::BatchField> field_;
};

TEST_F(PrefetchedTest, TheNextBatchIsFilledByAnotherThreadBeforeItIsAskedFor) {
  EXPECT_EQ(Get(0, 0), 0);
  EXPECT_EQ(source_.FilledBy(0), std::this_thread::get_id());
  EXPECT_NE(source_.FilledBy(1), std::this_thread::get_id());
  EXPECT_EQ(Get(0, 1), 1);
  EXPECT_NE(source_.FilledBy(10), std::this_thread::get_id());  // the next step
  EXPECT_EQ(Get(1, 0), 10);
}

TEST_F(PrefetchedTest, AnyOrderGivesTheBatchesOfTheSource) {
  for (const auto& [step, micro_batch] : {std::pair(7, 1), {8, 0}, {8, 1}, {3, 0}, {3, 0}, {3, 1}, {4, 0}, {3, 1}}) {
    EXPECT_EQ(Get(step, micro_batch), 10 * step + micro_batch);
  }
}

TEST_F(PrefetchedTest, AnErrorIsToldToWhoAsksForItsBatch) {
  source_.failing = 10;
  EXPECT_EQ(Get(0, 1), 1);
  source_.FilledBy(10);
  int64_t number = 0;
  EXPECT_EQ(field_->Fill(1, 0, &number).message(), "bad 10");
  EXPECT_FALSE(source_.IsFilled(11));
  EXPECT_EQ(field_->Fill(1, 0, &number).message(), "bad 10");
  EXPECT_EQ(Get(2, 0), 20);
}

}  // namespace
}  // namespace weft::data
