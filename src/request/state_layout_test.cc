// SPDX-License-Identifier: Apache-2.0
#include "request/state_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "request/testing/make_states.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using ::testing::HasSubstr;

class StateLayoutTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(root_ + "/initial_state"); }
  void File(const std::string& name, const std::string& content) const {
    std::ofstream(root_ + "/" + name, std::ios::binary) << content;
  }
  base::Result<std::shared_ptr<const StateLayout>> Create(const std::string& type,
                                                          const std::string& dims,
                                                          const std::string& initial_dims,
                                                          const std::string& data,
                                                          bool batching = true) const {
    const auto model = MakeModel(R"(name: "m" sequence_batching { )" +
                                 StateText(type, dims,
                                           "initial_state { name: \"i\" data_type: TYPE_" + type +
                                               " dims: " + initial_dims + " " + data + " }") +
                                 "}");
    return StateLayout::Create("m", model->config->sequence_batching()->states, batching, root_);
  }
  std::string Failure(const std::string& type, const std::string& dims,
                      const std::string& initial_dims, const std::string& data) const {
    const auto layout = Create(type, dims, initial_dims, data);
    EXPECT_EQ(layout.status().code(), base::StatusCode::kInvalidArgument);
    return layout.status().message();
  }

  const std::unique_ptr<base::TemporaryDirectory> directory_ =
      base::TemporaryDirectory::Create().value();
  const std::string root_ = directory_->path();
};

TEST_F(StateLayoutTest, ReadsTheFile) {
  File("initial_state/data", "12345678");
  const auto layout = Create("INT32", "[ 2, -1 ]", "[ 2, 1 ]", "data_file: \"data\"").value();
  const StateLayout::Entry& entry = layout->entries()[0];
  EXPECT_EQ(entry.initial_bytes, "12345678");
  EXPECT_EQ(entry.initial_size, 8u);
  EXPECT_EQ(entry.initial_shape, (tensor::Shape{1, 2, 1}));
  EXPECT_EQ(entry.full_dims, (tensor::Shape{1, 2, -1}));
  EXPECT_EQ(layout->FindOutput("S_OUT"), 0u);
  EXPECT_EQ(layout->FindOutput("S_IN"), 1u);
}

TEST_F(StateLayoutTest, WithoutBatchingThereIsNoBatchDimension) {
  const auto layout = Create("INT32", "[ -1 ]", "[ 1 ]", "zero_data: true", false).value();
  EXPECT_EQ(layout->entries()[0].initial_shape, (tensor::Shape{1}));
}

TEST_F(StateLayoutTest, WhatAFileHasTooMuchIsLeftAway) {
  File("initial_state/data", "123456789");
  EXPECT_EQ(
      Create("INT32", "[ 2 ]", "[ 2 ]", "data_file: \"data\"").value()->entries()[0].initial_bytes,
      "12345678");
}

TEST_F(StateLayoutTest, AFileThatIsTooShort) {
  File("initial_state/data", "1234567");
  EXPECT_EQ(Failure("INT32", "[ 2 ]", "[ 2 ]", "data_file: \"data\""),
            "initial_state setting of state 'S_IN' of model 'm' expects 8 bytes, but the data "
            "provided from data only has 7 bytes");
}

TEST_F(StateLayoutTest, AFileThatIsNotThere) {
  const auto layout = Create("INT32", "[ 2 ]", "[ 2 ]", "data_file: \"gone\"");
  EXPECT_THAT(layout.status().message(), HasSubstr("initial state of state 'S_IN' of model 'm': "));
  EXPECT_THAT(layout.status().message(), HasSubstr("/initial_state/gone"));
}

TEST_F(StateLayoutTest, AFileOutsideOfTheDirectory) {
  File("secret", "12345678");
  for (const char* name : {"../secret", "x/../../secret", ".."}) {
    EXPECT_THAT(Failure("INT32", "[ 2 ]", "[ 2 ]", std::string("data_file: \"") + name + "\""),
                HasSubstr("is outside the directory"));
  }
  std::filesystem::create_symlink("../secret", root_ + "/initial_state/link");
  EXPECT_THAT(Failure("INT32", "[ 2 ]", "[ 2 ]", "data_file: \"link\""),
              HasSubstr("is outside the directory"));
}

TEST_F(StateLayoutTest, AFileForDimsThatAStateDoesNotBeginWith) {
  File("initial_state/data", std::string(24, 'x'));
  EXPECT_EQ(Failure("INT32", "[ -1, 2 ]", "[ 3, 2 ]", "data_file: \"data\""),
            "the initial_state of state 'S_IN' of model 'm' has dims [3,2], but a state begins "
            "with 1 for each variable dim of [-1,2], that is with dims [1,2]: the file 'data' is "
            "for 24 bytes, the state has 8");
}

TEST_F(StateLayoutTest, ZerosForDimsThatAStateDoesNotBeginWithAreThoseItDoes) {
  const auto layout = Create("INT32", "[ -1, 2 ]", "[ 3, 2 ]", "zero_data: true").value();
  EXPECT_EQ(layout->entries()[0].initial_shape, (tensor::Shape{1, 1, 2}));
  EXPECT_EQ(layout->entries()[0].initial_size, 8u);
}

TEST_F(StateLayoutTest, TextsOfAFile) {
  std::string content;
  tensor::AppendBytesElement("one", &content);
  tensor::AppendBytesElement("", &content);
  File("initial_state/good", content);
  File("initial_state/bad", content + "x");
  EXPECT_EQ(
      Create("STRING", "[ 2 ]", "[ 2 ]", "data_file: \"good\"").value()->entries()[0].initial_bytes,
      content);
  EXPECT_THAT(Failure("STRING", "[ 2 ]", "[ 2 ]", "data_file: \"bad\""),
              HasSubstr("initial_state file 'bad' of state 'S_IN' of model 'm'"));
}

TEST_F(StateLayoutTest, ASizeThatNoMemoryHas) {
  EXPECT_THAT(Failure("INT32", "[ 4611686018427387904, 4 ]", "[ 4611686018427387904, 4 ]",
                      "zero_data: true"),
              HasSubstr("state 'S_IN' of model 'm' cannot have data type INT32 and dims"));
}

}  // namespace
}  // namespace nereid::request
