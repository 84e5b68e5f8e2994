// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <optional>
#include <span>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

namespace nereid::tensorrt {

/// Empty for types that the inference protocol lacks (FP8, INT4).
std::optional<TRITONSERVER_DataType> FromNv(nvinfer1::DataType type);

/// Empty where the engine gives no shape (nbDims is -1).
std::optional<std::vector<int64_t>> FromNv(const nvinfer1::Dims& dims);

/// INVALID_ARG for more dimensions or larger ones than TensorRT has.
backend::Error ToNv(std::span<const int64_t> shape, nvinfer1::Dims* dims);

/// "kFP8", as far as names are needed in messages; else the number.
std::string NameOf(nvinfer1::DataType type);

}  // namespace nereid::tensorrt
