// SPDX-License-Identifier: Apache-2.0
#include "caffe2/translate/window.h"

#include <algorithm>
#include <climits>

namespace nereid::caffe2 {
namespace {

/// Reads a list of `count` sizes from the argument in the plural, in the singular, or from its
/// parts.
Error ReadSizes(const Operator& op, const std::string& name, size_t count,
                const std::vector<std::string>& parts, int64_t least, std::vector<int64_t>* sizes) {
  if (op.Has(name + "s")) {
    *sizes = op.Ints(name + "s");
  } else if (op.Has(name)) {
    sizes->assign(count, op.Int(name, 0));
  } else if (parts.size() == count && op.Has(parts[0])) {
    sizes->clear();
    for (const std::string& part : parts) {
      if (!op.Has(part)) {
        return op.Bad("it has the argument '" + parts[0] + "' but not '" + part + "'");
      }
      sizes->push_back(op.Int(part, 0));
    }
  }
  if (sizes->size() != count) {
    return op.Bad("it needs " + std::to_string(count) + " values of the argument '" + name +
                  "s', not " + std::to_string(sizes->size()));
  }
  for (const int64_t size : *sizes) {
    if (size < least || size > INT_MAX) {
      return op.Bad("the argument '" + name + "' is " + std::to_string(size));
    }
  }
  return {};
}

std::vector<std::string> Parts(const std::string& name) { return {name + "_h", name + "_w"}; }

}  // namespace

Error ReadWindow(const Operator& op, size_t dims, const std::vector<int64_t>& kernels,
                 Window* window) {
  const int64_t legacy = op.Int("legacy_pad", 0);
  if (legacy < 0 || legacy > 3) {
    return op.Bad("the argument 'legacy_pad' is " + std::to_string(legacy) + ", not 0 to 3");
  }
  window->legacy = static_cast<Window::LegacyPad>(legacy);
  window->kernels = kernels;
  NEREID_BACKEND_TRY(ReadSizes(op, "kernel", dims, Parts("kernel"), 1, &window->kernels));
  window->strides.assign(dims, 1);
  NEREID_BACKEND_TRY(ReadSizes(op, "stride", dims, Parts("stride"), 1, &window->strides));
  window->dilations.assign(dims, 1);
  NEREID_BACKEND_TRY(ReadSizes(op, "dilation", dims, Parts("dilation"), 1, &window->dilations));
  window->adjs.assign(dims, 0);
  NEREID_BACKEND_TRY(ReadSizes(op, "adj", dims, Parts("adj"), 0, &window->adjs));
  window->pads.assign(2 * dims, 0);
  if (window->legacy == Window::LegacyPad::kValid || window->legacy == Window::LegacyPad::kSame) {
    return {};  // Caffe2 does not allow explicit pads with these rules
  }
  return ReadSizes(op, "pad", 2 * dims, {"pad_t", "pad_l", "pad_b", "pad_r"}, 0, &window->pads);
}

ResolvedWindow Resolve(const Window& window, const Shape& space) {
  ResolvedWindow resolved;
  resolved.pads = window.pads;
  const size_t dims = window.dims();
  const bool known = std::count(space.begin(), space.end(), -1) == 0;
  if (!known) {
    resolved.same_upper = window.legacy == Window::LegacyPad::kSame;
    resolved.ceil = window.legacy == Window::LegacyPad::kCaffe;
    resolved.out.assign(dims, -1);
    return resolved;
  }
  for (size_t i = 0; i < dims; ++i) {
    const int64_t stride = window.strides[i];
    const int64_t kernel = window.dilations[i] * (window.kernels[i] - 1) + 1;
    int64_t* head = &resolved.pads[i];
    int64_t* tail = &resolved.pads[dims + i];
    if (window.legacy == Window::LegacyPad::kSame) {
      // The output has the size of the input divided by the stride, rounded up. If the total pad is
      // odd, the larger half is at the end.
      const int64_t target = (space[i] + stride - 1) / stride;
      const int64_t needed = std::max<int64_t>(0, (target - 1) * stride + kernel - space[i]);
      *head = needed / 2;
      *tail = needed - *head;
    } else if (window.legacy == Window::LegacyPad::kCaffe && space[i] + 2 * *head >= kernel) {
      // The output size is rounded up. The last window may extend past the edge but must not begin
      // beyond it.
      const int64_t room = space[i] + 2 * *head - kernel;
      int64_t out = (room + stride - 1) / stride + 1;
      if (*head > 0 && (out - 1) * stride >= space[i] + *head) {
        --out;
      }
      *tail = std::max<int64_t>(0, (out - 1) * stride + kernel - space[i] - *head);
    }
    const int64_t room = space[i] + *head + *tail - kernel;
    resolved.out.push_back(room < 0 ? -1 : room / stride + 1);
  }
  return resolved;
}

void ResolvedWindow::AddPads(Attributes* attributes) const {
  if (same_upper) {
    attributes->push_back({"auto_pad", std::string("SAME_UPPER")});
  } else {
    attributes->push_back({"pads", pads});
  }
}

}  // namespace nereid::caffe2
