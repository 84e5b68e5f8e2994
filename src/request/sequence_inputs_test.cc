// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_states.h"
#include "request/testing/recording_sink.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using tensor::DataType;
using tensor::Shape;
using ::testing::HasSubstr;

std::string Control(const std::string& name, const std::string& kind, const std::string& value) {
  return "control_input { name: \"" + name + "\" control { kind: CONTROL_SEQUENCE_" + kind + " " +
         value + " } } ";
}

std::string Corrid(const std::string& type) {
  return Control("ID", "CORRID", "data_type: TYPE_" + type);
}

template <typename T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Content(const InferenceRequest& request, const std::string& name) {
  std::string bytes;
  for (const InputPiece& piece : request.inputs().Find(name)->pieces) {
    bytes.append(piece.data, piece.size);
  }
  return bytes;
}

class SequenceInputsTest : public ::testing::Test {
 protected:
  ~SequenceInputsTest() override { sink_->Clear(); }
  std::unique_ptr<InferenceRequest> NewRequest(CorrelationId id, uint32_t flags = 0) {
    auto request = std::make_unique<InferenceRequest>();
    request->correlation_id = std::move(id);
    request->flags = flags;
    request->batch_size = 1;
    request->SetSink(sink_);
    BindRequest(*request, model_);
    return request;
  }
  static void Finish(std::unique_ptr<InferenceRequest> request) {
    request->response_factory()->SendFinal();
    ReleaseRequest(std::move(request));
  }

  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::shared_ptr<const ModelIdentity> model_ = MakeModel("name: \"m\"");
  const std::string flags_ = Control("S", "START", "int32_false_true: [ -5, 7 ]") +
                             Control("E", "END", "fp32_false_true: [ 0.5, 2 ]") +
                             Control("R", "READY", "bool_false_true: [ false, true ]");
};

TEST_F(SequenceInputsTest, FlagsAreTheValuesOfTheConfiguration) {
  // Each kind of control has a value list of another type: S int32_false_true, E fp32_false_true,
  // R bool_false_true.
  const auto inputs = MakeSequenceInputs(flags_);
  for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
    for (const bool ready : {false, true}) {
      auto request = NewRequest(uint64_t{1}, flags);
      ASSERT_TRUE(inputs->Attach(*request, nullptr, ready).ok());
      EXPECT_EQ(Content(*request, "S"), Bytes<int32_t>((flags & 1) != 0 ? 7 : -5));
      EXPECT_EQ(Content(*request, "E"), Bytes<float>((flags & 2) != 0 ? 2.F : 0.5F));
      EXPECT_EQ(Content(*request, "R"), Bytes<bool>(ready));
      EXPECT_EQ(request->inputs().Find("S")->type, DataType::kInt32);
      EXPECT_EQ(request->inputs().Find("E")->type, DataType::kFp32);
      EXPECT_EQ(request->inputs().Find("R")->type, DataType::kBool);
      EXPECT_EQ(request->inputs().Find("R")->shape, (Shape{1, 1}));
      EXPECT_EQ(request->inputs().Find("R")->model_shape, (Shape{1, 1}));
      Finish(std::move(request));
      EXPECT_TRUE(sink_->released_requests().back()->inputs().empty());
    }
  }
}

TEST_F(SequenceInputsTest, WithoutBatchingTheShapeIsOne) {
  const auto inputs = MakeSequenceInputs(flags_, /*batching=*/false);
  auto request = NewRequest(uint64_t{1});
  ASSERT_TRUE(inputs->Attach(*request, nullptr).ok());
  EXPECT_EQ(request->inputs().Find("S")->shape, (Shape{1}));
  Finish(std::move(request));
}

TEST_F(SequenceInputsTest, NumericIdsAreTheLowOrderBytes) {
  // As many as the control's data_type holds.
  const uint64_t id = (uint64_t{1} << 40) + (uint64_t{1} << 32) + 9;
  const auto content = [&](const std::string& type) {
    const auto inputs = MakeSequenceInputs(Corrid(type));
    auto request = NewRequest(id);
    EXPECT_TRUE(inputs->Attach(*request, nullptr).ok());
    std::string bytes = Content(*request, "ID");
    Finish(std::move(request));
    return bytes;
  };
  EXPECT_EQ(content("UINT64"), Bytes<uint64_t>(id));
  EXPECT_EQ(content("INT64"), Bytes<int64_t>(static_cast<int64_t>(id)));
  EXPECT_EQ(content("UINT32"), Bytes<uint32_t>(9));
  EXPECT_EQ(content("INT32"), Bytes<int32_t>(9));
}

TEST_F(SequenceInputsTest, TextIdsAreOneElementOfTheirLength) {
  const auto inputs = MakeSequenceInputs(Corrid("STRING"));
  for (const size_t length : {size_t{1}, size_t{5}, size_t{128}}) {
    const std::string id(length, 'x');
    auto request = NewRequest(id);
    ASSERT_TRUE(inputs->Attach(*request, nullptr).ok());
    EXPECT_EQ(Content(*request, "ID"), Bytes(static_cast<uint32_t>(length)) + id);
    EXPECT_EQ(request->inputs().Find("ID")->type, DataType::kBytes);
    Finish(std::move(request));
  }
}

TEST_F(SequenceInputsTest, ControlsAreAddedForTextIdsToo) {
  const auto inputs = MakeSequenceInputs(flags_);
  auto request = NewRequest(std::string("abc"), kFlagSequenceStart);
  ASSERT_TRUE(inputs->Attach(*request, nullptr).ok());
  EXPECT_EQ(Content(*request, "S"), Bytes<int32_t>(7));
  Finish(std::move(request));
}

TEST_F(SequenceInputsTest, AnIdOfTheOtherKindIsRefused) {
  auto text = NewRequest(std::string("abc"));
  text->id = "9";
  auto number = NewRequest(uint64_t{5});
  const auto numeric = MakeSequenceInputs(Corrid("UINT64"));
  EXPECT_EQ(numeric->CheckCorrelationId(*text).message(),
            "[request id: 9] sequence batching control 'ID' data-type is 'BYTES', but model 'm' "
            "expects 'UINT64'");
  EXPECT_TRUE(numeric->CheckCorrelationId(*number).ok());
  const auto textual = MakeSequenceInputs(Corrid("STRING"));
  EXPECT_THAT(textual->CheckCorrelationId(*number).message(),
              HasSubstr("control 'ID' data-type is 'UINT64', but model 'm' expects 'BYTES'"));
  EXPECT_TRUE(textual->CheckCorrelationId(*text).ok());
  EXPECT_TRUE(MakeSequenceInputs(flags_)->CheckCorrelationId(*text).ok());
  Finish(std::move(text));
  Finish(std::move(number));
}

TEST_F(SequenceInputsTest, StartResetsTheStates) {
  const auto inputs = MakeSequenceInputs(StateText("INT32", "[ 1 ]"));
  const auto states = inputs->NewStates();
  const auto execute = [&](uint32_t flags, int32_t next) {
    auto request = NewRequest(uint64_t{1}, flags);
    EXPECT_TRUE(inputs->Attach(*request, states).ok());
    const std::string before = Content(*request, "S_IN");
    OutputState* const output = *request->states->NewOutput("S_OUT", DataType::kInt32, {1, 1});
    std::memcpy(*request->states->Buffer(output, 4), &next, 4);
    EXPECT_TRUE(request->states->Update(output).ok());
    Finish(std::move(request));
    return before;
  };
  EXPECT_EQ(execute(kFlagSequenceStart, 4), Bytes<int32_t>(0));
  EXPECT_EQ(execute(0, 6), Bytes<int32_t>(4));
  EXPECT_EQ(execute(kFlagSequenceEnd, 7), Bytes<int32_t>(6));
  EXPECT_EQ(execute(kFlagSequenceStart, 8), Bytes<int32_t>(0));
}

TEST_F(SequenceInputsTest, ShortMemoryLeavesTheRequestAsItWas) {
  const auto inputs = MakeSequenceInputs(flags_ + StateText("UINT8", "[ 1099511627776 ]"));
  auto request = NewRequest(uint64_t{1}, kFlagSequenceStart);
  EXPECT_EQ(inputs->Attach(*request, inputs->NewStates()).code(), base::StatusCode::kUnavailable);
  EXPECT_TRUE(request->inputs().empty());
  EXPECT_EQ(request->states, nullptr);
  Finish(std::move(request));
}

TEST_F(SequenceInputsTest, ANullRequestHasShapesAndNothingElse) {
  const auto inputs = MakeSequenceInputs(flags_ + Corrid("UINT64") + StateText("FP32", "[ -1 ]"));
  const auto states = inputs->NewStates();
  const std::string floats(12, 'f');
  std::string texts;
  tensor::AppendBytesElement("hello", &texts);
  tensor::AppendBytesElement("you", &texts);
  auto reference = NewRequest(uint64_t{5}, kFlagSequenceStart | kFlagSequenceEnd);
  reference->id = "name";
  reference->requested_outputs = {"OUT"};
  (*reference->AddInput("IN", DataType::kFp32, {1, 3}))->Append(floats.data(), floats.size());
  reference->inputs().Find("IN")->model_shape = {3, 1};
  (*reference->AddInput("TEXT", DataType::kBytes, {1, 2}))->Append(texts.data(), texts.size());
  ASSERT_TRUE(inputs->Attach(*reference, states).ok());

  auto null = inputs->NewNullRequest(*reference).value();
  EXPECT_TRUE(null->is_null);
  EXPECT_EQ(null->id, "");
  EXPECT_EQ(null->flags, 0u);
  EXPECT_EQ(null->batch_size, 1u);
  EXPECT_TRUE(null->requested_outputs.empty());
  EXPECT_EQ(null->model(), reference->model());
  ASSERT_EQ(null->inputs().size(), reference->inputs().size());
  EXPECT_EQ(null->inputs().Find("IN")->shape, (Shape{1, 3}));
  EXPECT_EQ(null->inputs().Find("IN")->model_shape, (Shape{3, 1}));
  EXPECT_EQ(Content(*null, "IN"), std::string(12, '\0'));
  EXPECT_EQ(Content(*null, "TEXT"), std::string(8, '\0')) << "two empty texts";
  EXPECT_EQ(Content(*null, "S"), Bytes<int32_t>(-5));
  EXPECT_EQ(Content(*null, "E"), Bytes<float>(0.5F));
  EXPECT_EQ(Content(*null, "R"), Bytes<bool>(false));
  EXPECT_EQ(Content(*null, "ID"), Bytes<uint64_t>(0));
  EXPECT_EQ(null->inputs().Find("S_IN")->shape, (Shape{1, 1}));
  EXPECT_NE(null->states, reference->states);

  // It may be executed like any other; nobody hears of it.
  OutputState* const output = *null->states->NewOutput("S_OUT", DataType::kFp32, {1, 1});
  ASSERT_TRUE(null->states->Buffer(output, 4).ok());
  EXPECT_TRUE(null->states->Update(output).ok());
  auto response = null->response_factory()->NewResponse().value();
  auto factory = null->response_factory();
  factory->Send(std::move(response), true);
  factory.reset();
  ReleaseRequest(std::move(null));
  EXPECT_EQ(sink_->finals(), 0u);
  Finish(std::move(reference));
}

TEST_F(SequenceInputsTest, ANullRequestOfTextIdsHasAnEmptyOne) {
  const auto inputs = MakeSequenceInputs(Corrid("STRING"));
  auto reference = NewRequest(std::string("abc"));
  ASSERT_TRUE(inputs->Attach(*reference, nullptr).ok());
  auto null = inputs->NewNullRequest(*reference).value();
  EXPECT_EQ(Content(*null, "ID"), std::string(4, '\0'));
  Finish(std::move(null));
  Finish(std::move(reference));
}

TEST_F(SequenceInputsTest, AControlReplacesWhatAClientSent) {
  const auto inputs = MakeSequenceInputs(Control("IN", "START", "fp32_false_true: [ 0, 1 ]"));
  auto request = NewRequest(uint64_t{1}, kFlagSequenceStart);
  const float lie = 0;
  (*request->AddInput("IN", DataType::kFp32, {1, 1}))->Append(&lie, sizeof(lie));
  ASSERT_TRUE(inputs->Attach(*request, nullptr).ok());
  EXPECT_EQ(Content(*request, "IN"), Bytes<float>(1));
  Finish(std::move(request));
  EXPECT_EQ(Content(*sink_->released_requests()[0], "IN"), Bytes<float>(0));
}

TEST_F(SequenceInputsTest, AModelWithoutStatesHasNone) {
  EXPECT_EQ(MakeSequenceInputs(flags_)->NewStates(), nullptr);
  EXPECT_FALSE(MakeSequenceInputs(flags_)->has_states());
}

}  // namespace
}  // namespace nereid::request
