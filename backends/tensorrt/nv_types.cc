// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/nv_types.h"

#include <limits>

#include "nereid/backend/data_type.h"
#include "tensorrt/nv_version.h"

namespace nereid::tensorrt {

using nvinfer1::DataType;

std::optional<TRITONSERVER_DataType> FromNv(DataType type) {
  switch (type) {
    case DataType::kFLOAT:
      return TRITONSERVER_TYPE_FP32;
    case DataType::kHALF:
      return TRITONSERVER_TYPE_FP16;
    case DataType::kINT8:
      return TRITONSERVER_TYPE_INT8;
    case DataType::kINT32:
      return TRITONSERVER_TYPE_INT32;
    case DataType::kBOOL:
      return TRITONSERVER_TYPE_BOOL;
    case DataType::kUINT8:
      return TRITONSERVER_TYPE_UINT8;
#if NEREID_NV_VERSION >= 900
    case DataType::kBF16:
      return TRITONSERVER_TYPE_BF16;
    case DataType::kINT64:
      return TRITONSERVER_TYPE_INT64;
#endif
    default:
      return std::nullopt;
  }
}

std::string NameOf(DataType type) {
  if (const auto known = FromNv(type)) {
    return TRITONSERVER_DataTypeString(*known);
  }
  switch (static_cast<int>(type)) {  // not all versions declare them
    case 6:
      return "kFP8";
    case 9:
      return "kINT4";
    case 10:
      return "kFP4";
    case 11:
      return "kE8M0";
    default:
      return "type " + std::to_string(static_cast<int>(type));
  }
}

std::optional<std::vector<int64_t>> FromNv(const nvinfer1::Dims& dims) {
  if (dims.nbDims < 0 || dims.nbDims > nvinfer1::Dims::MAX_DIMS) {
    return std::nullopt;
  }
  return std::vector<int64_t>(dims.d, dims.d + dims.nbDims);
}

backend::Error ToNv(std::span<const int64_t> shape, nvinfer1::Dims* dims) {
  using Dim = std::remove_reference_t<decltype(dims->d[0])>;  // 32 bits before TensorRT 10
  *dims = {};
  if (shape.size() > static_cast<size_t>(nvinfer1::Dims::MAX_DIMS)) {
    return backend::Error::InvalidArgument("the shape " + backend::ShapeText(shape) +
                                           " has more dimensions than TensorRT's 8");
  }
  dims->nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || shape[i] > std::numeric_limits<Dim>::max()) {
      return backend::Error::InvalidArgument("the shape " + backend::ShapeText(shape) +
                                             " is larger than TensorRT's tensors");
    }
    dims->d[i] = static_cast<Dim>(shape[i]);
  }
  return {};
}

}  // namespace nereid::tensorrt
