// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::app::tools {

/// A tensor that a tool sends or has received. `bytes` is the binary form of the protocols:
/// little-endian, packed, row-major; BYTES with a length before each element.
struct Tensor {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;
  std::string bytes;
};

/// What a model says about one of its inputs or outputs. With batching, the first dimension is the
/// batch.
struct TensorSpec {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape dims;  // tensor::kVariableDim for any size
};

}  // namespace nereid::app::tools
