// SPDX-License-Identifier: Apache-2.0
#include "codec/json/generate.h"

#include <algorithm>
#include <map>
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
    return Status::InvalidArgument("attempt to get members for non-object");
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
  const bool is_input = FindInput(key) != nullptr;
  if (!is_input && (key == kParameters || key == "id") && cursor_.ReadNull()) return Status::Ok();
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
    return Status::InvalidArgument(
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
  return ReadCustomParameter(cursor_, key, limits_, &request_);
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
    NEREID_ASSIGN_OR_RETURN(buffer, ReadTensorData(cursor_, metadata.name, type, count, &used));
  } else {
    const char* const value = cursor_.position();
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    // A scalar is read as a list of one element.
    const std::string list = "[" + std::string(value, cursor_.position()) + "]";
    Cursor one(list);
    NEREID_ASSIGN_OR_RETURN(buffer, ReadTensorData(one, metadata.name, type, 1, &used));
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

Status AppendOutputValue(const request::Output& output, SplitCharacters* split, TextBuffer* json) {
  const bool scalar = tensor::ElementCount(output.shape) == 1;
  if (!scalar) *json << '[';
  NEREID_RETURN_IF_ERROR(AppendOutputElements(output, json, split));
  if (!scalar) *json << ']';
  return Status::Ok();
}

Status AppendMember(const Member& member, SplitCharacters* split, TextBuffer* json) {
  json->AppendQuoted(member.name) << ':';
  if (const auto* text = std::get_if<std::string_view>(&member.value)) {
    json->AppendQuoted(*text);
  } else if (const auto* parameter = std::get_if<const request::Parameter::Value*>(&member.value)) {
    AppendParameterValue(**parameter, json);
  } else {
    return AppendOutputValue(*std::get<const request::Output*>(member.value), split, json);
  }
  return Status::Ok();
}

/// Returns the members that every response object has, with room for `more` others.
std::vector<Member> CommonMembers(std::string_view id, std::string_view model_name,
                                  std::string_view model_version, size_t more) {
  std::vector<Member> members;
  members.reserve(3 + more);
  if (!id.empty()) members.push_back({"id", id});
  members.push_back({"model_name", model_name});
  members.push_back({"model_version", model_version});
  return members;
}

/// Appends the members sorted by name, and of several with the same name the first one.
Status AppendObject(std::vector<Member> members, SplitCharacters* split, TextBuffer* json) {
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.name < b.name; });
  const auto end = std::unique(members.begin(), members.end(),
                               [](const Member& a, const Member& b) { return a.name == b.name; });
  char separator = '{';
  for (auto member = members.begin(); member != end; ++member) {
    *json << separator;
    separator = ',';
    NEREID_RETURN_IF_ERROR(AppendMember(*member, split, json));
  }
  *json << '}';
  if (!json->ok()) return Status::Unavailable("not enough memory for the response as JSON");
  return Status::Ok();
}

Status AppendResponse(const request::InferenceResponse& response, SplitCharacters* split,
                      TextBuffer* json) {
  // id, model_name and model_version before parameters before outputs.
  std::vector<Member> members =
      CommonMembers(response.id(), response.model().name, response.model().version_text,
                    response.parameters().size() + response.outputs().size());
  for (const request::Parameter& parameter : response.parameters()) {
    members.push_back({parameter.name, &parameter.value});
  }
  for (const auto& output : response.outputs()) members.push_back({output->name, output.get()});
  return AppendObject(std::move(members), split, json);
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
  return AppendResponse(response, nullptr, json);
}

Status GenerateStream::Encode(const request::InferenceResponse& response, bool final,
                              TextBuffer* json) {
  if (final) split_.EndWithNext();
  NEREID_RETURN_IF_ERROR(AppendResponse(response, &split_, json));
  if (split_.waiting().empty()) return Status::Ok();
  id_ = response.id();
  model_name_ = response.model().name;
  model_version_ = response.model().version_text;
  return Status::Ok();
}

void GenerateStream::EncodeRest(TextBuffer* json) {
  if (split_.waiting().empty()) return;
  std::map<std::string_view, std::string> rests;
  for (const auto& [place, bytes] : split_.waiting()) rests[place.first] += bytes;
  std::vector<Member> members = CommonMembers(id_, model_name_, model_version_, rests.size());
  for (const auto& [output, rest] : rests) members.push_back({output, std::string_view(rest)});
  // Texts cannot fail; where memory is short, the object is not complete and json->ok() is false.
  (void)AppendObject(std::move(members), nullptr, json);
}

}  // namespace nereid::codec::json
