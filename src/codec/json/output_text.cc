// SPDX-License-Identifier: Apache-2.0
#include "codec/json/output_text.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "base/as_internal.h"
#include "tensor/bytes.h"

namespace nereid::codec::json {
namespace {

using base::Status;
using request::Output;
using tensor::DataType;

template <typename T>
char* WriteElement(T value, char* to) {
  if constexpr (std::is_floating_point_v<T>) {
    return WriteDouble(value, to);
  } else if constexpr (std::is_signed_v<T>) {
    return WriteInteger(static_cast<int64_t>(value), to);
  } else {
    return WriteInteger(static_cast<uint64_t>(value), to);
  }
}

/// Appends the elements separated by commas. Takes space for many elements at a time.
template <typename T>
void AppendNumbers(const char* data, size_t count, TextBuffer* json) {
  constexpr size_t kAtOnce = 4096;
  constexpr size_t kMaxText = 33;  // with the comma; WriteElement may overwrite bytes beyond it
  constexpr size_t kUsualText = std::is_floating_point_v<T> ? 21 : 2 * sizeof(T) + 1;
  // One large reservation avoids the copies of repeated growth. Unused memory costs nothing,
  // because its pages are never touched.
  if (count > kAtOnce && json->Room(count * kUsualText) == nullptr) return;
  for (size_t first = 0; first < count; first += kAtOnce) {
    const size_t chunk = std::min(kAtOnce, count - first);
    char* to = json->Room(chunk * kMaxText + kNumberRoom);
    if (to == nullptr) return;
    for (size_t i = first; i < first + chunk; ++i) {
      T value;
      std::memcpy(&value, data + i * sizeof(T), sizeof(T));
      if (i != 0) *to++ = ',';
      to = WriteElement(value, to);
    }
    json->Commit(to);
  }
}

void AppendBools(const char* data, size_t count, TextBuffer* json) {
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) *json << ',';
    *json << (data[i] != 0 ? "true" : "false");
  }
}

Status AppendStrings(const Output& output, int64_t count, TextBuffer* json,
                     SplitCharacters* split) {
  const tensor::ByteSpan span{output.data, output.size};
  size_t index = 0;
  const Status status = tensor::ForEachBytesElement(
      {&span, 1}, count, "output '" + output.name + "'", [&](std::string_view element) {
        if (index != 0) *json << ',';
        if (split == nullptr) {
          json->AppendQuoted(element);
        } else {
          split->Append(output.name, index, element, json);
        }
        ++index;
      });
  return base::AsInternal(status);
}

Status AppendElements(const Output& output, int64_t count, TextBuffer* json,
                      SplitCharacters* split) {
  const auto n = static_cast<size_t>(count);
  switch (output.type) {
    case DataType::kBool:
      AppendBools(output.data, n, json);
      break;
    case DataType::kUint8:
      AppendNumbers<uint8_t>(output.data, n, json);
      break;
    case DataType::kUint16:
      AppendNumbers<uint16_t>(output.data, n, json);
      break;
    case DataType::kUint32:
      AppendNumbers<uint32_t>(output.data, n, json);
      break;
    case DataType::kUint64:
      AppendNumbers<uint64_t>(output.data, n, json);
      break;
    case DataType::kInt8:
      AppendNumbers<int8_t>(output.data, n, json);
      break;
    case DataType::kInt16:
      AppendNumbers<int16_t>(output.data, n, json);
      break;
    case DataType::kInt32:
      AppendNumbers<int32_t>(output.data, n, json);
      break;
    case DataType::kInt64:
      AppendNumbers<int64_t>(output.data, n, json);
      break;
    case DataType::kFp32:
      AppendNumbers<float>(output.data, n, json);
      break;
    case DataType::kFp64:
      AppendNumbers<double>(output.data, n, json);
      break;
    case DataType::kBytes:
      return AppendStrings(output, count, json, split);
    case DataType::kFp16:
    case DataType::kBf16:
      return Status::InvalidArgument(
          "sending " + std::string(tensor::DataTypeName(output.type)) +
          " data via JSON is not supported. Please use the binary data format for output " +
          output.name);
    case DataType::kInvalid:
      return Status::Internal("output '" + output.name + "' has no data type");
  }
  return Status::Ok();
}

}  // namespace

Status AppendOutputElements(const Output& output, TextBuffer* json, SplitCharacters* split) {
  if (output.memory_type == memory::MemoryType::kGpu) {
    return Status::Internal("output '" + output.name + "' is in GPU memory");
  }
  const std::optional<int64_t> count = tensor::ElementCount(output.shape);
  const std::optional<uint64_t> bytes = tensor::ByteSize(output.type, output.shape);
  const bool wrong_size = output.type == DataType::kBytes ? !count : bytes != output.size;
  if (wrong_size) {
    return Status::Internal("output '" + output.name + "' has " + std::to_string(output.size) +
                            " bytes, which does not fit its shape " +
                            tensor::ShapeText(output.shape));
  }
  return AppendElements(output, *count, json, split);
}

void AppendParameterValue(const request::Parameter::Value& value, TextBuffer* json) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    json->AppendQuoted(*text);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    json->AppendInteger(*integer);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    *json << (*flag ? "true" : "false");
  } else {
    json->AppendDouble(std::get<double>(value));
  }
}

}  // namespace nereid::codec::json
