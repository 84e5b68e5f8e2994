// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
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

  // Needs characters.txt: a blank, a and b.
  std::string LoadDecode() {
    server_.model().directory = ::testing::TempDir() + "ocr_decode";
    std::filesystem::create_directories(server_.model().directory);
    std::ofstream(server_.model().directory + "/characters.txt") << "blank\na\nb\n";
    return Load("decode", Tensor("steps", "-1,-1,3") + "," + Tensor("found_boxes", "-1,4,2"),
                Tensor("texts", "-1", "TYPE_STRING") + "," + Tensor("boxes", "-1,4,2") + "," +
                    Tensor("scores", "-1"));
  }

  FakeServer server_;
};

// Returns a request to the step "decode" with `lines` lines of two steps each: b, then nothing.
TRITONBACKEND_Request LinesOfB(int64_t lines, std::vector<int64_t> boxes, float probability) {
  TRITONBACKEND_Request request;
  std::vector<float> steps;
  for (int64_t i = 0; i < lines; ++i) {
    steps.insert(steps.end(), {0, 0, probability, 0.9F, 0, 0});
  }
  request.AddInput("steps", TRITONSERVER_TYPE_FP32, {lines, 2, 3}, steps);
  const auto count = static_cast<size_t>(boxes[0] * boxes[1] * boxes[2]);
  request.AddInput("found_boxes", TRITONSERVER_TYPE_FP32, boxes, std::vector<float>(count, 7));
  request.outputs = {"texts", "boxes", "scores"};
  return request;
}

// Returns a request to the step "crop" for a gray image.
TRITONBACKEND_Request Crop(int64_t rows, int64_t columns, const std::vector<int64_t>& map_shape,
                           const std::vector<float>& map) {
  TRITONBACKEND_Request request;
  request.AddInput("image", TRITONSERVER_TYPE_UINT8, {rows, columns, 3},
                   std::vector<uint8_t>(static_cast<size_t>(rows * columns * 3), 90));
  request.AddInput("probabilities", TRITONSERVER_TYPE_FP32, map_shape, map);
  request.outputs = {"lines", "boxes"};
  return request;
}

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

TEST_F(OcrStepTest, RefusesAnImageOfTheWrongSize) {
  ASSERT_EQ(LoadCrop(), "");
  TRITONBACKEND_Request request;
  request.AddInput<uint8_t>("image", TRITONSERVER_TYPE_UINT8, {2, 5, 3}, {1, 2, 3});
  request.AddInput<float>("probabilities", TRITONSERVER_TYPE_FP32, {1, 1, 1, 1}, {0});
  request.outputs = {"boxes"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().message,
            "input 'image' has 3 bytes, but its shape [2,5,3] of UINT8 needs 30");
}

TEST_F(OcrStepTest, RefusesAnotherMapOfProbabilities) {
  ASSERT_EQ(LoadCrop(), "");
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{2, 1, 1, 2}, std::vector<int64_t>{1, 2, 2, 1}}) {
    TRITONBACKEND_Request request = Crop(2, 2, shape, std::vector<float>(4, 1));
    ASSERT_EQ(server_.Execute({&request}), "");
    EXPECT_NE(request.Answer().message.find("expected [1,1,rows,columns]"), std::string::npos);
  }
  TRITONBACKEND_Request empty = Crop(2, 2, {1, 1, 0, 4}, {});
  ASSERT_EQ(server_.Execute({&empty}), "");
  EXPECT_EQ(empty.Answer().message,
            "input 'probabilities' has the shape [1,1,0,4], expected [1,1,rows,columns]");
}

TEST_F(OcrStepTest, CropsFromTheSmallestImageAndFromAMapThatIsNoNumber) {
  ASSERT_EQ(LoadCrop(), "");
  // All of it is text, and the box extends far beyond the image.
  TRITONBACKEND_Request pixel = Crop(1, 1, {1, 1, 32, 32}, std::vector<float>(1024, 1));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TRITONBACKEND_Request none = Crop(40, 40, {1, 1, 32, 32}, std::vector<float>(1024, nan));
  ASSERT_EQ(server_.Execute({&pixel, &none}), "");
  const auto& lines = pixel.Answer().outputs.at("lines");
  EXPECT_EQ(lines.shape, (std::vector<int64_t>{1, 3, 48, 64}));
  EXPECT_NEAR(lines.As<float>()[0], 90 / 127.5 - 1, 1e-5);
  // Squares of 48 columns; the rest is padded.
  EXPECT_EQ(lines.As<float>()[63], 0);
  EXPECT_EQ(pixel.Answer().outputs.at("boxes").shape, (std::vector<int64_t>{1, 4, 2}));
  EXPECT_EQ(none.Answer().outputs.at("boxes").shape, (std::vector<int64_t>{0, 4, 2}));
}

TEST_F(OcrStepTest, FillsUpShorterLinesAndSqueezesLongOnes) {
  ASSERT_EQ(
      LoadCrop(R"(,"max_columns":{"string_value":"128"},"unclip_percent":{"string_value":"0"})"),
      "");
  MarkedMap map{64, 512};
  map.Mark({256, 16}, 500, 12, 0, 0.9F);
  map.Mark({100, 48}, 24, 12, 0, 0.9F);
  TRITONBACKEND_Request request = Crop(64, 512, {1, 1, 64, 512}, map.values);
  ASSERT_EQ(server_.Execute({&request}), "");
  const auto& lines = request.Answer().outputs.at("lines");
  ASSERT_EQ(lines.shape, (std::vector<int64_t>{2, 3, 48, 128}));
  const std::vector<float> values = lines.As<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const bool filled_up = i >= values.size() / 2 && i % 128 >= 96;
    ASSERT_NEAR(values[i], filled_up ? 0 : 90 / 127.5 - 1, 1e-5) << "number " << i;
  }
}

TEST_F(OcrStepTest, DecodesAsManyLinesAsThereAreBoxes) {
  ASSERT_EQ(LoadDecode(), "");
  TRITONBACKEND_Request two = LinesOfB(2, {2, 4, 2}, 0.8F);
  TRITONBACKEND_Request none = LinesOfB(1, {0, 4, 2}, 0.8F);
  TRITONBACKEND_Request unsure = LinesOfB(1, {1, 4, 2}, 0.4F);
  ASSERT_EQ(server_.Execute({&two, &none, &unsure}), "");
  EXPECT_EQ(backend::testing::BytesElements(two.Answer().outputs.at("texts").data),
            (std::vector<std::string>{"b", "b"}));
  EXPECT_EQ(two.Answer().outputs.at("scores").As<float>(), (std::vector<float>{0.8F, 0.8F}));
  EXPECT_EQ(two.Answer().outputs.at("boxes").As<float>(), std::vector<float>(16, 7));
  for (const TRITONBACKEND_Request* request : {&none, &unsure}) {
    EXPECT_EQ(request->Answer().outputs.at("texts").shape, std::vector<int64_t>{0});
    EXPECT_EQ(request->Answer().outputs.at("boxes").shape, (std::vector<int64_t>{0, 4, 2}));
  }
}

TEST_F(OcrStepTest, LeavesOutLinesWhoseScoresAreNoNumbers) {
  ASSERT_EQ(LoadDecode(), "");
  TRITONBACKEND_Request request = LinesOfB(1, {1, 4, 2}, std::numeric_limits<float>::quiet_NaN());
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("texts").shape, std::vector<int64_t>{0});
}

TEST_F(OcrStepTest, RefusesBoxesThatDoNotFitTheLines) {
  ASSERT_EQ(LoadDecode(), "");
  for (const std::vector<int64_t>& boxes :
       {std::vector<int64_t>{3, 4, 2}, std::vector<int64_t>{1, 2, 4}}) {
    TRITONBACKEND_Request request = LinesOfB(2, boxes, 0.8F);
    ASSERT_EQ(server_.Execute({&request}), "");
    EXPECT_NE(request.Answer().message.find("expected [2,4,2] or less"), std::string::npos);
  }
}

TEST_F(OcrStepTest, MakesOnlyWhatIsAskedFor) {
  ASSERT_EQ(LoadDecode(), "");
  TRITONBACKEND_Request request = LinesOfB(1, {1, 4, 2}, 0.8F);
  request.outputs = {"texts"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.size(), 1u);
  ASSERT_EQ(LoadCrop(), "");
  TRITONBACKEND_Request boxes = Crop(32, 32, {1, 1, 32, 32}, std::vector<float>(1024, 1));
  boxes.outputs = {"boxes"};
  ASSERT_EQ(server_.Execute({&boxes}), "");
  EXPECT_EQ(boxes.Answer().outputs.count("lines"), 0u);
}

}  // namespace
}  // namespace nereid::ocr
