// SPDX-License-Identifier: Apache-2.0
#include "codec/json/infer_request.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/name_index.h"
#include "base/narrow.h"
#include "codec/json/cursor.h"
#include "codec/json/request_parameters.h"
#include "codec/json/tensor_data.h"
#include "tensor/shape.h"

namespace nereid::codec::json {
namespace {

using base::Status;
using request::InferenceRequest;
using tensor::DataType;

/// The parameters of a tensor that is in shared memory. Without a region the numbers do not count.
struct SharedFields {
  std::optional<std::string> region;
  uint64_t offset = 0;
  uint64_t byte_size = 0;

  request::RegionPart TakePart() { return {std::move(*region), offset, byte_size}; }
};

/// One element of "inputs" while it is read. Its members may come in any order.
struct InputFields {
  std::optional<std::string> name;
  std::optional<DataType> type;
  std::optional<tensor::Shape> shape;
  const char* data = nullptr;  // where the "data" value begins
  std::optional<uint64_t> binary_size;
  SharedFields shared;
  // The value of "data", if name, datatype and shape came before it.
  memory::HostBuffer buffer;
  size_t buffer_used = 0;
  bool data_read = false;
  bool parameters_read = false;
};

/// One element of "outputs" while it is read.
struct OutputFields {
  std::optional<std::string> name;
  std::optional<bool> binary;
  std::optional<uint64_t> classes;
  SharedFields shared;
  bool parameters_read = false;
};

class Decoder {
 public:
  Decoder(std::string_view json, std::string_view binary, const DecodeLimits& limits,
          InferenceRequest* request, OutputOptions* outputs)
      : cursor_(json), binary_(binary), limits_(limits), request_(*request), outputs_(*outputs) {}

  Status Decode();

 private:
  Status ReadInput();
  Status ReadInputMember(std::string_view key, InputFields* fields);
  Status ReadShape(tensor::Shape* shape);
  Status ReadInputParameters(InputFields* fields);
  Status ReadData(InputFields* fields);
  Status AddInput(InputFields* fields);
  Status TakeBinary(const std::string& name, uint64_t size, request::Input* input);
  Status ReadOutput();
  Status ReadOutputParameters(OutputFields* fields);
  request::SharedTensors& shared();
  template <typename Visit>
  Status ForEachOf(std::string_view name, Visit&& visit);

  Cursor cursor_;
  std::string_view binary_;  // the bytes that no input has taken yet
  const DecodeLimits& limits_;
  InferenceRequest& request_;
  OutputOptions& outputs_;
  base::NameIndex wanted_names_;
  std::unique_ptr<request::SharedTensors> shared_;  // null until a tensor is in shared memory
};

/// The members of the request's object that were read; the first of each counts.
struct MembersRead {
  bool id = false;
  bool parameters = false;
  bool inputs = false;
  bool outputs = false;
};

template <typename Visit>
Status Decoder::ForEachOf(std::string_view name, Visit&& visit) {
  if (cursor_.Peek() != '[') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    return WrongType(name, "array", "array");
  }
  size_t tensors = 0;
  return cursor_.ForEachElement([&]() -> Status {
    if (cursor_.Peek() != '{') {
      NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
      return MissingMember("name");
    }
    if (++tensors > limits_.max_tensors) {
      return Status::InvalidArgument("a request can have at most " +
                                     std::to_string(limits_.max_tensors) + " " + std::string(name));
    }
    return visit();
  });
}

Status Decoder::Decode() {
  if (cursor_.Peek() == '\0') return cursor_.SyntaxError("The document is empty.");
  if (cursor_.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    NEREID_RETURN_IF_ERROR(cursor_.ExpectEnd());
    return MissingMember("inputs");
  }
  MembersRead read;
  NEREID_RETURN_IF_ERROR(cursor_.ForEachMember([&](std::string_view key) -> Status {
    // The members that a request may leave out.
    if ((key == "id" || key == "parameters" || key == "outputs") && cursor_.ReadNull()) {
      return Status::Ok();
    }
    if (key == "id" && !std::exchange(read.id, true)) {
      return ReadStringMember(cursor_, key, &request_.id);
    }
    if (key == "parameters" && !std::exchange(read.parameters, true)) {
      return ReadRequestParameters(cursor_, limits_, &request_, &outputs_);
    }
    if (key == "inputs" && !std::exchange(read.inputs, true)) {
      return ForEachOf("inputs", [this] { return ReadInput(); });
    }
    if (key == "outputs" && !std::exchange(read.outputs, true)) {
      return ForEachOf("outputs", [this] { return ReadOutput(); });
    }
    return cursor_.SkipValue();
  }));
  NEREID_RETURN_IF_ERROR(cursor_.ExpectEnd());
  if (!read.inputs) return MissingMember("inputs");
  if (!binary_.empty()) {
    return Status::InvalidArgument("unexpected additional input data for model '" +
                                   request_.model_name + "'");
  }
  request_.shared_tensors = std::move(shared_);
  return Status::Ok();
}

Status Decoder::ReadInput() {
  InputFields fields;
  NEREID_RETURN_IF_ERROR(
      cursor_.ForEachMember([&](std::string_view key) { return ReadInputMember(key, &fields); }));
  return AddInput(&fields);
}

Status Decoder::ReadInputMember(std::string_view key, InputFields* fields) {
  if (key == "name" && !fields->name) {
    return ReadStringMember(cursor_, key, &fields->name.emplace());
  }
  if (key == "datatype" && !fields->type) {
    std::string name;
    NEREID_RETURN_IF_ERROR(ReadStringMember(cursor_, key, &name));
    fields->type = tensor::DataTypeFromName(name);
    return Status::Ok();
  }
  if (key == "shape" && !fields->shape) return ReadShape(&fields->shape.emplace());
  if (key == "parameters" && !std::exchange(fields->parameters_read, true)) {
    return ReadInputParameters(fields);
  }
  if (key != "data" || fields->data != nullptr) return cursor_.SkipValue();
  if (cursor_.ReadNull()) return Status::Ok();  // the data is elsewhere
  fields->data = cursor_.position();
  if (fields->name && fields->type && fields->shape) return ReadData(fields);
  return cursor_.SkipValue();  // AddInput returns to it
}

Status Decoder::ReadShape(tensor::Shape* shape) {
  if (cursor_.Peek() != '[') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    return WrongType("shape", "array", "array");
  }
  return cursor_.ForEachElement([&]() -> Status {
    uint64_t dim = 0;
    NEREID_RETURN_IF_ERROR(ReadUnsignedMember(cursor_, "shape", &dim));
    const auto size = base::Narrow<int64_t>(dim);
    if (!size) return base::OutOfRange("a dimension of 'shape'", std::to_string(dim), "INT64");
    if (shape->size() == limits_.max_dimensions) {
      return Status::InvalidArgument("an input can have at most " +
                                     std::to_string(limits_.max_dimensions) + " dimensions");
    }
    shape->push_back(*size);
    return Status::Ok();
  });
}

/// Calls `visit(key)` for the members of the parameters of a tensor. A member that is null counts
/// as absent; so do parameters that are null.
template <typename Visit>
Status ForEachTensorParameter(Cursor& cursor, const Visit& visit) {
  if (cursor.ReadNull()) return Status::Ok();
  NEREID_RETURN_IF_ERROR(CheckIsObject(cursor, "parameters"));
  return cursor.ForEachMember(
      [&](std::string_view key) { return cursor.ReadNull() ? Status::Ok() : visit(key); });
}

/// Reads the value of a parameter about shared memory, and skips that of any other.
Status ReadSharedParameter(Cursor& cursor, std::string_view key, SharedFields* fields) {
  if (key == "shared_memory_region") {
    return ReadStringMember(cursor, key, &fields->region.emplace());
  }
  if (key == "shared_memory_offset") return ReadUnsignedMember(cursor, key, &fields->offset);
  if (key == "shared_memory_byte_size") return ReadUnsignedMember(cursor, key, &fields->byte_size);
  return cursor.SkipValue();
}

Status Decoder::ReadInputParameters(InputFields* fields) {
  return ForEachTensorParameter(cursor_, [&](std::string_view key) -> Status {
    if (key == "binary_data_size") {
      return ReadUnsignedMember(cursor_, key, &fields->binary_size.emplace());
    }
    return ReadSharedParameter(cursor_, key, &fields->shared);
  });
}

request::SharedTensors& Decoder::shared() {
  if (shared_ == nullptr) shared_ = std::make_unique<request::SharedTensors>();
  return *shared_;
}

/// Returns the number of elements of an input given as JSON, after checking its type and size.
base::Result<uint64_t> JsonElementCount(const InputFields& fields, const DecodeLimits& limits) {
  const DataType type = *fields.type;
  if (type == DataType::kFp16 || type == DataType::kBf16) {
    return Status::InvalidArgument("receiving " + std::string(tensor::DataTypeName(type)) +
                                   " data via JSON is not supported. Please use the binary data "
                                   "format for input " +
                                   *fields.name);
  }
  if (type == DataType::kInvalid) {
    return Status::InvalidArgument("invalid datatype for input " + *fields.name + " (JSON data)");
  }
  const std::optional<int64_t> count = tensor::ElementCount(*fields.shape);
  if (!count) {
    return Status::InvalidArgument("invalid shape for input '" + *fields.name + "': shape " +
                                   tensor::ShapeText(*fields.shape) +
                                   " causes total element count to exceed maximum size of " +
                                   std::to_string(INT64_MAX));
  }
  const uint64_t element_size = std::max<uint64_t>(tensor::DataTypeByteSize(type), 1);
  const auto elements = static_cast<uint64_t>(*count);
  const std::optional<uint64_t> bytes = base::CheckedMultiply(elements, element_size);
  if (!bytes || *bytes > INT64_MAX) {
    return Status::InvalidArgument(
        "byte size overflow for input '" + *fields.name + "': element count (" +
        std::to_string(elements) + ") * data type size (" + std::to_string(element_size) +
        ") exceeds maximum allowed size (" + std::to_string(INT64_MAX) + ")");
  }
  if (*bytes > limits.max_json_size) {
    return Status::InvalidArgument("JSON input '" + *fields.name + "' has a byte_size (" +
                                   std::to_string(*bytes) +
                                   " bytes) that exceeds the maximum allowed value of " +
                                   std::to_string(limits.max_json_size) +
                                   " bytes. Use --http-max-input-size to increase the limit.");
  }
  return elements;
}

Status Decoder::ReadData(InputFields* fields) {
  if (cursor_.Peek() != '[') {
    NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
    return WrongType("data", "array", "array");
  }
  NEREID_ASSIGN_OR_RETURN(const uint64_t count, JsonElementCount(*fields, limits_));
  NEREID_ASSIGN_OR_RETURN(fields->buffer, ReadTensorData(cursor_, *fields->name, *fields->type,
                                                         count, &fields->buffer_used));
  fields->data_read = true;
  return Status::Ok();
}

Status CheckDataSource(const InputFields& fields) {
  const bool shared = fields.shared.region.has_value();
  const int sources =
      (fields.data != nullptr ? 1 : 0) + (fields.binary_size ? 1 : 0) + (shared ? 1 : 0);
  if (sources == 1) return Status::Ok();
  std::string text =
      "Input must set only one of the following fields: 'data', 'binary_data_size' in "
      "'parameters', 'shared_memory_region' in 'parameters'. But";
  if (sources == 0) return Status::InvalidArgument(text + " no field is set");
  text += " set";
  if (fields.data != nullptr) text += " 'data'";
  if (fields.binary_size) text += " 'binary_data_size'";
  if (shared) text += " 'shared_memory_region'";
  return Status::InvalidArgument(std::move(text));
}

Status Decoder::AddInput(InputFields* fields) {
  if (!fields->name) return MissingMember("name");
  if (!fields->type) return MissingMember("datatype");
  if (!fields->shape) return MissingMember("shape");
  NEREID_RETURN_IF_ERROR(CheckDataSource(*fields));
  if (fields->data != nullptr && !fields->data_read) {
    const char* const after = cursor_.position();
    cursor_.MoveTo(fields->data);
    NEREID_RETURN_IF_ERROR(ReadData(fields));
    cursor_.MoveTo(after);
  }
  NEREID_ASSIGN_OR_RETURN(request::Input * input, request_.AddInput(*fields->name, *fields->type,
                                                                    std::move(*fields->shape)));
  if (fields->binary_size) return TakeBinary(*fields->name, *fields->binary_size, input);
  if (fields->shared.region) {
    shared().inputs.push_back({request_.inputs().size() - 1, fields->shared.TakePart()});
    return Status::Ok();
  }
  if (fields->buffer_used != 0) {
    input->Append(fields->buffer.data(), fields->buffer_used);
    request_.Hold(std::move(fields->buffer));
  }
  return Status::Ok();
}

// The binary parts follow the JSON in the order of the inputs.
Status Decoder::TakeBinary(const std::string& name, uint64_t size, request::Input* input) {
  if (size > binary_.size()) {
    return Status::InvalidArgument("unexpected size for input '" + name + "', expecting " +
                                   std::to_string(size - binary_.size()) +
                                   " additional bytes for model '" + request_.model_name + "'");
  }
  if (size != 0) input->Append(binary_.data(), size);
  binary_.remove_prefix(size);
  return Status::Ok();
}

Status Decoder::ReadOutput() {
  OutputFields fields;
  NEREID_RETURN_IF_ERROR(cursor_.ForEachMember([&](std::string_view key) -> Status {
    if (key == "name" && !fields.name) {
      return ReadStringMember(cursor_, key, &fields.name.emplace());
    }
    if (key == "parameters" && !std::exchange(fields.parameters_read, true)) {
      return ReadOutputParameters(&fields);
    }
    return cursor_.SkipValue();
  }));
  if (!fields.name) return MissingMember("name");
  const std::string& name = *fields.name;
  if (fields.shared.region) {
    if (fields.classes.value_or(0) != 0) {
      return Status::InvalidArgument(
          "Output can't set both 'shared_memory_region' and 'classification'");
    }
    if (fields.binary.value_or(false)) {
      return Status::InvalidArgument(
          "Output can't set both 'shared_memory_region' and 'binary_data'");
    }
    shared().outputs.push_back({name, fields.shared.TakePart()});
  }
  std::vector<std::string>& wanted = request_.requested_outputs;
  const auto same = [](const std::string& text) -> std::string_view { return text; };
  // An output that is listed twice is requested once.
  if (!wanted_names_.Find(wanted, name, same)) wanted.push_back(name);
  if (fields.binary) outputs_.SetBinary(name, *fields.binary);
  if (fields.classes) outputs_.SetClassification(name, *fields.classes);
  return Status::Ok();
}

Status Decoder::ReadOutputParameters(OutputFields* fields) {
  return ForEachTensorParameter(cursor_, [&](std::string_view key) -> Status {
    if (key == "binary_data") return ReadBoolMember(cursor_, key, &fields->binary.emplace());
    if (key == "classification") {
      if (!ReadUnsignedMember(cursor_, key, &fields->classes.emplace()).ok()) {
        return Status::InvalidArgument(
            "Unable to set 'classification': attempt to access JSON non-unsigned-integer as "
            "unsigned-integer");
      }
      return Status::Ok();
    }
    return ReadSharedParameter(cursor_, key, &fields->shared);
  });
}

}  // namespace

Status DecodeInferRequest(std::string_view json, std::string_view binary,
                          const DecodeLimits& limits, InferenceRequest* request,
                          OutputOptions* outputs) {
  if (json.size() > limits.max_json_size) {
    return Status::InvalidArgument("request JSON size of " + std::to_string(json.size()) +
                                   " bytes exceeds the maximum allowed input size of " +
                                   std::to_string(limits.max_json_size) +
                                   " bytes. Use --http-max-input-size to increase the limit.");
  }
  outputs->Clear();
  return Decoder(json, binary, limits, request, outputs).Decode();
}

Status DecodeRawRequest(std::string_view body, const DecodeLimits& limits,
                        InferenceRequest* request, OutputOptions* outputs) {
  if (body.size() > limits.max_json_size) {
    return Status::InvalidArgument("Raw input has a byte_size (" + std::to_string(body.size()) +
                                   " bytes) that exceeds the maximum allowed value of " +
                                   std::to_string(limits.max_json_size) +
                                   " bytes. Use --http-max-input-size to increase the limit.");
  }
  outputs->Clear();
  outputs->set_all_binary(true);
  NEREID_ASSIGN_OR_RETURN(request::Input * input, request->AddRawInput("raw_input"));
  if (!body.empty()) input->Append(body.data(), body.size());
  return Status::Ok();
}

}  // namespace nereid::codec::json
