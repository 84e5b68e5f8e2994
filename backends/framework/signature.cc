// SPDX-License-Identifier: Apache-2.0
#include "framework/signature.h"

#include <algorithm>

#include "nereid/backend/data_type.h"

namespace nereid::framework {

std::string TensorSignature::Text() const {
  if (!is_tensor) {
    return foreign_type;
  }
  std::string text = foreign_type;
  if (text.empty()) {
    text = data_type == TRITONSERVER_TYPE_INVALID ? "?" : TRITONSERVER_DataTypeString(data_type);
  }
  return text + " " + (has_rank ? backend::ShapeText(dims) : "?");
}

int FindTensor(const std::vector<TensorSignature>& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const TensorSignature& tensor) { return tensor.name == name; });
  return found == tensors.end() ? -1 : static_cast<int>(found - tensors.begin());
}

}  // namespace nereid::framework
