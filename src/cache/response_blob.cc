// SPDX-License-Identifier: Apache-2.0
#include "cache/response_blob.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/little_endian.h"
#include "tensor/bytes.h"

namespace nereid::cache {
namespace {

using request::InferenceResponse;
using request::Output;
using request::Parameter;
using tensor::DataType;

constexpr std::string_view kMagic("NRDRESP\x01", 8);
constexpr size_t kHeadBytes = 8 + sizeof(Digest) + 4 + 4;
/// The minimum sizes of an output and a parameter, which bound the counts that a blob may claim.
constexpr size_t kMinOutputBytes = 4 + 1 + 4 + 8;
constexpr size_t kMinParameterBytes = 4 + 1 + 4;
/// The maximum number of outputs. DecodeResponse compares every pair of names.
constexpr size_t kMaxOutputs = 4096;

/// Returns whether the size of an output fits its type and shape; for BYTES, whether its elements
/// do.
bool IsConsistent(DataType type, const tensor::Shape& shape, std::string_view data) {
  if (type == DataType::kBytes) {
    const auto count = tensor::ElementCount(shape);
    if (!count) return false;
    const tensor::ByteSpan piece{data.data(), data.size()};
    return tensor::CheckBytesElements({&piece, 1}, *count, "output").ok();
  }
  const auto size = tensor::ByteSize(type, shape);
  return size && *size == data.size();
}

bool CanBeStored(const Output& output) {
  return output.allocated && output.memory_type != memory::MemoryType::kGpu &&
         output.name.size() <= std::numeric_limits<uint32_t>::max() &&
         IsConsistent(output.type, output.shape, {output.data, output.size});
}

size_t ValueBytes(const Parameter::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? 4 + text->size() : 8;
}

/// Writes to a buffer whose size was computed before.
class BlobWriter {
 public:
  explicit BlobWriter(char* at) : at_(at) {}

  void Bytes(const void* data, size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  template <typename T>
  void Number(T value) {
    const auto bytes = base::ToLittleEndian(value);
    Bytes(bytes.data(), bytes.size());
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    Bytes(text.data(), text.size());
  }

 private:
  char* at_;
};

/// Reads from a blob. After the end of the blob every value is zero and ok() is false.
class BlobReader {
 public:
  explicit BlobReader(std::string_view blob) : rest_(blob) {}

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }

  std::string_view Bytes(uint64_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <typename T>
  T Number() {
    return static_cast<T>(base::FromLittleEndian(Bytes(sizeof(T))));
  }
  std::string_view Text() { return Bytes(Number<uint32_t>()); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

void WriteValue(const Parameter::Value& value, BlobWriter& writer) {
  writer.Number(static_cast<uint8_t>(value.index()));
  if (const auto* text = std::get_if<std::string>(&value)) {
    writer.Text(*text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    writer.Number(*number);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    writer.Number(uint64_t{*flag});
  } else {
    writer.Number(std::bit_cast<uint64_t>(std::get<double>(value)));
  }
}

bool ReadValue(BlobReader& reader, Parameter::Value* value) {
  switch (reader.Number<uint8_t>()) {
    case 0:
      *value = std::string(reader.Text());
      return reader.ok();
    case 1:
      *value = reader.Number<int64_t>();
      return reader.ok();
    case 2: {
      const auto flag = reader.Number<uint64_t>();
      *value = flag == 1;
      return reader.ok() && flag <= 1;
    }
    case 3:
      *value = std::bit_cast<double>(reader.Number<uint64_t>());
      return reader.ok();
    default:
      return false;
  }
}

/// Reads an output without its bytes, which follow all heads and parameters, and the size of those.
bool ReadOutputHead(BlobReader& reader, StoredOutput* output, uint64_t* size) {
  output->name = reader.Text();
  const auto type = reader.Number<uint8_t>();
  const auto rank = reader.Number<uint32_t>();
  if (!reader.ok() || type > static_cast<uint8_t>(DataType::kBf16) || rank > reader.left() / 8) {
    return false;
  }
  output->type = static_cast<DataType>(type);
  output->shape.resize(rank);
  for (int64_t& dim : output->shape) dim = reader.Number<int64_t>();
  *size = reader.Number<uint64_t>();
  return reader.ok();
}

bool HasName(const std::vector<StoredOutput>& outputs, size_t count, std::string_view name) {
  return std::any_of(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const StoredOutput& output) { return output.name == name; });
}

}  // namespace

std::optional<size_t> EncodedSize(const InferenceResponse& response) {
  constexpr size_t kMaxLength = std::numeric_limits<uint32_t>::max();
  if (!response.error().ok() || response.outputs().size() > kMaxOutputs ||
      response.parameters().size() > kMaxLength) {
    return std::nullopt;
  }
  // The tensors exist in memory, so the sum of their sizes cannot overflow.
  size_t size = kHeadBytes;
  for (const auto& output : response.outputs()) {
    if (!CanBeStored(*output)) return std::nullopt;
    size += kMinOutputBytes + output->name.size() + 8 * output->shape.size() + output->size;
  }
  for (const Parameter& parameter : response.parameters()) {
    const auto* text = std::get_if<std::string>(&parameter.value);
    if (parameter.name.size() > kMaxLength || (text != nullptr && text->size() > kMaxLength)) {
      return std::nullopt;
    }
    size += 4 + parameter.name.size() + 1 + ValueBytes(parameter.value);
  }
  return size;
}

void EncodeResponse(const InferenceResponse& response, const Digest& digest, std::span<char> out) {
  BlobWriter writer(out.data());
  writer.Bytes(kMagic.data(), kMagic.size());
  writer.Bytes(digest.data(), digest.size());
  writer.Number(static_cast<uint32_t>(response.outputs().size()));
  writer.Number(static_cast<uint32_t>(response.parameters().size()));
  for (const auto& output : response.outputs()) {
    writer.Text(output->name);
    writer.Number(static_cast<uint8_t>(output->type));
    writer.Number(static_cast<uint32_t>(output->shape.size()));
    for (const int64_t dim : output->shape) writer.Number(dim);
    writer.Number(uint64_t{output->size});
  }
  for (const Parameter& parameter : response.parameters()) {
    writer.Text(parameter.name);
    WriteValue(parameter.value, writer);
  }
  for (const auto& output : response.outputs()) writer.Bytes(output->data, output->size);
}

std::optional<StoredResponse> DecodeResponse(std::string_view blob, const Digest& digest) {
  BlobReader reader(blob);
  const std::string_view wanted(reinterpret_cast<const char*>(digest.data()), digest.size());
  if (reader.Bytes(kMagic.size()) != kMagic || reader.Bytes(digest.size()) != wanted) {
    return std::nullopt;
  }
  const auto outputs = reader.Number<uint32_t>();
  const auto parameters = reader.Number<uint32_t>();
  if (!reader.ok() || outputs > kMaxOutputs || outputs > reader.left() / kMinOutputBytes ||
      parameters > reader.left() / kMinParameterBytes) {
    return std::nullopt;
  }
  StoredResponse response;
  response.outputs.resize(outputs);
  std::vector<uint64_t> sizes(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    StoredOutput& output = response.outputs[i];
    if (!ReadOutputHead(reader, &output, &sizes[i]) || HasName(response.outputs, i, output.name)) {
      return std::nullopt;
    }
  }
  response.parameters.resize(parameters);
  for (Parameter& parameter : response.parameters) {
    parameter.name = reader.Text();
    if (!ReadValue(reader, &parameter.value)) return std::nullopt;
  }
  for (size_t i = 0; i < outputs; ++i) {
    StoredOutput& output = response.outputs[i];
    output.data = reader.Bytes(sizes[i]);
    if (!reader.ok() || !IsConsistent(output.type, output.shape, output.data)) return std::nullopt;
  }
  if (reader.left() > 0) return std::nullopt;
  return response;
}

}  // namespace nereid::cache
