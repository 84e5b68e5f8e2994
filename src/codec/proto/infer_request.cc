// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_request.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "codec/proto/contents.h"
#include "request/correlation_id.h"
#include "request/integer_value.h"
#include "tensor/data_type.h"

namespace nereid::codec::proto {
namespace {

using base::Status;
using Kind = ParameterView::Kind;
using tensor::DataType;

constexpr std::string_view kEmptyFinalResponse = "triton_enable_empty_final_response";

std::string Quoted(std::string_view text) {
  std::string quoted(1, '\'');
  quoted.append(text);
  quoted.push_back('\'');
  return quoted;
}

Status WrongKind(std::string_view name, std::string_view expected) {
  return Status::InvalidArgument("invalid value type for " + Quoted(name) +
                                 " parameter, expected " + std::string(expected) + ".");
}

Status SetCorrelationId(const ParameterView& parameter, request::InferenceRequest* request) {
  // Triton's C++ client puts the 64 bits of every id into int64_param, so those of a large id are a
  // negative number.
  if (parameter.kind == Kind::kInt64 || parameter.kind == Kind::kUint64) {
    request->correlation_id = parameter.AsUint64();
    return Status::Ok();
  }
  if (parameter.kind != Kind::kString) {
    return WrongKind(parameter.name, "int64_param, uint64_param, or string_param");
  }
  NEREID_RETURN_IF_ERROR(request::CheckCorrelationId(parameter.text));
  request->correlation_id = std::string(parameter.text);
  return Status::Ok();
}

Status SetFlag(const ParameterView& parameter, uint32_t flag, request::InferenceRequest* request) {
  if (parameter.kind != Kind::kBool) return WrongKind(parameter.name, "bool_param");
  if (parameter.AsBool()) {
    request->flags |= flag;
  } else {
    request->flags &= ~flag;
  }
  return Status::Ok();
}

Status ReadUnsigned(const ParameterView& parameter, uint64_t* value) {
  if (parameter.kind != Kind::kInt64 && parameter.kind != Kind::kUint64) {
    return WrongKind(parameter.name, "int64_param or uint64_param");
  }
  if (parameter.kind == Kind::kInt64 && parameter.AsInt64() < 0) {
    return Status::InvalidArgument("invalid value for " + Quoted(parameter.name) +
                                   ", expected value >= 0.");
  }
  *value = parameter.AsUint64();
  return Status::Ok();
}

Status AddCustomParameter(const ParameterView& parameter, request::InferenceRequest* request) {
  request::Parameter::Value value;
  switch (parameter.kind) {
    case Kind::kBool:
      value = parameter.AsBool();
      break;
    case Kind::kInt64:
      value = parameter.AsInt64();
      break;
    case Kind::kUint64:
      value = request::IntegerValue(parameter.AsUint64());
      break;
    case Kind::kString:
      value = std::string(parameter.text);
      break;
    case Kind::kDouble:
      value = parameter.AsDouble();
      break;
    case Kind::kUnset:
      return WrongKind(parameter.name,
                       "int64_param, uint64_param, double_param, bool_param, or string_param");
  }
  request->parameters.push_back({std::string(parameter.name), std::move(value)});
  return Status::Ok();
}

Status SetParameter(const ParameterView& parameter, request::InferenceRequest* request,
                    ResponseOptions* options) {
  const std::string_view name = parameter.name;
  if (name == "sequence_id") return SetCorrelationId(parameter, request);
  if (name == "sequence_start") return SetFlag(parameter, request::kFlagSequenceStart, request);
  if (name == "sequence_end") return SetFlag(parameter, request::kFlagSequenceEnd, request);
  if (name == "priority") return ReadUnsigned(parameter, &request->priority);
  if (name == "timeout") return ReadUnsigned(parameter, &request->timeout_us);
  if (name == kEmptyFinalResponse) {
    if (parameter.kind != Kind::kBool) return WrongKind(name, "bool_param");
    options->empty_final_response = parameter.AsBool();
    return Status::Ok();
  }
  if (name.starts_with("triton_")) {
    return Status::InvalidArgument(
        "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following "
        "keys starting with 'triton_' are allowed: triton_enable_empty_final_response");
  }
  return AddCustomParameter(parameter, request);
}

// The parameters of an input or a requested output that ask for a shared-memory region.
struct SharedMemoryParameters {
  std::optional<std::string_view> region;
  std::optional<uint64_t> offset;
  std::optional<uint64_t> byte_size;
};

Status ReadSharedMemoryParameter(const ParameterView& parameter, SharedMemoryParameters* found) {
  if (parameter.name == "shared_memory_region") {
    if (parameter.kind != Kind::kString) return WrongKind(parameter.name, "string_param");
    found->region = parameter.text;
  } else if (parameter.name == "shared_memory_offset") {
    return ReadUnsigned(parameter, &found->offset.emplace());
  } else if (parameter.name == "shared_memory_byte_size") {
    return ReadUnsigned(parameter, &found->byte_size.emplace());
  }
  return Status::Ok();
}

// Returns the part of a region where the tensor is; nothing if it is in the message.
base::Result<std::optional<request::RegionPart>> FindSharedMemory(
    std::string_view tensor, std::span<const ParameterView> parameters) {
  SharedMemoryParameters found;
  for (const ParameterView& parameter : parameters) {
    NEREID_RETURN_IF_ERROR(ReadSharedMemoryParameter(parameter, &found));
  }
  if (!found.region && !found.offset && !found.byte_size) {
    return std::optional<request::RegionPart>();
  }
  const std::string of_tensor = " parameter for tensor " + Quoted(tensor);
  if (!found.region) {
    return Status::InvalidArgument(
        std::string(found.offset ? "'shared_memory_offset'" : "'shared_memory_byte_size'") +
        " can not be specified without 'shared_memory_region'" + of_tensor);
  }
  if (!found.byte_size) {
    return Status::InvalidArgument(
        "'shared_memory_byte_size' must be specified along with 'shared_memory_region'" +
        of_tensor);
  }
  return std::optional(
      request::RegionPart{std::string(*found.region), found.offset.value_or(0), *found.byte_size});
}

// Returns the data type for elements of `field`, given the declared type of the input.
DataType FieldDataType(ContentsField field, DataType declared) {
  switch (field) {
    case ContentsField::kBool:
      return DataType::kBool;
    case ContentsField::kInt:
      return declared == DataType::kInt8 || declared == DataType::kInt16 ? declared
                                                                         : DataType::kInt32;
    case ContentsField::kInt64:
      return DataType::kInt64;
    case ContentsField::kUint:
      return declared == DataType::kUint8 || declared == DataType::kUint16 ? declared
                                                                           : DataType::kUint32;
    case ContentsField::kUint64:
      return DataType::kUint64;
    case ContentsField::kFp32:
      return DataType::kFp32;
    case ContentsField::kFp64:
      return DataType::kFp64;
    case ContentsField::kBytes:
      break;
  }
  return DataType::kBytes;
}

Status UnexpectedContents(std::string_view input, std::string_view model, const std::string& tail) {
  return Status::InvalidArgument("unexpected explicit tensor data for input tensor " +
                                 Quoted(input) + " for model " + Quoted(model) + tail);
}

// Sets the data of an input from its typed contents, of which at most one field may have elements.
Status FillFromContents(const InferRequestView& view, const InputView& from,
                        request::InferenceRequest* request, request::Input* input) {
  bool supplied = false;
  for (uint32_t number = 1; number <= kContentsFields; ++number) {
    if (from.contents.counts[number] == 0) continue;
    if (supplied) {
      return UnexpectedContents(from.name, view.model_name, ", binary data was already supplied.");
    }
    const ContentsField field = static_cast<ContentsField>(number);
    const DataType type = FieldDataType(field, input->type);
    if (type != input->type) {
      return UnexpectedContents(from.name, view.model_name,
                                " of type '" + std::string(tensor::DataTypeName(type)) +
                                    "', expected datatype '" +
                                    std::string(tensor::DataTypeName(input->type)) + "'");
    }
    NEREID_ASSIGN_OR_RETURN(
        memory::HostBuffer buffer,
        ConvertContents(view.ContentsBodies(from), from.contents, field, {from.name, type}));
    input->Append(buffer.data(), buffer.size());
    request->Hold(std::move(buffer));
    supplied = true;
  }
  // Contents without elements are an empty tensor.
  if (!supplied) input->Append("", 0);
  return Status::Ok();
}

request::SharedTensors& Of(std::unique_ptr<request::SharedTensors>& shared) {
  if (shared == nullptr) shared = std::make_unique<request::SharedTensors>();
  return *shared;
}

// Sets the data of input `index`, or adds it to `shared`.
Status FillInputData(const InferRequestView& view, size_t index, size_t* next_raw,
                     request::InferenceRequest* request,
                     std::unique_ptr<request::SharedTensors>& shared) {
  const InputView& from = view.inputs[index];
  request::Input* const input = &request->inputs()[index];
  NEREID_ASSIGN_OR_RETURN(std::optional<request::RegionPart> part,
                          FindSharedMemory(from.name, view.Parameters(from.parameters)));
  if (part) {
    if (from.contents.present) {
      return Status::InvalidArgument(
          "unexpected 'content' provided when using shared memory for input tensor " +
          Quoted(from.name) + " for model " + Quoted(view.model_name));
    }
    Of(shared).inputs.push_back({index, std::move(*part)});
    return Status::Ok();
  }
  if (from.contents.present && !view.raw_input_contents.empty()) {
    return Status::InvalidArgument(
        "contents field must not be specified when using raw_input_contents for " +
        Quoted(from.name) + " for model " + Quoted(view.model_name));
  }
  if (from.contents.present) return FillFromContents(view, from, request, input);
  if (*next_raw >= view.raw_input_contents.size()) {
    return Status::InvalidArgument("unable to find data for input tensor " + Quoted(from.name) +
                                   " for model " + Quoted(view.model_name) + " in request.");
  }
  // The inputs take the entries of raw_input_contents in order.
  const std::string_view raw = view.raw_input_contents[(*next_raw)++];
  input->Append(raw.data(), raw.size());
  return Status::Ok();
}

Status ReadOutputOptions(const InferRequestView& view, const OutputView& output,
                         ResponseOptions* options,
                         std::unique_ptr<request::SharedTensors>& shared) {
  const std::span<const ParameterView> parameters = view.Parameters(output.parameters);
  NEREID_ASSIGN_OR_RETURN(std::optional<request::RegionPart> part,
                          FindSharedMemory(output.name, parameters));
  for (const ParameterView& parameter : parameters) {
    if (parameter.name != "classification") continue;
    const bool is_signed = parameter.kind == Kind::kInt64;
    if (!is_signed && parameter.kind != Kind::kUint64) {
      return Status::InvalidArgument(
          "invalid value type for 'classification' parameter, expected int64_param or "
          "uint64_param");
    }
    if (parameter.AsUint64() == 0 || (is_signed && parameter.AsInt64() < 0)) {
      return Status::InvalidArgument("invalid value for 'classification' parameter, expected >= 0");
    }
    if (part) {
      return Status::InvalidArgument(
          "output can't set both 'shared_memory_region' and 'classification'");
    }
    options->classifications.push_back({std::string(output.name), parameter.AsUint64()});
  }
  if (part) Of(shared).outputs.push_back({std::string(output.name), std::move(*part)});
  return Status::Ok();
}

// Collects each name once, in order of first occurrence. A few names are compared pairwise; for
// many, whose comparison would take quadratic time, a set is used.
void RequestOutputs(const InferRequestView& view, std::vector<std::string>* wanted) {
  constexpr size_t kFew = 16;
  wanted->reserve(view.outputs.size());
  std::set<std::string_view> known;
  for (const OutputView& output : view.outputs) {
    const bool is_new = view.outputs.size() > kFew ? known.insert(output.name).second
                                                   : std::find(wanted->begin(), wanted->end(),
                                                               output.name) == wanted->end();
    if (is_new) wanted->emplace_back(output.name);
  }
}

}  // namespace

Status FillInferRequest(const InferRequestView& view, request::InferenceRequest* request,
                        ResponseOptions* options) {
  request->model_name = view.model_name;
  request->id = view.id;
  for (const ParameterView& parameter : view.parameters) {
    NEREID_RETURN_IF_ERROR(SetParameter(parameter, request, options));
  }
  request->inputs().reserve(view.inputs.size());
  for (const InputView& input : view.inputs) {
    const std::span<const int64_t> dims = view.Dims(input);
    auto added = request->AddInput(input.name, tensor::DataTypeFromName(input.datatype),
                                   tensor::Shape(dims.begin(), dims.end()));
    if (!added.ok()) return added.status();
  }
  RequestOutputs(view, &request->requested_outputs);
  size_t next_raw = 0;
  std::unique_ptr<request::SharedTensors> shared;  // null until a tensor is in shared memory
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    NEREID_RETURN_IF_ERROR(FillInputData(view, i, &next_raw, request, shared));
  }
  for (const OutputView& output : view.outputs) {
    NEREID_RETURN_IF_ERROR(ReadOutputOptions(view, output, options, shared));
  }
  request->shared_tensors = std::move(shared);
  return Status::Ok();
}

}  // namespace nereid::codec::proto
