// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::ocr {

/// The rows of a line of text in the input of the recognition model.
inline constexpr int64_t kLineRows = 48;

/// One of the three steps around the two models; the model's parameter `step` selects it.
enum class Step {
  /// "prepare": converts a client's image to the input of the detection model.
  kPrepare,
  /// "crop": cuts out the lines of text that the detection model marked, for the recognition model.
  kCrop,
  /// "decode": converts the output of the recognition model for each line to text.
  kDecode,
};

/// The object of one loaded version of a model.
class OcrModel {
 public:
  explicit OcrModel(backend::NoBackendState*) {}

  backend::Error Load(TRITONBACKEND_Model* model);

  const std::string& name() const { return name_; }
  Step step() const { return step_; }
  /// Prepare: larger images are scaled down until no side is longer.
  int64_t longest_side() const { return longest_side_; }
  /// Crop: an image with more lines is refused, because they are one batch of the recognition
  /// model.
  int64_t max_boxes() const { return max_boxes_; }
  /// Crop: longer lines are compressed to this number of columns.
  int64_t max_columns() const { return max_columns_; }
  /// Crop: BoxRules::unclip.
  float unclip() const { return static_cast<float>(unclip_percent_) / 100; }
  /// Decode: lines with a lower score are left out.
  float least_score() const { return static_cast<float>(least_score_percent_) / 100; }
  /// Decode: one character for each entry of the recognition model's output.
  const std::vector<std::string>& characters() const { return characters_; }

 private:
  backend::Error ReadStep(const backend::ModelConfig& config);
  backend::Error ReadCharacters(const backend::ModelConfig& config);

  std::string name_;
  Step step_ = Step::kPrepare;
  int64_t longest_side_ = 960;
  int64_t max_boxes_ = 64;
  int64_t max_columns_ = 1600;
  int64_t unclip_percent_ = 200;
  int64_t least_score_percent_ = 50;
  std::vector<std::string> characters_;
};

}  // namespace nereid::ocr
