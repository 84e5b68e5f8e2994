// SPDX-License-Identifier: Apache-2.0
#include "request/output_shape.h"

#include <string>

namespace nereid::request {

base::Result<tensor::Shape> ClientShape(const config::ModelConfig& config,
                                        std::string_view output_name,
                                        std::span<const int64_t> model_shape) {
  if (!tensor::ElementCount(model_shape)) {
    return base::Status::Internal("model '" + config.name() + "' made output '" +
                                  std::string(output_name) + "' with the impossible shape " +
                                  tensor::ShapeText(model_shape));
  }
  const config::TensorSpec* spec = config.FindOutput(output_name);
  if (spec == nullptr || !spec->reshape) {
    return tensor::Shape(model_shape.begin(), model_shape.end());
  }

  const size_t offset = config.max_batch_size() > 0 && !spec->is_shape_tensor ? 1 : 0;
  const tensor::Shape& reshape = *spec->reshape;
  if (model_shape.size() != reshape.size() + offset ||
      !tensor::ShapeMatches(reshape, model_shape.subspan(offset))) {
    return base::Status::Internal(
        "model '" + config.name() + "' made output '" + std::string(output_name) + "' with shape " +
        tensor::ShapeText(model_shape) + ", which does not fit the configured reshape " +
        tensor::ShapeText(reshape));
  }
  tensor::Shape shape;
  if (offset == 1) shape.push_back(model_shape[0]);
  size_t next = 0;
  for (const int64_t dim : spec->dims) {
    if (dim != tensor::kVariableDim) {
      shape.push_back(dim);
      continue;
    }
    while (next < reshape.size() && reshape[next] != tensor::kVariableDim) ++next;
    shape.push_back(next < reshape.size() ? model_shape[offset + next] : 1);
    ++next;
  }
  return shape;
}

}  // namespace nereid::request
