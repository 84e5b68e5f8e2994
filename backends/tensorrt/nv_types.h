// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <optional>
#include <span>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

namespace nereid::tensorrt {

/// Returns nothing for types that the inference protocol lacks (FP8, INT4).
std::optional<TRITONSERVER_DataType> FromNv(nvinfer1::DataType type);

/// Returns nothing if the engine has no shape (nbDims is -1).
std::optional<std::vector<int64_t>> FromNv(const nvinfer1::Dims& dims);

/// Returns INVALID_ARG for more or larger dimensions than TensorRT supports.
backend::Error ToNv(std::span<const int64_t> shape, nvinfer1::Dims* dims);

/// Returns a type's name for messages ("kFP8"), or its number.
std::string NameOf(nvinfer1::DataType type);

}  // namespace nereid::tensorrt
