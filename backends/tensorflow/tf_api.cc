// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/tf_api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/printable.h"
#include "framework/type_table.h"

namespace nereid::tensorflow {
namespace {

constexpr framework::TypeRow<TF_DataType> kTypes[] = {
    {TF_BOOL, TRITONSERVER_TYPE_BOOL},     {TF_UINT8, TRITONSERVER_TYPE_UINT8},
    {TF_UINT16, TRITONSERVER_TYPE_UINT16}, {TF_UINT32, TRITONSERVER_TYPE_UINT32},
    {TF_UINT64, TRITONSERVER_TYPE_UINT64}, {TF_INT8, TRITONSERVER_TYPE_INT8},
    {TF_INT16, TRITONSERVER_TYPE_INT16},   {TF_INT32, TRITONSERVER_TYPE_INT32},
    {TF_INT64, TRITONSERVER_TYPE_INT64},   {TF_HALF, TRITONSERVER_TYPE_FP16},
    {TF_FLOAT, TRITONSERVER_TYPE_FP32},    {TF_DOUBLE, TRITONSERVER_TYPE_FP64},
    {TF_STRING, TRITONSERVER_TYPE_BYTES},  {TF_BFLOAT16, TRITONSERVER_TYPE_BF16}};

constexpr std::pair<TF_DataType, const char*> kForeignNames[] = {
    {TF_COMPLEX64, "DT_COMPLEX64"},
    {TF_COMPLEX128, "DT_COMPLEX128"},
    {TF_QINT8, "DT_QINT8"},
    {TF_QUINT8, "DT_QUINT8"},
    {TF_QINT16, "DT_QINT16"},
    {TF_QUINT16, "DT_QUINT16"},
    {TF_QINT32, "DT_QINT32"},
    {TF_RESOURCE, "DT_RESOURCE"},
    {TF_VARIANT, "DT_VARIANT"},
    {TF_FLOAT8_E5M2, "DT_FLOAT8_E5M2"},
    {TF_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN"},
    {TF_INT4, "DT_INT4"},
    {TF_UINT4, "DT_UINT4"}};

TRITONSERVER_Error_Code CodeOf(TF_Code code) {
  switch (code) {
    case TF_INVALID_ARGUMENT:
    case TF_OUT_OF_RANGE:
    case TF_FAILED_PRECONDITION:
      return TRITONSERVER_ERROR_INVALID_ARG;
    case TF_NOT_FOUND:
      return TRITONSERVER_ERROR_NOT_FOUND;
    case TF_UNIMPLEMENTED:
      return TRITONSERVER_ERROR_UNSUPPORTED;
    case TF_RESOURCE_EXHAUSTED:
    case TF_UNAVAILABLE:
      return TRITONSERVER_ERROR_UNAVAILABLE;
    case TF_CANCELLED:
      return TRITONSERVER_ERROR_CANCELLED;
    default:
      return TRITONSERVER_ERROR_INTERNAL;
  }
}

/// Returns the name of a code, which TensorFlow writes in front of its messages.
std::string CodeName(TF_Code code) {
  constexpr const char* kNames[] = {"OK",
                                    "CANCELLED",
                                    "UNKNOWN",
                                    "INVALID_ARGUMENT",
                                    "DEADLINE_EXCEEDED",
                                    "NOT_FOUND",
                                    "ALREADY_EXISTS",
                                    "PERMISSION_DENIED",
                                    "RESOURCE_EXHAUSTED",
                                    "FAILED_PRECONDITION",
                                    "ABORTED",
                                    "OUT_OF_RANGE",
                                    "UNIMPLEMENTED",
                                    "INTERNAL",
                                    "UNAVAILABLE",
                                    "DATA_LOSS",
                                    "UNAUTHENTICATED"};
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "code " + std::to_string(code);
}

/// Returns the first paragraph of a message, because TensorFlow appends stack traces to some
/// messages.
std::string FirstParagraph(const std::string& text) {
  const size_t end = text.find("\n\t");
  return text.substr(0, std::min(end, text.find("\n\n")));
}

}  // namespace

void Release::operator()(TF_Session* session) const {
  Status ignored;
  TF_CloseSession(session, ignored.get());
  TF_DeleteSession(session, ignored.get());
}

void Release::operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }

Error Status::ToError(const std::string& what) const {
  if (ok()) {
    return {};
  }
  return Error(CodeOf(TF_GetCode(status_.get())),
               what + ": " + CodeName(TF_GetCode(status_.get())) + ": " +
                   framework::Printable(FirstParagraph(TF_Message(status_.get()))));
}

TRITONSERVER_DataType DataTypeOf(TF_DataType type) { return framework::ToDataType(kTypes, type); }

TF_DataType TfTypeOf(TRITONSERVER_DataType type) {
  return framework::FromDataType(kTypes, type).value_or(TF_RESOURCE);
}

std::string TfTypeName(TF_DataType type) {
  const auto found = std::find_if(std::begin(kForeignNames), std::end(kForeignNames),
                                  [&](const auto& row) { return row.first == type; });
  return found == std::end(kForeignNames) ? "TensorFlow type " + std::to_string(type)
                                          : found->second;
}

}  // namespace nereid::tensorflow
