// SPDX-License-Identifier: Apache-2.0
// Tests of the batches that a worker has at once. The worker is the test itself, at the other end
// of the socket; the batches have no requests.
#include "python/pipeline.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <climits>
#include <vector>

#include "python/execution_pace.h"
#include "python/wire.h"

namespace nereid::python {
namespace {

TEST(ExecutionPaceTest, LongUntilShown) {
  ExecutionPace pace;
  EXPECT_EQ(pace.depth(), 1U);
  int executions = 0;
  while (pace.depth() < ExecutionPace::kMostBatches) {
    pace.Record(20'000);
    ++executions;
  }
  EXPECT_GT(executions, 16);
  EXPECT_LT(executions, 64);
}

TEST(ExecutionPaceTest, OneLongExecutionEndsTheSendingAhead) {
  ExecutionPace pace;
  for (int i = 0; i < 100; ++i) {
    pace.Record(20'000);
  }
  ASSERT_EQ(pace.depth(), ExecutionPace::kMostBatches);
  pace.Record(20'000'000);
  EXPECT_EQ(pace.depth(), 1U);
}

TEST(ExecutionPaceTest, FewerForLongerExecutions) {
  ExecutionPace pace;
  for (int i = 0; i < 200; ++i) {
    pace.Record(600'000);
  }
  EXPECT_EQ(pace.depth(), 3U);
  for (int i = 0; i < 200; ++i) {
    pace.Record(UINT64_MAX / 16);
  }
  EXPECT_EQ(pace.depth(), 1U);
}

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() {
    Process process;
    process.pid = INT_MAX;  // no process has it
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    process.work.Reset(pair[0]);
    far_.Reset(pair[1]);
    worker_ = std::make_shared<Worker>(std::move(process), uint64_t{1} << 20, -1);
  }

  ~PipelineTest() override {
    pipeline_.Drain();
    worker_->MarkEnded("The test ended.");
    pipeline_.Stop();
  }

  void Add(uint64_t id) {
    pipeline_.Add(worker_, id,
                  std::make_shared<ExecutingBatch>(nullptr, &worker_->requests, &traits_));
  }

  void Answer(uint64_t id) {
    std::vector<char> message;
    WireWriter out(&message);
    WriteHeader(&out, MessageType::kResults, id, {});
    out.Number(uint32_t{0});  // execute() has not failed
    out.Number(uint32_t{0});  // the number of results
    EXPECT_EQ(send(far_.get(), message.data(), message.size(), 0),
              static_cast<ssize_t>(message.size()));
  }

  ExecutingBatch::ModelTraits traits_;
  int repeated_ = 0;  // written by the pipeline's thread, read after Drain
  base::UniqueFd far_;
  std::shared_ptr<Worker> worker_;
  Pipeline pipeline_{
      {"m_0", std::chrono::milliseconds{0}, [this](const Pipeline::Requests&) { ++repeated_; }}};
};

TEST_F(PipelineTest, WaitsForTheLastResultOfLongExecutions) {
  ASSERT_TRUE(pipeline_.Start().ok());
  EXPECT_FALSE(pipeline_.HasRoom());
  Add(1);
  Answer(1);
  pipeline_.WaitForRoom();
  pipeline_.Drain();
  EXPECT_EQ(repeated_, 0);
}

TEST_F(PipelineTest, TheFirstBatchOfALostWorkerFailsAndTheOthersAreRepeated) {
  ASSERT_TRUE(pipeline_.Start().ok());
  for (const uint64_t id : {1, 2, 3, 4}) {
    Add(id);
  }
  Answer(1);
  far_.Reset();
  worker_->MarkEnded("The process was killed.");
  pipeline_.Drain();
  EXPECT_EQ(repeated_, 2);
}

TEST_F(PipelineTest, ABatchForAWorkerThatHasEndedIsAnswered) {
  ASSERT_TRUE(pipeline_.Start().ok());
  worker_->MarkEnded("The process was killed.");
  Add(1);
  pipeline_.Drain();
  Add(2);
  Add(3);
  pipeline_.Drain();
  EXPECT_LE(repeated_, 1);
}

TEST_F(PipelineTest, RequestsWithoutAWorkerAreRepeated) {
  ASSERT_TRUE(pipeline_.Start().ok());
  pipeline_.Repeat({});
  pipeline_.Drain();
  EXPECT_EQ(repeated_, 1);
}

TEST_F(PipelineTest, TheAnswerOfAnotherBatchBreaksTheProtocol) {
  ASSERT_TRUE(pipeline_.Start().ok());
  Add(1);
  Answer(7);
  while (worker_->kill_reason().empty()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(worker_->kill_reason(),
            "it broke the protocol: it sent another message than the results of its batch");
  worker_->MarkEnded("The process was killed.");
}

}  // namespace
}  // namespace nereid::python
