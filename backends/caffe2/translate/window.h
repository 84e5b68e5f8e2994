// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "caffe2/operator.h"

namespace nereid::caffe2 {

/// The arguments that convolutions and pools share, for a number of space dimensions. Each may be
/// given as one value (kernel, stride, pad, dilation, adj), for height and width (kernel_h, pad_t
/// ...) or as a list (kernels, pads ...).
struct Window {
  enum class LegacyPad { kNone = 0, kValid = 1, kSame = 2, kCaffe = 3 };

  std::vector<int64_t> kernels;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  /// The pads before each dimension, then those after each.
  std::vector<int64_t> pads;
  std::vector<int64_t> adjs;
  LegacyPad legacy = LegacyPad::kNone;

  size_t dims() const { return strides.size(); }
};

/// Reads the arguments. `kernels` are the default kernel sizes; if they are empty, the net must
/// give them. Sizes are 1 to 2^31-1, pads 0 to 2^31-1.
Error ReadWindow(const Operator& op, size_t dims, const std::vector<int64_t>& kernels,
                 Window* window);

/// The pads and output sizes for an input of known or unknown size. Where the pads of a legacy rule
/// cannot be computed, the equivalent rule of ONNX is used instead (same_upper, ceil). `out` has
/// the sizes of the output, -1 if unknown.
struct ResolvedWindow {
  std::vector<int64_t> pads;
  std::vector<int64_t> out;
  bool same_upper = false;
  bool ceil = false;

  void AddPads(Attributes* attributes) const;
};
ResolvedWindow Resolve(const Window& window, const Shape& space);

}  // namespace nereid::caffe2
