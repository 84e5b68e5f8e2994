// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_states.h"
#include "request/testing/recording_sink.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::StatusCode;
using tensor::DataType;
using tensor::Shape;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SequenceStatesTest : public ::testing::Test {
 protected:
  void Use(const std::string& states) {
    inputs_ = MakeSequenceInputs(states);
    states_ = inputs_->NewStates();
    ASSERT_TRUE(states_->Reset().ok());
  }
  void Use(const std::string& type, const std::string& dims, const std::string& more = "") {
    Use(StateText(type, dims, more));
  }

  /// The state's bytes as the next request gets them.
  template <typename T = int32_t>
  std::vector<T> Input(const std::string& name = "S_IN") {
    InferenceRequest request;
    request.states = states_;
    request.states->AddTo(request.inputs());
    const request::Input* input = request.inputs().Find(name);
    std::vector<T> values(input->ByteSize() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), input->pieces[0].data, input->ByteSize());
    return values;
  }
  const void* InputAddress() {
    InferenceRequest request;
    request.states = states_;
    request.states->AddTo(request.inputs());
    return request.inputs().Find("S_IN")->pieces.at(0).data;
  }
  /// Writes INT32 values; the shape is [1,n].
  OutputState* Write(const std::vector<int32_t>& values, const std::string& name = "S_OUT") {
    auto output =
        states_->NewOutput(name, DataType::kInt32, {1, static_cast<int64_t>(values.size())});
    EXPECT_TRUE(output.ok()) << output.status().message();
    auto buffer = states_->Buffer(*output, values.size() * 4);
    EXPECT_TRUE(buffer.ok()) << buffer.status().message();
    if (!values.empty()) std::memcpy(*buffer, values.data(), values.size() * 4);
    return *output;
  }
  void Update(const std::vector<int32_t>& values, const std::string& name = "S_OUT") {
    const auto status = states_->Update(Write(values, name));
    EXPECT_TRUE(status.ok()) << status.message();
  }

  std::shared_ptr<SequenceInputs> inputs_;
  std::shared_ptr<SequenceStates> states_;
};

TEST_F(SequenceStatesTest, BeginsWithZerosAndOnesForVariableDims) {
  Use("INT32", "[ -1, 3 ]");
  EXPECT_EQ(states_->shape(0), (Shape{1, 1, 3}));
  EXPECT_THAT(Input(), ElementsAre(0, 0, 0));
}

TEST_F(SequenceStatesTest, WhatIsUpdatedCountsFromCommitOn) {
  Use("INT32", "[ 2 ]");
  Update({3, 4});
  EXPECT_THAT(Input(), ElementsAre(0, 0)) << "the request that runs still reads the old bytes";
  states_->Commit();
  EXPECT_THAT(Input(), ElementsAre(3, 4));
}

TEST_F(SequenceStatesTest, WhatIsNotUpdatedDoesNotCount) {
  Use("INT32", "[ 2 ]");
  Write({3, 4});
  states_->Commit();
  EXPECT_THAT(Input(), ElementsAre(0, 0));
}

TEST_F(SequenceStatesTest, AFailureLeavesTheOldValue) {
  Use("INT32", "[ 1 ]");
  Update({7});
  states_->Commit();
  Update({8});
  states_->Discard();
  EXPECT_THAT(Input(), ElementsAre(7));
}

TEST_F(SequenceStatesTest, TwoBuffersTakeTurns) {
  Use("INT32", "[ 1 ]");
  const void* const first = InputAddress();
  const OutputState* written = Write({1});
  const void* const second = written->data;
  ASSERT_TRUE(states_->Update(const_cast<OutputState*>(written)).ok());
  states_->Commit();
  EXPECT_EQ(InputAddress(), second) << "not copied";
  EXPECT_EQ(Write({2})->data, first) << "not allocated";
  states_->Discard();
  EXPECT_EQ(Write({3})->data, first);
}

TEST_F(SequenceStatesTest, AShapeMayChangeWhereDimsAreVariable) {
  Use("INT32", /*dims=*/"[ -1 ]");
  for (const int size : {5, 0, 1000, 2}) {
    Update(std::vector<int32_t>(static_cast<size_t>(size), size));
    states_->Commit();
    EXPECT_EQ(states_->shape(0), (Shape{1, size}));
    EXPECT_EQ(Input(), std::vector<int32_t>(static_cast<size_t>(size), size));
  }
}

TEST_F(SequenceStatesTest, SaysWhatDoesNotFit) {
  // Backends write a state by its output_name, S_OUT.
  Use("INT32", "[ -1, 2 ]");
  const auto message = [&](const std::string& name, DataType type, Shape shape) {
    auto output = states_->NewOutput(name, type, std::move(shape));
    EXPECT_EQ(output.status().code(), StatusCode::kInternal);
    return output.status().message();
  };
  EXPECT_EQ(message("S_IN", DataType::kInt32, {1, 1, 2}),
            "state 'S_IN' is not a valid state name.");
  EXPECT_EQ(message("S_OUT", DataType::kFp32, {1, 1, 2}),
            "state 'S_OUT' of model 'm' is written as 'FP32', but its configuration says 'INT32'");
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{2, 1, 2}, Shape{1, 2}, Shape{1, -1, 2}}) {
    EXPECT_EQ(message("S_OUT", DataType::kInt32, shape),
              "state 'S_OUT' of model 'm' is written with shape " + tensor::ShapeText(shape) +
                  ", but its configuration says [1,-1,2]");
  }
}

TEST_F(SequenceStatesTest, TheSizeOfABufferIsThatOfTheShape) {
  Use("INT32", "[ -1 ]");
  OutputState* const output = *states_->NewOutput("S_OUT", DataType::kInt32, {1, 3});
  EXPECT_EQ(states_->Buffer(output, 8).status().message(),
            "state 'S_OUT' of model 'm' with shape [1,3] takes 12 bytes, but 8 are requested");
  void* const buffer = *states_->Buffer(output, 12);
  EXPECT_EQ(*states_->Buffer(output, 12), buffer);
  EXPECT_THAT(states_->Buffer(output, 16).status().message(),
              HasSubstr("has a buffer of 12 bytes, but 16 are requested"));
}

TEST_F(SequenceStatesTest, CallsInTheWrongOrderAreErrors) {
  Use("INT32", "[ 1 ]");
  OutputState* const output = *states_->NewOutput("S_OUT", DataType::kInt32, {1, 1});
  EXPECT_THAT(states_->Attributes(output).status().message(), HasSubstr("has no buffer yet"));
  EXPECT_THAT(states_->Update(output).message(), HasSubstr("before it was given a buffer"));
  ASSERT_TRUE(states_->Buffer(output, 4).ok());
  EXPECT_EQ((*states_->Attributes(output))->byte_size, 4u);
  EXPECT_TRUE(states_->Update(output).ok());
  EXPECT_THAT(states_->Update(output).message(), HasSubstr("was updated already"));
}

TEST_F(SequenceStatesTest, TheLastUpdateCounts) {
  Use("INT32", "[ 1 ]");
  OutputState* const first = Write({1});
  Update({2});
  ASSERT_TRUE(states_->Update(first).ok());
  states_->Commit();
  EXPECT_THAT(Input(), ElementsAre(1));
}

TEST_F(SequenceStatesTest, SeveralStatesAreIndependent) {
  Use(R"(state { input_name: "A" output_name: "B" data_type: TYPE_INT32 dims: [ 1 ] }
         state { input_name: "B" output_name: "A" data_type: TYPE_INT32 dims: [ -1 ] }
         state { input_name: "C" output_name: "D" data_type: TYPE_INT32 dims: [ 2 ] })");
  Update({1}, "B");
  Update({2, 2}, "A");
  states_->Commit();
  EXPECT_THAT(Input("A"), ElementsAre(1));
  EXPECT_THAT(Input("B"), ElementsAre(2, 2));
  EXPECT_THAT(Input("C"), ElementsAre(0, 0));
}

TEST_F(SequenceStatesTest, ResetForgetsEverything) {
  Use("INT32", "[ -1 ]");
  Update({9, 9, 9});
  states_->Commit();
  Update({8});
  ASSERT_TRUE(states_->Reset().ok());
  states_->Commit();
  EXPECT_EQ(states_->shape(0), (Shape{1, 1}));
  EXPECT_THAT(Input(), ElementsAre(0));
}

/// A slot is used by one sequence after the other; a sequence that reads everything that it is
/// given, whole buffers and memory not yet written, must find zeros or what it wrote.
TEST_F(SequenceStatesTest, NoByteOfAnotherSequenceIsEverSeen) {
  for (const char* more : {"", "use_same_buffer_for_input_output: true",
                           "use_same_buffer_for_input_output: true use_growable_memory: true"}) {
    Use("INT32", "[ -1 ]", more);
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp)
    for (int32_t sequence = 1; sequence <= 200; ++sequence) {
      ASSERT_TRUE(states_->Reset().ok());
      EXPECT_THAT(Input(), ElementsAre(0));
      for (int step = 0; step < 6; ++step) {
        const auto size = static_cast<int64_t>(random() % 40);
        OutputState* const output = *states_->NewOutput("S_OUT", DataType::kInt32, {1, size});
        auto* const memory = static_cast<int32_t*>(*states_->Buffer(output, size * 4));
        for (int64_t i = 0; i < size; ++i) {
          ASSERT_TRUE(memory[i] == 0 || memory[i] == sequence) << memory[i] << more;
          memory[i] = sequence;
        }
        if (random() % 4 != 0) {
          ASSERT_TRUE(states_->Update(output).ok());
        }
        if (random() % 4 != 0) {
          states_->Commit();
        } else {
          states_->Discard();
        }
        for (const int32_t value : Input()) ASSERT_TRUE(value == 0 || value == sequence) << value;
      }
    }
  }
}

TEST_F(SequenceStatesTest, TextsBeginEmptyAndAreChecked) {
  Use("STRING", "[ -1, 2 ]");
  EXPECT_THAT(Input<char>(), ::testing::SizeIs(8));
  EXPECT_THAT(Input<char>(), Each(0));
  std::string bytes;
  tensor::AppendBytesElement("a", &bytes);
  tensor::AppendBytesElement("", &bytes);
  const auto write = [&](const std::string& content) {
    OutputState* const output = *states_->NewOutput("S_OUT", DataType::kBytes, {1, 1, 2});
    std::memcpy(*states_->Buffer(output, content.size()), content.data(), content.size());
    return states_->Update(output);
  };
  EXPECT_THAT(write(bytes.substr(0, 7)).message(), HasSubstr("state 'S_OUT' of model 'm'"));
  EXPECT_FALSE(write(bytes + std::string(4, '\0')).ok());
  ASSERT_TRUE(write(bytes).ok());
  states_->Commit();
  EXPECT_EQ(Input<char>(), std::vector<char>(bytes.begin(), bytes.end()));
}

TEST_F(SequenceStatesTest, OneBufferIsWrittenInPlace) {
  Use("INT32", "[ -1 ]", "use_same_buffer_for_input_output: true");
  const void* const memory = InputAddress();
  EXPECT_EQ(Write({5})->data, memory);
  states_->Discard();
  EXPECT_THAT(Input(), ElementsAre(5)) << "visible without update; cannot be undone";
  // More than there was: new memory with the old bytes, the old stays until the end.
  OutputState* const grown = *states_->NewOutput("S_OUT", DataType::kInt32, {1, 3});
  auto* const values = static_cast<int32_t*>(*states_->Buffer(grown, 12));
  EXPECT_THAT(std::vector<int32_t>(values, values + 3), ElementsAre(5, 0, 0));
  values[2] = 6;
  EXPECT_EQ(InputAddress(), memory);
  ASSERT_TRUE(states_->Update(grown).ok());
  states_->Commit();
  EXPECT_THAT(Input(), ElementsAre(5, 0, 6));
}

TEST_F(SequenceStatesTest, GrowableMemoryGrowsAhead) {
  Use("INT32", "[ -1 ]", "use_same_buffer_for_input_output: true use_growable_memory: true");
  int moves = 0;
  const void* memory = InputAddress();
  std::vector<int32_t> list;
  for (int32_t i = 0; i < 1000; ++i) {
    OutputState* const output = *states_->NewOutput("S_OUT", DataType::kInt32, {1, i + 1});
    static_cast<int32_t*>(*states_->Buffer(output, (i + 1) * 4))[i] = i;
    ASSERT_TRUE(states_->Update(output).ok());
    states_->Commit();
    list.push_back(i);
    moves += InputAddress() == memory ? 0 : 1;
    memory = InputAddress();
  }
  EXPECT_EQ(Input(), list);
  EXPECT_LE(moves, 11);
}

TEST_F(SequenceStatesTest, ShortMemoryIsAnError) {
  Use("UINT8", "[ -1 ]");
  const int64_t size = int64_t{1} << 40;
  OutputState* const output = *states_->NewOutput("S_OUT", DataType::kUint8, {1, size});
  const auto buffer = states_->Buffer(output, size);
  EXPECT_EQ(buffer.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(buffer.status().message(),
            "out of memory: state 'S_OUT' of model 'm' needs 1099511627776 bytes");
  EXPECT_FALSE(states_->Update(output).ok());
  states_->Commit();
  EXPECT_THAT(Input<uint8_t>(), ElementsAre(0));

  const auto huge = MakeSequenceInputs(StateText("UINT8", "[ 1099511627776 ]"))->NewStates();
  EXPECT_EQ(huge->Reset().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(huge->is_set());
}

TEST_F(SequenceStatesTest, TellsWhoCanShareABatch) {
  Use("INT32", "[ -1 ]");
  const auto other = inputs_->NewStates();
  ASSERT_TRUE(other->Reset().ok());
  EXPECT_TRUE(states_->HasShapesOf(*other));
  Update({1, 2});
  states_->Commit();
  EXPECT_FALSE(states_->HasShapesOf(*other));
}

TEST_F(SequenceStatesTest, ADummyHasTheShapesAndNothingElse) {
  for (const char* more : {"", "use_same_buffer_for_input_output: true"}) {
    Use("INT32", "[ -1 ]", more);
    Update({1, 2, 3});
    states_->Commit();
    const auto real = states_;
    ZeroBlock zeros;
    states_ = SequenceStates::MakeDummy(*real, zeros).value();
    EXPECT_EQ(states_->shape(0), (Shape{1, 3}));
    EXPECT_THAT(Input(), ElementsAre(0, 0, 0));
    Update({4, 5});
    states_->Commit();
    EXPECT_THAT(Input(), ElementsAre(4, 5));
    states_ = real;
    EXPECT_THAT(Input(), ElementsAre(1, 2, 3));
  }
  EXPECT_EQ(*ZeroBlock().AtLeast(100), 0);
}

class SettleTest : public SequenceStatesTest {
 protected:
  ~SettleTest() override { sink_->Clear(); }
  /// A request of the sequence that has written 5.
  std::unique_ptr<InferenceRequest> Executed() {
    auto request = std::make_unique<InferenceRequest>();
    request->SetSink(sink_);
    BindRequest(*request, model_);
    EXPECT_TRUE(inputs_->Attach(*request, states_).ok());
    Update({5});
    return request;
  }
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::shared_ptr<const ModelIdentity> model_ = MakeModel("name: \"m\"");
};

TEST_F(SettleTest, AReleasedRequestCommits) {
  Use("INT32", "[ 1 ]");
  auto request = Executed();
  request->response_factory()->SendFinal();
  ReleaseRequest(std::move(request));
  EXPECT_THAT(Input(), ElementsAre(5));
  EXPECT_TRUE(sink_->released_requests()[0]->inputs().empty()) << "states go with the execution";
  EXPECT_EQ(sink_->released_requests()[0]->states, nullptr);
}

TEST_F(SettleTest, AnAnswerWithAnErrorDiscards) {
  Use("INT32", "[ 1 ]");
  RefuseRequest(Executed(), base::Status::Internal("failed"));
  EXPECT_THAT(Input(), ElementsAre(0));
}

TEST_F(SettleTest, ARequestThatNobodyCanAnswerDiscards) {
  Use("INT32", "[ 1 ]");
  ReleaseRequest(Executed());
  EXPECT_EQ(sink_->finals(), 1u) << "the error of the factory";
  EXPECT_THAT(Input(), ElementsAre(0));
}

TEST_F(SettleTest, ARequestThatIsAnsweredLaterCommits) {
  Use("INT32", "[ 1 ]");
  auto request = Executed();
  const std::shared_ptr<ResponseFactory> factory = request->response_factory();
  ReleaseRequest(std::move(request));
  EXPECT_THAT(Input(), ElementsAre(5));
  factory->SendFinal();
}

TEST_F(SettleTest, ARescheduledRequestCommitsAndStays) {
  Use("INT32", "[ 1 ]");
  auto request = Executed();
  SettleStates(*request, /*is_last=*/false);
  EXPECT_THAT(Input(), ElementsAre(5));
  EXPECT_TRUE(request->inputs().empty());
  ASSERT_TRUE(inputs_->Attach(*request, states_).ok());
  EXPECT_EQ(request->inputs().size(), 1u);
  RefuseRequest(std::move(request), base::Status::Internal("end of the test"));
}

}  // namespace
}  // namespace nereid::request
