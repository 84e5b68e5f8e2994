// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/data_type.h"
#include "nereid/backend/input.h"
#include "nereid/backend/output.h"

namespace nereid::ocr {

using backend::AlignedBuffer;
using backend::BatchMember;
using backend::Error;

Error ReadTensor(const BatchMember& member, const char* name, TRITONSERVER_DataType type,
                 size_t rank, AlignedBuffer* scratch, Tensor* tensor) {
  backend::Input input;
  NEREID_BACKEND_TRY(backend::FindInput(member.request, name, &input));
  if (input.data_type != type || input.shape.size() != rank) {
    return Error::InvalidArgument("input '" + std::string(name) + "' must be " +
                                  TRITONSERVER_DataTypeString(type) + " with " +
                                  std::to_string(rank) + " dimensions");
  }
  NEREID_BACKEND_TRY(backend::CheckInputSize(input));
  backend::Gathered gathered;
  NEREID_BACKEND_TRY(
      backend::GatherInputs(std::span(&input, 1), alignof(float), scratch, &gathered));
  *tensor = {input.shape, gathered.data};
  return {};
}

Error ReadImage(const BatchMember& member, AlignedBuffer* scratch, Image* image) {
  Tensor tensor;
  NEREID_BACKEND_TRY(ReadTensor(member, "image", TRITONSERVER_TYPE_UINT8, 3, scratch, &tensor));
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kLongestSide; };
  if (!is_side(tensor.shape[0]) || !is_side(tensor.shape[1]) || tensor.shape[2] != 3) {
    return Error::InvalidArgument("input 'image' has the shape " +
                                  backend::ShapeText(tensor.shape) +
                                  ", expected [rows,columns,3] with 1 to " +
                                  std::to_string(kLongestSide) + " rows and columns");
  }
  *image = {reinterpret_cast<const uint8_t*>(tensor.data), static_cast<size_t>(tensor.shape[0]),
            static_cast<size_t>(tensor.shape[1])};
  return {};
}

Error AllocateFloats(const BatchMember& member, const char* name, std::span<const int64_t> shape,
                     float** floats) {
  char* buffer = nullptr;
  const int64_t size = backend::TensorByteSize(TRITONSERVER_TYPE_FP32, shape);
  if (size < 0) {
    return Error::InvalidArgument("output '" + std::string(name) +
                                  "' would be too large: " + backend::ShapeText(shape));
  }
  NEREID_BACKEND_TRY(backend::AllocateOutput(member.response, name, TRITONSERVER_TYPE_FP32, shape,
                                             static_cast<uint64_t>(size), &buffer));
  *floats = reinterpret_cast<float*>(buffer);
  return {};
}

Error WriteFloats(const BatchMember& member, const char* name, std::span<const int64_t> shape,
                  const std::vector<float>& values) {
  return backend::WriteOutput(member.response, name, TRITONSERVER_TYPE_FP32, shape,
                              reinterpret_cast<const char*>(values.data()),
                              values.size() * sizeof(float));
}

bool Wants(const BatchMember& member, std::string_view output) {
  bool wanted = false;
  const Error seen = backend::ForEachRequestedOutput(member.request, [&](const char* name) {
    wanted = wanted || output == name;
    return Error();
  });
  return wanted || !seen.ok();
}

Error WriteTexts(const BatchMember& member, const char* name,
                 const std::vector<std::string>& texts) {
  uint64_t size = 0;
  for (const std::string& text : texts) {
    size += sizeof(uint32_t) + text.size();
  }
  char* out = nullptr;
  NEREID_BACKEND_TRY(backend::AllocateOutput(
      member.response, name, TRITONSERVER_TYPE_BYTES,
      std::vector<int64_t>{static_cast<int64_t>(texts.size())}, size, &out));
  for (const std::string& text : texts) {
    out = backend::WriteBytesElement(text, out);
  }
  return {};
}

}  // namespace nereid::ocr
