// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "greedy_decoder.h"
#include "testing/fake_server.h"
#include "text_boxes.h"
#include "warp.h"

namespace nereid::ocr {
namespace {

using backend::testing::FakeServer;

// A map of probabilities; Mark fills the pixels of a rectangle that is turned about its middle.
struct Map {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<float> values = std::vector<float>(rows * columns, 0.0F);

  void Mark(Point middle, float width, float height, float degrees, float probability) {
    const float angle = degrees * static_cast<float>(M_PI) / 180;
    for (size_t y = 0; y < rows; ++y) {
      for (size_t x = 0; x < columns; ++x) {
        const float dx = static_cast<float>(x) + 0.5F - middle.x;
        const float dy = static_cast<float>(y) + 0.5F - middle.y;
        const float u = dx * std::cos(angle) + dy * std::sin(angle);
        const float v = dy * std::cos(angle) - dx * std::sin(angle);
        if (std::abs(u) <= width / 2 && std::abs(v) <= height / 2) {
          values[y * columns + x] = probability;
        }
      }
    }
  }
  std::vector<TextBox> Boxes(const BoxRules& rules = {}) const {
    return FindTextBoxes(values.data(), rows, columns, rules);
  }
};

TEST(TextBoxes, AreGrownAndUpright) {
  Map map{100, 200};
  map.Mark({100, 50}, 80, 10, 0, 0.9F);
  BoxRules rules;
  rules.unclip = 1.8F;
  const std::vector<TextBox> boxes = map.Boxes(rules);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_NEAR(boxes[0].score, 0.9F, 1e-5);
  const float grow = 80 * 10 * 1.8F / 180;
  EXPECT_FLOAT_EQ(boxes[0].corners[0].x, 60 - grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[0].y, 45 - grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[2].x, 140 + grow);
  EXPECT_FLOAT_EQ(boxes[0].corners[2].y, 55 + grow);
}

TEST(TextBoxes, FollowASlant) {
  BoxRules rules;
  rules.unclip = 0;
  for (const float degrees : {-40.0F, -12.0F, 7.0F, 30.0F}) {
    Map map{300, 300};
    map.Mark({150, 150}, 200, 30, degrees, 0.8F);
    const std::vector<TextBox> boxes = map.Boxes(rules);
    ASSERT_EQ(boxes.size(), 1u);
    const auto& corners = boxes[0].corners;
    const Point side{corners[1].x - corners[0].x, corners[1].y - corners[0].y};
    EXPECT_NEAR(std::atan2(side.y, side.x) * 180 / M_PI, degrees, 1.5);
    EXPECT_NEAR(std::hypot(side.x, side.y), 200, 4);
    EXPECT_NEAR(std::hypot(corners[3].x - corners[0].x, corners[3].y - corners[0].y), 30, 4);
  }
}

TEST(TextBoxes, LeaveOutWhatIsUnsureASpeckOrNotANumber) {
  Map map{100, 100};
  map.Mark({20, 20}, 20, 10, 0, 0.4F);
  map.Mark({60, 20}, 20, 2, 0, 0.9F);
  map.Mark({50, 70}, 40, 20, 0, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(map.Boxes().empty());
}

TEST(TextBoxes, ComeInReadingOrder) {
  Map map{200, 300};
  map.Mark({220, 50}, 60, 16, 0, 0.9F);
  map.Mark({60, 54}, 60, 16, 0, 0.9F);
  map.Mark({150, 140}, 60, 16, 0, 0.9F);
  std::vector<float> middles;
  for (const TextBox& box : map.Boxes()) {
    middles.push_back((box.corners[0].x + box.corners[2].x) / 2);
  }
  EXPECT_EQ(middles, (std::vector<float>{60, 220, 150}));
}

TEST(Warp, KeepsPixelsInThePlanesBlueGreenRed) {
  const std::vector<uint8_t> pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  std::vector<float> out(12);
  Warp({pixels.data(), 2, 2}, {{0, 0}, {2, 0}, {0, 2}}, 2, 2, {out.data(), 2, 4});
  EXPECT_EQ(out, (std::vector<float>{-1, -1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1}));
}

TEST(Pyramid, ShrinksToTheMeanAndGoesOnBeyondTheBorder) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 16; ++i) {
    pixels.insert(pixels.end(), 3, i % 2 == 0 ? 255 : 0);
  }
  std::vector<float> out(3);
  Pyramid pyramid({pixels.data(), 4, 4});
  pyramid.Warp({{0, 0}, {4, 0}, {0, 4}}, 1, 1, {out.data(), 1, 1});
  EXPECT_NEAR(out[0], 0, 0.01);  // halves are bytes
  pyramid.Warp({{-30, -30}, {1, 0}, {0, 1}}, 1, 1, {out.data(), 1, 1});
  EXPECT_NEAR(out[0], 1, 1e-5);
}

TEST(GreedyDecoder, MergesRepeatsAndDropsBlanks) {
  const std::vector<std::string> characters = {"blank", "a", "b", "é"};
  std::vector<float> steps;
  for (const size_t best : {0, 1, 1, 0, 1, 3, 3, 2, 0}) {
    std::vector<float> step(4, 0.1F);
    step[best] = 0.7F;
    steps.insert(steps.end(), step.begin(), step.end());
  }
  const ReadText read = DecodeGreedily(steps.data(), 9, characters);
  EXPECT_EQ(read.text, "aaéb");
  EXPECT_FLOAT_EQ(read.score, 0.7F);
  EXPECT_EQ(DecodeGreedily(steps.data(), 1, characters).text, "");
  EXPECT_EQ(DecodeGreedily(steps.data(), 1, characters).score, 0);
}

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
  Map map{64, 128};
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
