// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/fit_shape.h"

#include <algorithm>
#include <optional>

#include "app/tools/tensors/nested_values.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

/// Returns `shape` with ones in front, so that it fits `dims`; nothing if it does not.
std::optional<tensor::Shape> WithOnes(const tensor::Shape& dims, const tensor::Shape& shape) {
  if (shape.size() > dims.size()) return std::nullopt;
  tensor::Shape longer(dims.size() - shape.size(), 1);
  longer.insert(longer.end(), shape.begin(), shape.end());
  if (tensor::ShapeMatches(dims, longer)) return longer;
  return std::nullopt;
}

/// Returns `dims` with its variable dimensions set so that there are `count` elements.
std::optional<tensor::Shape> Deduce(const tensor::Shape& dims, int64_t count) {
  tensor::Shape shape = tensor::WithoutVariableDims(dims);
  const auto others = tensor::ElementCount(shape);
  if (!others) return std::nullopt;
  if (*others == count) return shape;
  const auto last = std::find(dims.rbegin(), dims.rend(), tensor::kVariableDim);
  if (last == dims.rend() || *others == 0 || count % *others != 0) return std::nullopt;
  shape[static_cast<size_t>(dims.rend() - last) - 1] = count / *others;
  return shape;
}

}  // namespace

int64_t CountElements(const Tensor& tensor) {
  if (tensor.type != tensor::DataType::kBytes) {
    const uint32_t size = tensor::DataTypeByteSize(tensor.type);
    return size == 0 ? 0 : static_cast<int64_t>(tensor.bytes.size() / size);
  }
  int64_t count = 0;
  ForEachText(tensor, [&](std::string_view) { ++count; });
  return count;
}

base::Status FitShape(const TensorSpec& spec, bool has_shape, Tensor* tensor) {
  const int64_t count = CountElements(*tensor);
  if (has_shape) {
    if (auto longer = WithOnes(spec.dims, tensor->shape)) {
      tensor->shape = std::move(*longer);
      return {};
    }
  }
  if (auto deduced = Deduce(spec.dims, count)) {
    tensor->shape = std::move(*deduced);
    return {};
  }
  const std::string found = has_shape ? "the shape " + tensor::ShapeText(tensor->shape)
                                      : std::to_string(count) + " elements";
  return base::Status::InvalidArgument("the input '" + spec.name + "' of the model has the shape " +
                                       tensor::ShapeText(spec.dims) + ", the values have " + found);
}

base::Result<tensor::Shape> ParseShapeText(std::string_view text) {
  tensor::Shape shape;
  constexpr int64_t kMaxElements = int64_t{1} << 40;
  for (size_t begin = 0; begin < text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const auto dim = base::ParseWhole<int64_t>(text.substr(begin, comma - begin));
    if (!dim || *dim < 0 || shape.size() == 32) {
      return base::Status::InvalidArgument("'" + std::string(text) +
                                           "' is no shape, expected such as 1,3,224,224");
    }
    shape.push_back(*dim);
    begin = comma + 1;
  }
  const auto count = tensor::ElementCount(shape);
  if (count && *count <= kMaxElements) return shape;
  return base::Status::InvalidArgument("the shape '" + std::string(text) + "' is too large");
}

}  // namespace nereid::app::tools
