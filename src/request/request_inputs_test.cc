// SPDX-License-Identifier: Apache-2.0
#include "request/request_inputs.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::request {
namespace {

using tensor::DataType;

std::string Names(const RequestInputs& inputs) {
  std::string names;
  for (const Input& input : inputs) names += input.name;
  return names;
}

TEST(RequestInputsTest, NamesAreUniqueAmongFewAndAmongMany) {
  RequestInputs inputs;
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(inputs.Add(name, DataType::kBool, {1}).ok());
    EXPECT_EQ(inputs.Add(name, DataType::kInt8, {1}).status().message(),
              "input '" + name + "' already exists in request");
  }
  EXPECT_EQ(inputs.size(), 40u);
}

TEST(RequestInputsTest, ARemovedNameMayBeAddedAgain) {
  RequestInputs inputs;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(inputs.Add(std::to_string(i), DataType::kBool, {1}).ok());
  }
  ASSERT_TRUE(inputs.Remove("7").ok());
  EXPECT_EQ(inputs.Remove("7").message(), "input '7' does not exist in request");
  EXPECT_TRUE(inputs.Add("7", DataType::kBool, {1}).ok());
  EXPECT_FALSE(inputs.Add("19", DataType::kBool, {1}).ok());
  inputs.Clear();
  EXPECT_TRUE(inputs.empty());
  EXPECT_TRUE(inputs.Add("19", DataType::kBool, {1}).ok());
}

TEST(RequestInputsTest, ARawInputIsTheOnlyOneUntilItIsResolved) {
  RequestInputs inputs;
  ASSERT_TRUE(inputs.AddRaw("r").ok());
  EXPECT_TRUE(inputs.is_raw());
  EXPECT_EQ(inputs.Add("A", DataType::kBool, {1}).status().message(),
            "input 'A' cannot be added to a raw request, which has one nameless input");
  EXPECT_EQ(inputs.AddRaw("s").status().message(),
            "raw input 's' can't be added to request with other inputs");
  inputs.ResolveRaw().name = "IN";
  EXPECT_FALSE(inputs.is_raw());
  EXPECT_NE(inputs.Find("IN"), nullptr);
  ASSERT_TRUE(inputs.Remove("IN").ok());
  ASSERT_TRUE(inputs.AddRaw("r").ok());
  inputs.Clear();
  EXPECT_FALSE(inputs.is_raw());
}

TEST(RequestInputsTest, InputsOfTheServerFollowHideAndGo) {
  RequestInputs inputs;
  ASSERT_TRUE(inputs.Add("A", DataType::kBool, {1}).ok());
  ASSERT_TRUE(inputs.Add("B", DataType::kBool, {1}).ok());
  inputs.Find("A")->Append("12", 2);
  Input* const hiding = inputs.AddByServer("A", DataType::kInt8, {3});
  hiding->Append("345", 3);
  EXPECT_EQ(inputs.AddByServer("C", DataType::kInt8, {1, 2})->model_shape, (tensor::Shape{1, 2}));
  EXPECT_EQ(Names(inputs), "ABAC");
  EXPECT_EQ(inputs.client().size(), 2u);
  EXPECT_EQ(inputs.Find("A")->type, DataType::kInt8);
  EXPECT_EQ(inputs.ByteSize(), 5u);
  inputs.RemoveAddedByServer();
  EXPECT_EQ(Names(inputs), "AB");
  EXPECT_EQ(inputs.Find("A")->type, DataType::kBool);
  EXPECT_EQ(inputs.client().size(), 2u);
  inputs.RemoveAddedByServer();
  EXPECT_EQ(Names(inputs), "AB");
}

}  // namespace
}  // namespace nereid::request
