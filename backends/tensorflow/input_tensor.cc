// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/input_tensor.h"

#include <cstdlib>
#include <cstring>

namespace nereid::tensorflow {
namespace {

using framework::InputTensor;

Error NoMemory(size_t size) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               "no memory for a tensor of " + std::to_string(size) + " bytes");
}

/// Frees a tensor of strings when its last owner releases it. TensorFlow does not call the
/// destructors of strings that were created through its C API.
void EndTexts(void* data, size_t size, void* /*unused*/) {
  auto* texts = static_cast<TF_TString*>(data);
  for (size_t i = 0; i < size / sizeof(TF_TString); ++i) {
    TF_StringDealloc(&texts[i]);
  }
  std::free(data);
}

void KeepBorrowed(void* /*data*/, size_t /*size*/, void* /*unused*/) {}

Error MakeTexts(const InputTensor& input, TF_Tensor** made) {
  size_t size = 0;
  if (__builtin_mul_overflow(input.texts.size(), sizeof(TF_TString), &size)) {
    return Error::InvalidArgument("a tensor of texts is too large");
  }
  auto* elements = static_cast<TF_TString*>(std::malloc(size == 0 ? 1 : size));
  if (elements == nullptr) {
    return NoMemory(size);
  }
  for (size_t i = 0; i < input.texts.size(); ++i) {
    TF_StringInit(&elements[i]);
    TF_StringCopy(&elements[i], input.texts[i].data(), input.texts[i].size());
  }
  *made = TF_NewTensor(TF_STRING, input.shape.data(), static_cast<int>(input.shape.size()),
                       elements, size, EndTexts, nullptr);
  return *made == nullptr ? Error::Internal("TensorFlow refuses a tensor of texts") : Error();
}

}  // namespace

Error MakeInputTensor(const InputTensor& input, bool copy, TF_Tensor** made) {
  if (input.data_type == TRITONSERVER_TYPE_BYTES) {
    return MakeTexts(input, made);
  }
  const TF_DataType type = TfTypeOf(input.data_type);
  const auto rank = static_cast<int>(input.shape.size());
  if (!copy && input.size != 0) {
    *made = TF_NewTensor(type, input.shape.data(), rank, const_cast<char*>(input.data), input.size,
                         KeepBorrowed, nullptr);
    return *made == nullptr ? NoMemory(input.size) : Error();
  }
  *made = TF_AllocateTensor(type, input.shape.data(), rank, input.size);
  if (*made == nullptr) {
    return NoMemory(input.size);
  }
  if (input.size != 0) {
    std::memcpy(TF_TensorData(*made), input.data, input.size);
  }
  return {};
}

}  // namespace nereid::tensorflow
