// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "caffe2/operator.h"

namespace nereid::caffe2 {

/// The arguments that convolutions and pools share, for `dims` dimensions of space: each is given
/// once (kernel, stride, pad, dilation, adj), for height and width (kernel_h, pad_t ...), or as a
/// list (kernels, pads ...).
struct Window {
  enum class LegacyPad { kNone = 0, kValid = 1, kSame = 2, kCaffe = 3 };

  std::vector<int64_t> kernels;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  /// In front of each dimension, then behind each.
  std::vector<int64_t> pads;
  std::vector<int64_t> adjs;
  LegacyPad legacy = LegacyPad::kNone;

  size_t dims() const { return strides.size(); }
};

/// `kernels` is what the kernels are where the net gives none; it may be empty, which is a failure
/// then. Sizes are 1 to 2^31-1, pads 0 to 2^31-1.
Error ReadWindow(const Operator& op, size_t dims, const std::vector<int64_t>& kernels,
                 Window* window);

/// What the legacy rules make of an input of `space`: pads where they can be known, ONNX's rule of
/// the same meaning where not. Sets `out` to the sizes of the output, -1 where unknown.
struct ResolvedWindow {
  std::vector<int64_t> pads;
  std::vector<int64_t> out;
  bool same_upper = false;
  bool ceil = false;

  void AddPads(Attributes* attributes) const;
};
ResolvedWindow Resolve(const Window& window, const Shape& space);

}  // namespace nereid::caffe2
