// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "marked_map.h"
#include "testing/fake_server.h"

namespace nereid::ocr {
namespace {

using backend::testing::FakeServer;

class OcrStepTest : public ::testing::Test {
 protected:
  static std::string Tensor(const std::string& name, const std::string& dims,
                            const std::string& type = "TYPE_FP32") {
    return R"({"name":")" + name + R"(","data_type":")" + type + R"(","dims":[)" + dims + "]}";
  }
  std::string Load(const std::string& step, const std::string& inputs, const std::string& outputs,
                   const std::string& more = "") {
    server_.model().config =
        R"({"name":"m","max_batch_size":0,"input":[)" + inputs + R"(],"output":[)" + outputs +
        R"(],"parameters":{"step":{"string_value":")" + step + R"("})" + more + "}}";
    return server_.Load();
  }
  std::string LoadCrop(const std::string& more = "") {
    return Load(
        "crop",
        Tensor("image", "-1,-1,3", "TYPE_UINT8") + "," + Tensor("probabilities", "1,1,-1,-1"),
        Tensor("lines", "-1,3,48,-1") + "," + Tensor("boxes", "-1,4,2"), more);
  }

  FakeServer server_;
};

TEST_F(OcrStepTest, SaysWhatIsWrongWithAConfiguration) {
  const std::string image = Tensor("image", "-1,-1,3", "TYPE_UINT8");
  EXPECT_EQ(Load("crop", image, ""),
            "model 'm' must have an input 'probabilities' of type TYPE_FP32 with 4 dims");
  EXPECT_EQ(Load("read", image, ""),
            "model 'm': the parameter 'step' must be prepare, crop or decode, not 'read'");
}

TEST_F(OcrStepTest, PreparesForAGridOf32) {
  ASSERT_EQ(Load("prepare", Tensor("image", "-1,-1,3", "TYPE_UINT8"), Tensor("tensor", "1,3,-1,-1"),
                 R"(,"longest_side":{"string_value":"64"})"),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<uint8_t>("image", TRITONSERVER_TYPE_UINT8, {10, 200, 3},
                            std::vector<uint8_t>(6000, 255));
  request.outputs = {"tensor"};
  ASSERT_EQ(server_.Execute({&request}), "");
  const auto& tensor = request.Answer().outputs.at("tensor");
  EXPECT_EQ(tensor.shape, (std::vector<int64_t>{1, 3, 32, 64}));
  for (const float value : tensor.As<float>()) {
    ASSERT_NEAR(value, 1, 1e-5);
  }
}

TEST_F(OcrStepTest, CropsOneLineForNoTextAndRefusesTooMany) {
  ASSERT_EQ(LoadCrop(R"(,"max_boxes":{"string_value":"1"})"), "");
  const std::vector<uint8_t> image(64 * 128 * 3, 200);
  MarkedMap map{64, 128};
  TRITONBACKEND_Request none;
  none.AddInput("image", TRITONSERVER_TYPE_UINT8, {64, 128, 3}, image);
  none.AddInput("probabilities", TRITONSERVER_TYPE_FP32, {1, 1, 64, 128}, map.values);
  none.outputs = {"lines", "boxes"};
  map.Mark({30, 16}, 40, 10, 0, 0.9F);
  map.Mark({30, 48}, 40, 10, 0, 0.9F);
  TRITONBACKEND_Request two;
  two.AddInput("image", TRITONSERVER_TYPE_UINT8, {64, 128, 3}, image);
  two.AddInput("probabilities", TRITONSERVER_TYPE_FP32, {1, 1, 64, 128}, map.values);
  two.outputs = none.outputs;
  ASSERT_EQ(server_.Execute({&none, &two}), "");
  EXPECT_EQ(none.Answer().outputs.at("lines").shape, (std::vector<int64_t>{1, 3, 48, 64}));
  EXPECT_EQ(none.Answer().outputs.at("boxes").shape, (std::vector<int64_t>{0, 4, 2}));
  EXPECT_EQ(two.Answer().message,
            "the image shows 2 pieces of text, but the parameter 'max_boxes' of model 'm' is 1");
}

TEST_F(OcrStepTest, RefusesImpossibleImages) {
  ASSERT_EQ(LoadCrop(), "");
  TRITONBACKEND_Request request;
  request.AddInput<uint8_t>("image", TRITONSERVER_TYPE_UINT8, {0, 5, 3}, {});
  request.AddInput<float>("probabilities", TRITONSERVER_TYPE_FP32, {1, 1, 1, 1}, {0});
  request.outputs = {"boxes"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().message,
            "input 'image' has the shape [0,5,3], expected [rows,columns,3] with 1 to 16777216 "
            "rows and columns");
}

}  // namespace
}  // namespace nereid::ocr
