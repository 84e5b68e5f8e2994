// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "request/sequence_states.h"
#include "request/testing/make_states.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::StatusCode;
using tensor::DataType;
using ::testing::HasSubstr;

std::string Ints(std::vector<int32_t> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t)};
}

std::shared_ptr<SequenceStates> NewStates(const std::string& type, const std::string& dims,
                                          const std::string& more = "") {
  return MakeSequenceInputs(StateText(type, dims, more))->NewStates();
}

base::Status Restore(SequenceStates& states, SavedState saved) {
  return states.Restore({std::move(saved)});
}

TEST(SavedStatesTest, ValuesContinueInAnotherServer) {
  const auto from = NewStates("INT32", "[ -1 ]");
  ASSERT_TRUE(from->Reset().ok());
  const auto output = from->NewOutput("S_OUT", DataType::kInt32, {1, 3});
  ASSERT_TRUE(output.ok());
  const auto buffer = from->Buffer(*output, 12);
  ASSERT_TRUE(buffer.ok());
  std::memcpy(*buffer, Ints({7, 8, 9}).data(), 12);
  ASSERT_TRUE(from->Update(*output).ok());
  from->Commit();

  const auto saved = from->Save();
  ASSERT_TRUE(saved.ok());
  ASSERT_EQ(saved->size(), 1u);
  EXPECT_EQ((*saved)[0].name, "S_OUT");
  EXPECT_EQ((*saved)[0].bytes, Ints({7, 8, 9}));

  const auto to = NewStates("INT32", "[ -1 ]");
  EXPECT_FALSE(to->is_set());
  ASSERT_TRUE(to->Restore(*saved).ok());
  EXPECT_TRUE(to->is_set());
  EXPECT_EQ(to->shape(0), (tensor::Shape{1, 3}));
  EXPECT_EQ(std::string(to->value(0).data, to->value(0).size), Ints({7, 8, 9}));
}

TEST(SavedStatesTest, EmptyStatesAreStates) {
  const auto to = NewStates("INT32", "[ -1 ]");
  ASSERT_TRUE(Restore(*to, {"S_OUT", DataType::kInt32, {1, 0}, ""}).ok());
  EXPECT_EQ(to->value(0).size, 0u);
}

TEST(SavedStatesTest, OtherStatesAreRefused) {
  const auto to = NewStates("INT32", "[ 2 ]");
  EXPECT_EQ(to->Restore({}).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Restore(*to, {"OTHER", DataType::kInt32, {1, 2}, Ints({1, 2})}).message(),
              HasSubstr("state 'OTHER', which model 'm' has not"));
  EXPECT_THAT(Restore(*to, {"S_OUT", DataType::kFp32, {1, 2}, Ints({1, 2})}).message(),
              HasSubstr("is FP32 [1,2] in the sequence, but its configuration says INT32 [1,2]"));
  EXPECT_THAT(Restore(*to, {"S_OUT", DataType::kInt32, {1, 3}, Ints({1, 2, 3})}).message(),
              HasSubstr("configuration says INT32 [1,2]"));
  EXPECT_THAT(Restore(*to, {"S_OUT", DataType::kInt32, {1, 2}, Ints({1})}).message(),
              HasSubstr("cannot have 4 bytes"));
  EXPECT_FALSE(to->is_set());
}

TEST(SavedStatesTest, OneStateTwiceIsRefused) {
  const auto to =
      MakeSequenceInputs(
          "state { input_name: \"A\" output_name: \"X\" data_type: TYPE_INT32 dims: [ 1 ] } "
          "state { input_name: \"B\" output_name: \"Y\" data_type: TYPE_INT32 dims: [ 1 ] }")
          ->NewStates();
  const SavedState once{"X", DataType::kInt32, {1, 1}, Ints({1})};
  EXPECT_THAT(to->Restore({once, once}).message(), HasSubstr("state 'X' twice"));
}

TEST(SavedStatesTest, StringsAreChecked) {
  const auto to = NewStates("STRING", "[ 1 ]");
  std::string element;
  tensor::AppendBytesElement("text", &element);
  EXPECT_TRUE(Restore(*to, {"S_OUT", DataType::kBytes, {1, 1}, element}).ok());
  element[0] = 100;
  EXPECT_EQ(Restore(*to, {"S_OUT", DataType::kBytes, {1, 1}, element}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::request
