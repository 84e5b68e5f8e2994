// SPDX-License-Identifier: Apache-2.0
#include "codec/json/generate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/checked_math.h"
#include "codec/json/cursor.h"
#include "codec/json/output_text.h"
#include "codec/json/request_parameters.h"
#include "codec/json/tensor_data.h"
#include "tensor/shape.h"

namespace nereid::codec::json {
namespace {

using api::TensorMetadata;
using base::Status;
using request::InferenceRequest;
using tensor::DataType;

constexpr std::string_view kParameters = "parameters";

/// Returns the shape of an input with `count` elements: the rightmost variable dimension takes what
/// the fixed ones leave, other variable ones are 1. Returns nothing if the fixed dimensions do not
/// divide `count`.
std::optional<tensor::Shape> ShapeFor(const tensor::Shape& metadata, uint64_t count) {
  tensor::Shape shape = metadata;
  uint64_t fixed = 1;
  for (const int64_t dim : shape) {
    if (dim < 0) continue;
    const auto product = base::CheckedMultiply(fixed, static_cast<uint64_t>(dim));
    if (!product) return std::nullopt;
    fixed = *product;
  }
  if (fixed == 0 || count % fixed != 0) return std::nullopt;
  uint64_t left = count / fixed;
  bool taken = false;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] >= 0) continue;
    shape[i] = taken ? 1 : static_cast<int64_t>(left);
    taken = true;
  }
  if (!taken && left != 1 && count != 0) return std::nullopt;
  return shape;
}

class Decoder {
 public:
  Decoder(std::string_view json, std::span<const TensorMetadata> inputs, const DecodeLimits& limits,
          InferenceRequest* request)
      : json_(json), cursor_(json), inputs_(inputs), limits_(limits), request_(*request) {}

  Status Decode();

 private:
  const TensorMetadata* FindInput(std::string_view name) const;
  Status ReadMember(std::string_view key);
  Status ReadNested();
  Status ReadId();
  Status ReadExact(std::string_view key);
  Status ReadInput(const TensorMetadata& metadata);
  Status CountElements(const TensorMetadata& metadata, DataType type, uint64_t* count);

  const std::string_view json_;
  Cursor cursor_;
  const std::span<const TensorMetadata> inputs_;
  const DecodeLimits& limits_;
  InferenceRequest& request_;
};

Status Decoder::Decode() {
  if (cursor_.Peek() == '\0') return cursor_.SyntaxError("The document is empty.");
  if (cursor_.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    NEREID_RETURN_IF_ERROR(cursor_.ExpectEnd());
    return Status::Internal("attempt to get members for non-object");
  }
  NEREID_RETURN_IF_ERROR(
      cursor_.ForEachMember([this](std::string_view key) { return ReadMember(key); }));
  return cursor_.ExpectEnd();
}

const TensorMetadata* Decoder::FindInput(std::string_view name) const {
  for (const TensorMetadata& input : inputs_) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

Status Decoder::ReadMember(std::string_view key) {
  if (key == kParameters) return ReadNested();
  if (key == "id") NEREID_RETURN_IF_ERROR(ReadId());
  return ReadExact(key);
}

Status Decoder::ReadNested() {
  if (FindInput(kParameters) != nullptr) {
    return Status::InvalidArgument(
        "Keyword 'parameters' for nested schema also given as input tensor name");
  }
  if (cursor_.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    return Status::Internal(
        "Expected JSON object for keyword: 'parameters': attempt to access JSON non-object as "
        "object");
  }
  Status status = cursor_.ForEachMember([this](std::string_view key) { return ReadExact(key); });
  if (status.ok()) return status;
  return Status(status.code(), "Converting keyword: 'parameters': " + status.message());
}

/// Does not move the cursor, because "id" is read as a parameter or an input as well.
Status Decoder::ReadId() {
  cursor_.Peek();
  const char* const value = cursor_.position();
  NEREID_RETURN_IF_ERROR(ReadStringMember(cursor_, "id", &request_.id));
  cursor_.MoveTo(value);
  return Status::Ok();
}

Status Decoder::ReadExact(std::string_view key) {
  const TensorMetadata* const input = FindInput(key);
  if (input != nullptr) return ReadInput(*input);
  return ReadCustomParameter(cursor_, key, /*wide=*/true, limits_, &request_);
}

/// Counts the elements of the value at the cursor; only the outermost list is counted.
Status Decoder::CountElements(const TensorMetadata& metadata, DataType type, uint64_t* count) {
  *count = 1;
  if (cursor_.Peek() != '[') return Status::Ok();
  const char* const value = cursor_.position();
  *count = 0;
  NEREID_RETURN_IF_ERROR(cursor_.ForEachElement([&] {
    ++*count;
    return cursor_.SkipValue();
  }));
  cursor_.MoveTo(value);
  const uint64_t size = std::max<uint64_t>(tensor::DataTypeByteSize(type), 1) * *count;
  if (size <= limits_.max_json_size) return Status::Ok();
  return Status::InvalidArgument(
      "request size of " + std::to_string(json_.size()) + " bytes with input '" + metadata.name +
      "' of size " + std::to_string(size) + " bytes exceeds the maximum allowed input size of " +
      std::to_string(limits_.max_json_size) + ". Use --http-max-input-size to increase the limit.");
}

Status Decoder::ReadInput(const TensorMetadata& metadata) {
  const DataType type = tensor::DataTypeFromName(metadata.datatype);
  uint64_t count = 0;
  NEREID_RETURN_IF_ERROR(CountElements(metadata, type, &count));
  std::optional<tensor::Shape> shape = ShapeFor(metadata.shape, count);
  if (!shape) {
    return Status::InvalidArgument("The schema can not convert input '" + metadata.name +
                                   "' to tensor with proper shape");
  }
  if (type == DataType::kFp16 || type == DataType::kBf16) {
    return Status::InvalidArgument("receiving " + metadata.datatype +
                                   " data via JSON is not supported. Please use the binary data "
                                   "format for input " +
                                   metadata.name);
  }
  NEREID_ASSIGN_OR_RETURN(request::Input * input,
                          request_.AddInput(metadata.name, type, std::move(*shape)));
  size_t used = 0;
  memory::HostBuffer buffer;
  if (cursor_.Peek() == '[') {
    NEREID_ASSIGN_OR_RETURN(buffer, ReadTensorData(cursor_, type, count, &used));
  } else {
    const char* const value = cursor_.position();
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    // A scalar is read as a list of one element.
    const std::string list = "[" + std::string(value, cursor_.position()) + "]";
    Cursor one(list);
    NEREID_ASSIGN_OR_RETURN(buffer, ReadTensorData(one, type, 1, &used));
  }
  if (used != 0) {
    input->Append(buffer.data(), used);
    request_.Hold(std::move(buffer));
  }
  return Status::Ok();
}

/// One member of a response object.
struct Member {
  std::string_view name;
  std::variant<std::string_view, const request::Parameter::Value*, const request::Output*> value;
};

Status AppendOutputValue(const request::Output& output, TextBuffer* json) {
  const bool scalar = tensor::ElementCount(output.shape) == 1;
  if (!scalar) *json << '[';
  NEREID_RETURN_IF_ERROR(AppendOutputElements(output, json));
  if (!scalar) *json << ']';
  return Status::Ok();
}

Status AppendMember(const Member& member, TextBuffer* json) {
  json->AppendQuoted(member.name) << ':';
  if (const auto* text = std::get_if<std::string_view>(&member.value)) {
    json->AppendQuoted(*text);
  } else if (const auto* parameter = std::get_if<const request::Parameter::Value*>(&member.value)) {
    AppendParameterValue(**parameter, json);
  } else {
    return AppendOutputValue(*std::get<const request::Output*>(member.value), json);
  }
  return Status::Ok();
}

}  // namespace

Status DecodeGenerateRequest(std::string_view json, std::span<const TensorMetadata> inputs,
                             const DecodeLimits& limits, InferenceRequest* request) {
  if (json.size() > limits.max_json_size) {
    return Status::InvalidArgument("request JSON size of " + std::to_string(json.size()) +
                                   " bytes exceeds the maximum allowed input size of " +
                                   std::to_string(limits.max_json_size) +
                                   " bytes. Use --http-max-input-size to increase the limit.");
  }
  return Decoder(json, inputs, limits, request).Decode();
}

Status EncodeGenerateResponse(const request::InferenceResponse& response, TextBuffer* json) {
  std::vector<Member> members;
  members.reserve(3 + response.parameters().size() + response.outputs().size());
  if (!response.id().empty()) members.push_back({"id", std::string_view(response.id())});
  members.push_back({"model_name", std::string_view(response.model().name)});
  members.push_back({"model_version", std::string_view(response.model().version_text)});
  for (const request::Parameter& parameter : response.parameters()) {
    members.push_back({parameter.name, &parameter.value});
  }
  for (const auto& output : response.outputs()) members.push_back({output->name, output.get()});
  // The sort is stable and unique() keeps the first of equal names: id, model_name and
  // model_version before parameters before outputs.
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.name < b.name; });
  const auto end = std::unique(members.begin(), members.end(),
                               [](const Member& a, const Member& b) { return a.name == b.name; });
  char separator = '{';
  for (auto member = members.begin(); member != end; ++member) {
    *json << separator;
    separator = ',';
    NEREID_RETURN_IF_ERROR(AppendMember(*member, json));
  }
  *json << '}';
  if (!json->ok()) return Status::Unavailable("not enough memory for the response as JSON");
  return Status::Ok();
}

}  // namespace nereid::codec::json
