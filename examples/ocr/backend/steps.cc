// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "greedy_decoder.h"
#include "resize.h"
#include "tensors.h"
#include "text_boxes.h"
#include "warp.h"

namespace nereid::ocr {
namespace {

using backend::BatchMember;
using backend::Error;

// The detection model halves its image five times.
constexpr int64_t kGrid = 32;
constexpr int64_t kBoxFloats = 8;
// The middle between black and white.
constexpr float kGray = 0;

int64_t OnGrid(double side) {
  return std::max(kGrid, static_cast<int64_t>(std::llround(side / kGrid)) * kGrid);
}

Error Prepare(const OcrModel& model, Scratch* scratch, BatchMember* member) {
  Image image;
  NEREID_BACKEND_TRY(ReadImage(*member, &scratch->first, &image));
  const auto width = static_cast<double>(image.columns);
  const auto height = static_cast<double>(image.rows);
  const double scale =
      std::min(1.0, static_cast<double>(model.longest_side()) / std::max(width, height));
  const int64_t rows = OnGrid(height * scale);
  const int64_t columns = OnGrid(width * scale);
  float* out = nullptr;
  NEREID_BACKEND_TRY(
      AllocateFloats(*member, "tensor", std::vector<int64_t>{1, 3, rows, columns}, &out));
  Resize(image, static_cast<size_t>(rows), static_cast<size_t>(columns),
         {out, static_cast<size_t>(columns), static_cast<size_t>(rows * columns)});
  return {};
}

Frame FrameOf(const TextBox& box) {
  const auto& [top_left, top_right, bottom_right, bottom_left] = box.corners;
  return {top_left,
          {top_right.x - top_left.x, top_right.y - top_left.y},
          {bottom_left.x - top_left.x, bottom_left.y - top_left.y}};
}

// Returns the columns of a line that is scaled to kLineRows rows.
int64_t LineColumns(const OcrModel& model, const Frame& frame) {
  const float across = std::hypot(frame.across.x, frame.across.y);
  const float down = std::hypot(frame.down.x, frame.down.y);
  const auto columns = static_cast<int64_t>(std::lround(across * kLineRows / down));
  return std::clamp(columns, kLineRows, model.max_columns());
}

// Finds the boxes in pixels of the image. Returns an error if there are too many.
Error FindLines(const OcrModel& model, const Image& image, const Tensor& probabilities,
                std::vector<TextBox>* boxes) {
  const auto& shape = probabilities.shape;
  if (shape[0] != 1 || shape[1] != 1 || shape[2] < 1 || shape[3] < 1) {
    return Error::InvalidArgument("input 'probabilities' has the shape " +
                                  backend::ShapeText(shape) + ", expected [1,1,rows,columns]");
  }
  const auto rows = static_cast<size_t>(shape[2]);
  const auto columns = static_cast<size_t>(shape[3]);
  BoxRules rules;
  rules.unclip = model.unclip();
  *boxes = FindTextBoxes(probabilities.floats(), rows, columns, rules);
  if (static_cast<int64_t>(boxes->size()) > model.max_boxes()) {
    return Error::InvalidArgument("the image shows " + std::to_string(boxes->size()) +
                                  " pieces of text, but the parameter 'max_boxes' of model '" +
                                  model.name() + "' is " + std::to_string(model.max_boxes()));
  }
  for (TextBox& box : *boxes) {
    for (Point& corner : box.corners) {
      corner.x *= static_cast<float>(image.columns) / static_cast<float>(columns);
      corner.y *= static_cast<float>(image.rows) / static_cast<float>(rows);
    }
  }
  return {};
}

// Writes one batch for the recognition model. All lines have the width of the widest one; the rest
// is gray. A batch cannot be empty: without text it contains one gray line without a box.
Error WriteLines(const OcrModel& model, const Image& image, const std::vector<TextBox>& boxes,
                 const BatchMember& member) {
  std::vector<int64_t> columns;
  int64_t widest = kLineRows;
  for (const TextBox& box : boxes) {
    columns.push_back(LineColumns(model, FrameOf(box)));
    widest = std::max(widest, columns.back());
  }
  // The width is rounded up, so that there are few different widths and requests fit into one
  // batch.
  widest = (widest + kGrid - 1) / kGrid * kGrid;
  const auto lines = static_cast<int64_t>(std::max<size_t>(1, boxes.size()));
  float* out = nullptr;
  NEREID_BACKEND_TRY(
      AllocateFloats(member, "lines", std::vector<int64_t>{lines, 3, kLineRows, widest}, &out));
  const auto stride = static_cast<size_t>(widest);
  const size_t plane = kLineRows * stride;
  Pyramid pyramid(image);
  for (size_t i = 0; i < static_cast<size_t>(lines); ++i) {
    float* line = out + i * 3 * plane;
    const size_t used = boxes.empty() ? 0 : static_cast<size_t>(columns[i]);
    if (used != 0) {
      pyramid.Warp(FrameOf(boxes[i]), kLineRows, used, {line, stride, plane});
    }
    for (size_t row = 0; row < 3 * size_t{kLineRows}; ++row) {
      std::fill(line + row * stride + used, line + (row + 1) * stride, kGray);
    }
  }
  return {};
}

Error Crop(const OcrModel& model, Scratch* scratch, BatchMember* member) {
  Image image;
  NEREID_BACKEND_TRY(ReadImage(*member, &scratch->first, &image));
  Tensor probabilities;
  NEREID_BACKEND_TRY(ReadTensor(*member, "probabilities", TRITONSERVER_TYPE_FP32, 4,
                                &scratch->second, &probabilities));
  std::vector<TextBox> boxes;
  NEREID_BACKEND_TRY(FindLines(model, image, probabilities, &boxes));
  if (Wants(*member, "lines")) {
    NEREID_BACKEND_TRY(WriteLines(model, image, boxes, *member));
  }
  if (!Wants(*member, "boxes")) {
    return {};
  }
  std::vector<float> corners;
  for (const TextBox& box : boxes) {
    for (const Point& corner : box.corners) {
      corners.insert(corners.end(), {corner.x, corner.y});
    }
  }
  return WriteFloats(*member, "boxes",
                     std::vector<int64_t>{static_cast<int64_t>(boxes.size()), 4, 2}, corners);
}

// The response to the client: the lines that could be read.
struct Answer {
  std::vector<std::string> texts;
  std::vector<float> boxes;
  std::vector<float> scores;
};

Error WriteAnswer(const Answer& answer, const BatchMember& member) {
  const auto count = static_cast<int64_t>(answer.texts.size());
  if (Wants(member, "texts")) {
    NEREID_BACKEND_TRY(WriteTexts(member, "texts", answer.texts));
  }
  if (Wants(member, "boxes")) {
    NEREID_BACKEND_TRY(
        WriteFloats(member, "boxes", std::vector<int64_t>{count, 4, 2}, answer.boxes));
  }
  if (Wants(member, "scores")) {
    NEREID_BACKEND_TRY(WriteFloats(member, "scores", std::vector<int64_t>{count}, answer.scores));
  }
  return {};
}

Error CheckDecoderInputs(const OcrModel& model, const Tensor& lines, const Tensor& boxes) {
  const auto entries = static_cast<int64_t>(model.characters().size());
  if (lines.shape[2] != entries) {
    return Error::InvalidArgument("input 'steps' has the shape " + backend::ShapeText(lines.shape) +
                                  ", but the characters.txt of model '" + model.name() + "' has " +
                                  std::to_string(entries) + " lines");
  }
  if (boxes.shape[0] > lines.shape[0] || boxes.shape[1] != 4 || boxes.shape[2] != 2) {
    return Error::InvalidArgument("input 'found_boxes' has the shape " +
                                  backend::ShapeText(boxes.shape) + ", expected [" +
                                  std::to_string(lines.shape[0]) + ",4,2] or less");
  }
  return {};
}

Error Decode(const OcrModel& model, Scratch* scratch, BatchMember* member) {
  Tensor lines;
  Tensor boxes;
  NEREID_BACKEND_TRY(
      ReadTensor(*member, "steps", TRITONSERVER_TYPE_FP32, 3, &scratch->first, &lines));
  NEREID_BACKEND_TRY(
      ReadTensor(*member, "found_boxes", TRITONSERVER_TYPE_FP32, 3, &scratch->second, &boxes));
  NEREID_BACKEND_TRY(CheckDecoderInputs(model, lines, boxes));
  const auto steps = static_cast<size_t>(lines.shape[1]);
  Answer answer;
  for (size_t i = 0; i < static_cast<size_t>(boxes.shape[0]); ++i) {
    ReadText read = DecodeGreedily(lines.floats() + i * steps * model.characters().size(), steps,
                                   model.characters());
    if (read.text.empty() || !(read.score >= model.least_score())) {
      continue;
    }
    answer.texts.push_back(std::move(read.text));
    answer.scores.push_back(read.score);
    const float* box = boxes.floats() + i * kBoxFloats;
    answer.boxes.insert(answer.boxes.end(), box, box + kBoxFloats);
  }
  return WriteAnswer(answer, *member);
}

}  // namespace

Error RunStep(const OcrModel& model, Scratch* scratch, BatchMember* member) {
  switch (model.step()) {
    case Step::kPrepare:
      return Prepare(model, scratch, member);
    case Step::kCrop:
      return Crop(model, scratch, member);
    case Step::kDecode:
      return Decode(model, scratch, member);
  }
  return Error::Internal("no such step");
}

}  // namespace nereid::ocr
