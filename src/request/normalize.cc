// SPDX-License-Identifier: Apache-2.0
#include "request/normalize.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"
#include "config/model_config.h"
#include "tensor/bytes.h"

namespace nereid::request {

using base::Status;
using config::ModelConfig;
using config::TensorSpec;

namespace {

std::string OfModel(const InferenceRequest& request) {
  return " for model '" + request.model()->name + "'";
}

std::string QuotedNames(const std::vector<std::string>& names) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ',';
    text += '\'' + names[i] + '\'';
  }
  return text + ']';
}

Status CheckOutputs(InferenceRequest& request, const ModelConfig& config) {
  if (request.requested_outputs.empty()) {
    for (const TensorSpec& output : config.outputs()) {
      request.requested_outputs.push_back(output.name);
    }
    return Status::Ok();
  }
  for (const std::string& name : request.requested_outputs) {
    if (config.FindOutput(name) == nullptr) {
      return Status::InvalidArgument("unexpected inference output '" + name + "'" +
                                     OfModel(request));
    }
  }
  return Status::Ok();
}

Status InputCountError(const InferenceRequest& request, const ModelConfig& config) {
  std::vector<std::string> given, missing;
  for (const Input& input : request.inputs()) given.push_back(input.name);
  for (const TensorSpec& spec : config.inputs()) {
    if (!spec.optional && request.inputs().Find(spec.name) == nullptr) missing.push_back(spec.name);
  }
  const size_t required = config.required_input_count(), all = config.inputs().size();
  std::string expected = required == all
                             ? "expected " + std::to_string(all) + " inputs but got "
                             : "expected number of inputs between " + std::to_string(required) +
                                   " and " + std::to_string(all) + " but got ";
  return Status::InvalidArgument(request.LogPrefix() + expected + std::to_string(given.size()) +
                                 " inputs" + OfModel(request) + ". Got input(s) " +
                                 QuotedNames(given) + ", but missing required input(s) " +
                                 QuotedNames(missing) + ". Please provide all required input(s).");
}

/// Checks the number of inputs, then the names. AddInput refuses a name that is given twice. So if
/// the count and all names are right, a required input can be missing only if an optional one takes
/// its place, which the count of required inputs at the end detects.
Status CheckInputNames(const InferenceRequest& request, const ModelConfig& config) {
  const size_t count = request.inputs().size();
  if (count < config.required_input_count() || count > config.inputs().size()) {
    return InputCountError(request, config);
  }
  size_t required_found = 0;
  for (size_t i = count; i-- > 0;) {  // the last one first: see CheckInputs
    const Input& input = request.inputs()[i];
    const TensorSpec* spec = config.FindInput(input.name);
    if (spec == nullptr) {
      return Status::InvalidArgument("unexpected inference input '" + input.name + "'" +
                                     OfModel(request));
    }
    if (!spec->optional) ++required_found;
  }
  if (required_found < config.required_input_count()) return InputCountError(request, config);
  return Status::Ok();
}

/// Returns the error for a batch above max_batch_size. A client that finds a limit which nobody
/// wrote must learn where it comes from.
Status TooLargeBatch(const InferenceRequest& request, const ModelConfig& config) {
  const std::string& model = request.model()->name;
  std::string text = request.LogPrefix() + "inference request batch-size must be <= " +
                     std::to_string(config.max_batch_size()) + " for '" + model + "'";
  if (request.model()->backend_chose_batch_size) {
    text +=
        "; the model's backend chose this limit, because config.pbtxt sets none: set "
        "max_batch_size "
        "there";
  }
  return Status::InvalidArgument(std::move(text));
}

Status FindBatchSize(InferenceRequest& request, const ModelConfig& config) {
  request.batch_size = 0;
  if (config.max_batch_size() == 0) return Status::Ok();
  const std::string& model = request.model()->name;
  bool found = false;
  int64_t batch_size = 1;
  for (const Input& input : request.inputs()) {
    if (config.FindInput(input.name)->is_shape_tensor) continue;
    if (input.shape.empty()) {
      return Status::InvalidArgument(request.LogPrefix() + "input '" + input.name +
                                     "' has no shape but model requires batch dimension for '" +
                                     model + "'");
    }
    if (!found) {
      batch_size = input.shape[0];
      found = true;
    } else if (input.shape[0] != batch_size) {
      return Status::InvalidArgument(request.LogPrefix() + "input '" + input.name +
                                     "' batch size does not match other inputs for '" + model +
                                     "'");
    }
  }
  if (batch_size > config.max_batch_size()) return TooLargeBatch(request, config);
  if (batch_size < 1) {
    return Status::InvalidArgument(request.LogPrefix() +
                                   "inference request batch-size must be >= 1 for '" + model +
                                   "', got " + std::to_string(batch_size));
  }
  request.batch_size = static_cast<uint32_t>(batch_size);
  return Status::Ok();
}

Status CheckShape(const InferenceRequest& request, const ModelConfig& config, const Input& input,
                  const TensorSpec& spec) {
  if (std::any_of(input.shape.begin(), input.shape.end(), [](int64_t d) { return d < 0; })) {
    return Status::InvalidArgument(
        request.LogPrefix() + "All input dimensions should be specified for input '" + input.name +
        "'" + OfModel(request) + ", got " + tensor::ShapeText(input.shape));
  }
  const bool batched = config.max_batch_size() > 0 && !spec.is_shape_tensor;
  const std::span<const int64_t> dims =
      std::span<const int64_t>(input.shape).subspan(batched ? 1 : 0);
  if (tensor::ShapeMatches(spec.dims, dims)) return Status::Ok();
  std::string message = request.LogPrefix() + "unexpected shape for input '" + input.name + "'" +
                        OfModel(request) + ". Expected " +
                        tensor::ShapeText(config.FullShape(spec)) + ", got " +
                        tensor::ShapeText(input.shape) + ".";
  if (batched) {
    message +=
        " NOTE: Setting a non-zero max_batch_size in the model config means that each input's "
        "shape starts with a batch dimension, which the config's dims leave out. Set "
        "max_batch_size to zero to write the full shape into dims.";
  }
  return Status::InvalidArgument(std::move(message));
}

/// Sets the shape that the backend sees. The sizes of the variable dimensions are copied, in order,
/// to the variable dimensions of the configured reshape.
void ApplyReshape(const ModelConfig& config, const TensorSpec& spec, Input* input) {
  if (!spec.reshape) {
    input->model_shape = input->shape;
    return;
  }
  const size_t offset = config.max_batch_size() > 0 && !spec.is_shape_tensor ? 1 : 0;
  input->model_shape.clear();
  if (offset == 1) input->model_shape.push_back(input->shape[0]);
  size_t next = 0;
  for (const int64_t dim : *spec.reshape) {
    if (dim != tensor::kVariableDim) {
      input->model_shape.push_back(dim);
      continue;
    }
    while (next < spec.dims.size() && spec.dims[next] != tensor::kVariableDim) ++next;
    input->model_shape.push_back(next < spec.dims.size() ? input->shape[offset + next] : 1);
    ++next;
  }
}

Status CheckBytesInput(const InferenceRequest& request, const Input& input) {
  const auto count = tensor::ElementCount(input.shape);
  if (!count) {
    return Status::InvalidArgument(request.LogPrefix() + "invalid shape for input '" + input.name +
                                   "'" + OfModel(request) + ": " + tensor::ShapeText(input.shape) +
                                   " has more elements than a tensor can have");
  }
  std::vector<tensor::ByteSpan> pieces;
  pieces.reserve(input.pieces.size());
  for (const InputPiece& piece : input.pieces) {
    // Such strings were moved to the host (MoveStringsToHost), where that was possible.
    if (piece.memory_type == memory::MemoryType::kGpu) return Status::Ok();
    pieces.push_back({piece.data, piece.size});
  }
  return tensor::CheckBytesElements(pieces, *count,
                                    "inference input '" + input.name + "'" + OfModel(request))
      .WithPrefix(request.LogPrefix());
}

Status CheckByteSize(const InferenceRequest& request, const Input& input) {
  if (input.type == tensor::DataType::kBytes) return CheckBytesInput(request, input);
  const auto expected = tensor::ByteSize(input.type, input.shape);
  const uint64_t given = input.ByteSize();
  if (expected && *expected == given) return Status::Ok();
  if (!expected) {
    return Status::InvalidArgument(request.LogPrefix() + "invalid shape for input '" + input.name +
                                   "'" + OfModel(request) + ": " + tensor::ShapeText(input.shape) +
                                   " has more bytes than a tensor can have");
  }
  return Status::InvalidArgument(request.LogPrefix() + "input byte size mismatch for input '" +
                                 input.name + "'" + OfModel(request) + ". Expected " +
                                 std::to_string(*expected) + ", got " + std::to_string(given));
}

/// Checks that the data for each host policy is a complete tensor too.
Status CheckPolicyData(const InferenceRequest& request, const Input& input) {
  for (const PolicyData& data : input.policy_data) {
    Input alternative;
    alternative.name = input.name;
    alternative.type = input.type;
    alternative.shape = input.shape;
    alternative.pieces = data.pieces;
    NEREID_RETURN_IF_ERROR(
        CheckByteSize(request, alternative).WithPrefix("host policy '" + data.host_policy + "': "));
  }
  return Status::Ok();
}

// Of several wrong inputs the one that was given last is reported, as by Triton, whose map of
// inputs has them in this order.
Status CheckInputs(InferenceRequest& request, const ModelConfig& config) {
  for (size_t i = request.inputs().size(); i-- > 0;) {
    Input& input = request.inputs()[i];
    const TensorSpec& spec = *config.FindInput(input.name);
    if (input.type != spec.data_type) {
      return Status::InvalidArgument(
          request.LogPrefix() + "inference input '" + input.name + "' data-type is '" +
          std::string(tensor::DataTypeName(input.type)) + "', but model '" + request.model()->name +
          "' expects '" + std::string(tensor::DataTypeName(spec.data_type)) + "'");
    }
    NEREID_RETURN_IF_ERROR(CheckShape(request, config, input, spec));
    ApplyReshape(config, spec, &input);
    // The backend checks data whose format is the model's own, which may take more bytes.
    if (spec.is_non_linear_format_io) continue;
    NEREID_RETURN_IF_ERROR(CheckByteSize(request, input));
    NEREID_RETURN_IF_ERROR(CheckPolicyData(request, input));
  }
  return Status::Ok();
}

/// Sets name, type and shape of the input of a raw request. A BYTES input becomes one element with
/// the whole body. Otherwise one variable dimension at most is computed from the size;
/// CheckByteSize later finds sizes that do not divide.
Status ResolveRawInput(InferenceRequest& request) {
  const ModelConfig& config = *request.model()->config;
  const std::string& model = request.model()->name;
  if (config.inputs().size() != 1) {
    return Status::InvalidArgument(
        request.LogPrefix() +
        "Raw request must only have 1 input (found 1) to be deduced but got " +
        std::to_string(config.inputs().size()) + " inputs in '" + model + "' model configuration");
  }
  const TensorSpec& spec = config.inputs()[0];
  Input& input = request.inputs().ResolveRaw();
  input.name = spec.name;
  input.type = spec.data_type;
  input.shape.clear();
  if (config.max_batch_size() > 0) input.shape.push_back(1);
  if (spec.data_type == tensor::DataType::kBytes) {
    if (spec.dims != tensor::Shape{1}) {
      return Status::InvalidArgument(request.LogPrefix() + "For BYTE datatype raw input '" +
                                     spec.name + "', the model must have input shape [1]");
    }
    const uint64_t size = input.ByteSize();
    if (size > UINT32_MAX) {
      return Status::InvalidArgument(request.LogPrefix() + "raw input '" + spec.name + "' has " +
                                     std::to_string(size) +
                                     " bytes; a BYTES element holds at most 4294967295");
    }
    // The body is the content of one element; this adds the length that precedes it in the BYTES
    // format.
    memory::HostBuffer prefix = memory::HostBuffer::Allocate(sizeof(uint32_t));
    if (!prefix) return Status::Unavailable("out of memory");
    const auto length = static_cast<uint32_t>(size);
    std::copy_n(reinterpret_cast<const char*>(&length), sizeof(length), prefix.data());
    input.pieces.insert(input.pieces.begin(), InputPiece{prefix.data(), sizeof(length)});
    request.Hold(std::move(prefix));
    input.shape.push_back(1);
    return Status::Ok();
  }
  int64_t known = 1;
  int variable = 0;
  for (const int64_t dim : spec.dims) {
    if (dim == tensor::kVariableDim) {
      ++variable;
    } else {
      known = base::CheckedMultiply(known, dim).value_or(0);
    }
  }
  if (variable > 1) {
    return Status::InvalidArgument(request.LogPrefix() + "The shape of the raw input '" +
                                   spec.name +
                                   "' can not be deduced because there are more than one "
                                   "variable-sized dimension");
  }
  const auto element = static_cast<int64_t>(tensor::DataTypeByteSize(spec.data_type));
  const int64_t known_bytes = base::CheckedMultiply(known, element).value_or(0);
  for (const int64_t dim : spec.dims) {
    const bool deduce = dim == tensor::kVariableDim;
    input.shape.push_back(!deduce           ? dim
                          : known_bytes > 0 ? static_cast<int64_t>(input.ByteSize()) / known_bytes
                                            : 0);
  }
  return Status::Ok();
}

}  // namespace

Status Normalize(InferenceRequest& request) {
  const ModelConfig& config = *request.model()->config;
  if (request.inputs().is_raw()) NEREID_RETURN_IF_ERROR(ResolveRawInput(request));
  NEREID_RETURN_IF_ERROR(CheckOutputs(request, config));
  NEREID_RETURN_IF_ERROR(CheckInputNames(request, config));
  NEREID_RETURN_IF_ERROR(FindBatchSize(request, config));
  return CheckInputs(request, config);
}

}  // namespace nereid::request
