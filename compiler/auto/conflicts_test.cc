#include "compiler/auto/conflicts.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::compiler {
namespace {

// Of a job with these keys, on 2 nodes of 4 ranks.
std::string errorOf(const std::string &keys) {
  Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(keys, &job)) << keys;
  job.set_cluster("two.cluster");
  Cluster cluster;
  cluster.mutable_node()->set_count(2);
  cluster.mutable_node()->set_ranks(4);
  const absl::Status status = checkKeys(job, cluster);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

TEST(ConflictsTest, SizesDivideTheRanks) {
  EXPECT_EQ(errorOf("dist { context: 3 tensor: 2 }"),
            "dist: expected sizes whose product divides the 8 ranks of two.cluster, got context 3 x tensor 2 = 6");
  EXPECT_EQ(errorOf("dist { data: 4 tensor: 4 }"),
            "dist: expected sizes whose product divides the 8 ranks of two.cluster, got data 4 x tensor 4 = 16");
  EXPECT_EQ(errorOf("dist { tensor: 3 }"),
            "dist: expected sizes whose product divides the 8 ranks of two.cluster, got tensor 3");
  EXPECT_EQ(errorOf("dist { data: 3 }"), "") << "the other ranks stay idle";
  EXPECT_EQ(errorOf("dist { tensor: 2 pipeline: 4 }"), "");
  EXPECT_EQ(errorOf(""), "");
}

TEST(ConflictsTest, AGroupOfZeroDividesTheDataRanks) {
  EXPECT_EQ(errorOf("dist { tensor: 2 } zero { stage: 3 group: 8 }"),
            "zero.group: expected a divisor of the data ranks, of which there are 4 at most, got 8");
  EXPECT_EQ(errorOf("zero { group: 3 }"),
            "zero.group: expected a divisor of the data ranks, of which there are 8 at most, got 3");
  EXPECT_EQ(errorOf("zero { group: 4 }"), "");
}

TEST(ConflictsTest, AScheduleHasItsChunks) {
  EXPECT_EQ(errorOf("pipeline { schedule: GPIPE chunks: 2 }"),
            "pipeline.chunks: expected 1, as pipeline.schedule is GPIPE with graph.auto_parallel, got 2");
  EXPECT_EQ(errorOf("pipeline { schedule: INTERLEAVED chunks: 1 }"),
            "pipeline.chunks: expected 2 to 8, as pipeline.schedule is INTERLEAVED with graph.auto_parallel, got 1");
  EXPECT_EQ(errorOf("pipeline { schedule: ZERO_BUBBLE form: V chunks: 4 }"),
            "pipeline.chunks: expected 2, as pipeline.form is V with graph.auto_parallel, got 4");
  EXPECT_EQ(errorOf("pipeline { chunks: 9 }"), "pipeline.chunks: expected 1 to 8 with graph.auto_parallel, got 9");
  EXPECT_EQ(errorOf("pipeline { form: V chunks: 4 }"),
            "pipeline.chunks: expected 2, as pipeline.form is V with graph.auto_parallel, got 4");
  EXPECT_EQ(errorOf("pipeline { form: V }"), "");
  EXPECT_EQ(errorOf("pipeline { schedule: INTERLEAVED chunks: 8 }"), "");
  EXPECT_EQ(errorOf("pipeline { schedule_file: \"own.txt\" chunks: 16 }"), "") << "the file says";
}

TEST(ConflictsTest, CutsMakeTheChunksOfTheStages) {
  const std::string two = "dist { pipeline: 2 } pipeline { cuts: ['h.1', 'h.2'] }";
  EXPECT_EQ(errorOf(two),
            "pipeline.cuts: expected as many as chunks but one, a multiple of dist.pipeline (2) of these, got 2");
  const std::string three = "dist { pipeline: 2 } pipeline { cuts: ['h.1', 'h.2', 'h.3'] ";
  EXPECT_EQ(errorOf(three + "}"), "");
  EXPECT_EQ(errorOf(three + "chunks: 1 }"), "pipeline.chunks: expected 2, as there are 3 cuts for 2 stages, got 1");
  EXPECT_EQ(errorOf(three + "schedule: GPIPE }"),
            "pipeline.cuts: expected 1 chunks a stage, as pipeline.schedule is GPIPE with graph.auto_parallel, got 2");
}

TEST(ConflictsTest, KeysOfStagesLeaveRanksForThem) {
  EXPECT_EQ(errorOf("dist { data: 8 } pipeline { schedule: GPIPE }"),
            "dist: expected sizes that leave ranks for 2 or more stages, which alone have pipeline.schedule GPIPE, got "
            "data 8");
  EXPECT_EQ(errorOf("dist { data: 4 } pipeline { schedule: GPIPE }"), "");
}

TEST(ConflictsTest, TheModelHasThePieces) {
  const auto error = [](const std::string &keys) {
    Job job;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(keys, &job)) << keys;
    return std::string(checkPieces(job, {"wte", "h.0", "h.1", "h.2", "ln_f"}).message());
  };
  const std::string pieces = "as the model may be cut into wte, h.0 to h.2, ln_f, got ";
  EXPECT_EQ(error("dist { pipeline: 6 }"), "dist.pipeline: expected at most 5 stages, " + pieces + "6");
  EXPECT_EQ(error("dist { pipeline: 5 }"), "");
  EXPECT_EQ(error("dist { pipeline: 3 } pipeline { chunks: 2 }"),
            "pipeline.chunks: expected at most 5 chunks, " + pieces + "3 x 2");
  EXPECT_EQ(error("pipeline { chunks: 3 }"), "pipeline.chunks: expected at most 5 chunks, " + pieces + "2 x 3");
  EXPECT_EQ(error("dist { pipeline: 3 } pipeline { schedule: INTERLEAVED }"),
            "pipeline.schedule: expected at most 5 chunks, " + pieces + "3 x 2");
  EXPECT_EQ(error("dist { pipeline: 2 } pipeline { schedule: INTERLEAVED }"), "");
  EXPECT_EQ(error("dist { pipeline: 2 } pipeline { cuts: 'h.7' }"),
            "pipeline.cuts: expected a layer, one of wte, h.0 to h.2, ln_f, got h.7; did you mean h.0?");
  EXPECT_EQ(error("dist { pipeline: 2 } pipeline { cuts: 'wte' }"),
            "pipeline.cuts: expected layers in the order of the model, none the first, got wte after wte");
  EXPECT_EQ(error("dist { pipeline: 3 } pipeline { cuts: ['h.2', 'h.1'] }"),
            "pipeline.cuts: expected layers in the order of the model, none the first, got h.1 after h.2");
  EXPECT_EQ(error("dist { pipeline: 3 } pipeline { cuts: ['h.0', 'ln_f'] }"), "");
}

TEST(ConflictsTest, WhatNobodySearchesIsNoKey) {
  EXPECT_EQ(errorOf("batch { global: 10000 micro: 2 }"),
            "batch.micro: expected at most 4096 micro-batches of batch.global (10000) with graph.auto_parallel, got 2");
  EXPECT_EQ(errorOf("batch { global: 8192 micro: 2 }"), "");
}

} // namespace
} // namespace weft::compiler
