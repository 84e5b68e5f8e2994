// SPDX-License-Identifier: Apache-2.0
#include "custom/payloads.h"

#include <algorithm>

#include "framework/printable.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"

namespace nereid::custom {
namespace {

CustomMemoryType ToCustom(TRITONSERVER_MemoryType type) {
  switch (type) {
    case TRITONSERVER_MEMORY_GPU:
      return CUSTOM_MEMORY_GPU;
    case TRITONSERVER_MEMORY_CPU_PINNED:
      return CUSTOM_MEMORY_CPU_PINNED;
    default:
      return CUSTOM_MEMORY_CPU;
  }
}

TRITONSERVER_MemoryType ToServer(CustomMemoryType type) {
  switch (type) {
    case CUSTOM_MEMORY_GPU:
      return TRITONSERVER_MEMORY_GPU;
    case CUSTOM_MEMORY_CPU_PINNED:
      return TRITONSERVER_MEMORY_CPU_PINNED;
    default:
      return TRITONSERVER_MEMORY_CPU;
  }
}

}  // namespace

Error PayloadTensors::Prepare() {
  for (const std::string& name : signature_->inputs) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindOptionalInput(member_->request, name.c_str(), &input));
    if (input.handle == nullptr) {
      continue;
    }
    NEREID_BACKEND_TRY(backend::CheckInputSize(input));
    if (signature_->batching) {
      if (input.shape.empty() || input.shape[0] > UINT32_MAX) {
        return Error::InvalidArgument("input '" + name + "' has the shape " +
                                      backend::ShapeText(input.shape) +
                                      ", which does not begin with a batch size");
      }
      const auto batch_size = static_cast<uint64_t>(input.shape[0]);
      if (!inputs_.empty() && batch_size != member_->batch_size) {
        return Error::InvalidArgument(
            "input '" + name + "' has the batch size " + std::to_string(batch_size) +
            ", other inputs of the request " + std::to_string(member_->batch_size));
      }
      member_->batch_size = batch_size;
    }
    inputs_.push_back(input);
  }
  next_piece_.assign(inputs_.size(), 0);
  NEREID_BACKEND_TRY(
      backend::ForEachRequestedOutput(member_->request, [&](const char* name) -> Error {
        required_.push_back(name);
        return {};
      }));
  requested_count_ = required_.size();
  for (const CustomOutput& output : signature_->outputs) {
    if (output.state && !Requested(output.tensor.name)) {
      required_.push_back(output.tensor.name.c_str());
    }
  }
  // Reserved here so that the callbacks need no memory for this list: only Prepare can fail for
  // lack of it.
  written_.reserve(signature_->outputs.size());
  return {};
}

bool PayloadTensors::Requested(std::string_view name) const {
  return std::any_of(required_.begin(),
                     required_.begin() + static_cast<std::ptrdiff_t>(requested_count_),
                     [&](const char* required) { return name == required; });
}

Error PayloadTensors::Wrong(const std::string& text) const {
  return Error::Internal("the custom library of model '" + signature_->model_name + "' " + text);
}

bool PayloadTensors::Note(Error error) noexcept {
  const bool ok = error.ok();
  if (mistake_.ok()) {
    mistake_ = std::move(error);
  }
  return ok;
}

bool PayloadTensors::NextInput(const char* name, const void** content, uint64_t* size,
                               CustomMemoryType* type, int64_t* type_id) noexcept {
  return Note(backend::Catching([&]() -> Error {
    if (name == nullptr || content == nullptr || size == nullptr || type == nullptr ||
        type_id == nullptr) {
      return Wrong("asked for an input with a null pointer");
    }
    return GiveInput(name, content, size, type, type_id);
  }));
}

Error PayloadTensors::GiveInput(std::string_view name, const void** content, uint64_t* size,
                                CustomMemoryType* type, int64_t* type_id) {
  *content = nullptr;
  *size = 0;
  const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const backend::Input& input) { return name == input.name; });
  if (found == inputs_.end()) {
    return Wrong("asked for the input '" + framework::Printable(name) +
                 "', which the request lacks");
  }
  uint32_t& next = next_piece_[static_cast<size_t>(found - inputs_.begin())];
  // Empty pieces are skipped: to the library an empty piece would mean the end of the input.
  while (next < found->buffer_count && *size == 0) {
    TRITONSERVER_MemoryType actual = ToServer(*type);
    NEREID_BACKEND_TRY(
        TRITONBACKEND_InputBuffer(found->handle, next++, content, size, &actual, type_id));
    if (cpu_only_ && actual == TRITONSERVER_MEMORY_GPU) {
      *content = nullptr;
      return Error::Unsupported("input '" + std::string(name) +
                                "' is in GPU memory, which a custom library of version 1 cannot "
                                "read");
    }
    *type = ToCustom(actual);
  }
  if (*size == 0) {
    *content = nullptr;
  }
  return {};
}

bool PayloadTensors::AddOutput(const char* name, std::span<const int64_t> shape, uint64_t size,
                               void** content, CustomMemoryType* type, int64_t* type_id) noexcept {
  return Note(backend::Catching([&]() -> Error {
    if (name == nullptr || content == nullptr || type == nullptr || type_id == nullptr ||
        (shape.data() == nullptr && !shape.empty())) {
      return Wrong("asked for an output with a null pointer");
    }
    *content = nullptr;
    return GiveOutput(name, shape, size, content, type, type_id);
  }));
}

Error PayloadTensors::CheckOutput(const CustomOutput& output, std::span<const int64_t> shape,
                                  uint64_t size) const {
  std::vector<int64_t> wanted = output.tensor.ModelDims();
  if (signature_->batching) {
    wanted.insert(wanted.begin(), static_cast<int64_t>(member_->batch_size));
  }
  const bool fits =
      std::equal(wanted.begin(), wanted.end(), shape.begin(), shape.end(),
                 [](int64_t want, int64_t got) { return got >= 0 && (want == -1 || want == got); });
  // A shape with very many dimensions is described by their number only.
  const std::string what =
      "asked for the output '" + output.tensor.name + "' in " +
      (shape.size() > wanted.size() + 1 ? std::to_string(shape.size()) + " dimensions"
                                        : "the shape " + backend::ShapeText(shape));
  if (!fits) {
    return Wrong(what + ", but the configuration says " + backend::ShapeText(wanted) +
                 (signature_->batching ? " (with the batch)" : ""));
  }
  const auto type = output.tensor.data_type;
  const bool text = type == TRITONSERVER_TYPE_BYTES;
  const int64_t needed = backend::TensorByteSize(text ? TRITONSERVER_TYPE_UINT32 : type, shape);
  if (needed < 0) {
    return Wrong(what + ", which is too large");
  }
  if (text ? size < static_cast<uint64_t>(needed) : size != static_cast<uint64_t>(needed)) {
    return Wrong(what + " with " + std::to_string(size) + " bytes, but " +
                 backend::DataTypeToConfig(type) + " needs " + (text ? "at least " : "") +
                 std::to_string(needed));
  }
  return {};
}

Error PayloadTensors::GiveOutput(std::string_view name, std::span<const int64_t> shape,
                                 uint64_t size, void** content, CustomMemoryType* type,
                                 int64_t* type_id) {
  const CustomOutput* output = signature_->FindOutput(name);
  if (output == nullptr) {
    return Wrong("asked for the output '" + framework::Printable(name) +
                 "', which the configuration lacks");
  }
  if (std::any_of(written_.begin(), written_.end(),
                  [&](const Written& other) { return other.output == output; })) {
    return Wrong("asked twice for the output '" + std::string(name) + "'");
  }
  NEREID_BACKEND_TRY(CheckOutput(*output, shape, size));
  Written& written = written_.emplace_back();
  written.output = output;
  written.shape.assign(shape.begin(), shape.end());
  written.size = size;
  if (Requested(name)) {
    NEREID_BACKEND_TRY(AllocateAnswer(&written, type, type_id));
  } else if (output->state) {
    NEREID_BACKEND_TRY(backend::AllocateState(member_->request, output->tensor.name.c_str(),
                                              output->tensor.data_type, shape, size, &written.state,
                                              &written.content));
    *type = CUSTOM_MEMORY_CPU;
    *type_id = 0;
  }
  *content = size == 0 ? nullptr : written.content;
  return {};
}

Error PayloadTensors::AllocateAnswer(Written* written, CustomMemoryType* type, int64_t* type_id) {
  const backend::TensorConfig& tensor = written->output->tensor;
  // States and strings are read again after the execution, so they must be in CPU memory.
  const bool cpu =
      cpu_only_ || written->output->state || tensor.data_type == TRITONSERVER_TYPE_BYTES;
  if (cpu) {
    *type = CUSTOM_MEMORY_CPU;
    *type_id = 0;
    return backend::AllocateOutput(member_->response, tensor.name.c_str(), tensor.data_type,
                                   written->shape, written->size, &written->content);
  }
  TRITONBACKEND_Output* output = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(member_->response, &output, tensor.name.c_str(),
                                                  tensor.data_type, written->shape.data(),
                                                  static_cast<uint32_t>(written->shape.size())));
  TRITONSERVER_MemoryType actual = ToServer(*type);
  void* buffer = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_OutputBuffer(output, &buffer, written->size, &actual, type_id));
  if (buffer == nullptr && written->size != 0) {
    return Error::Internal("output '" + tensor.name + "' got no buffer");
  }
  *type = ToCustom(actual);
  written->content = static_cast<char*>(buffer);
  return {};
}

Error PayloadTensors::Finish() {
  for (const Written& written : written_) {
    const backend::TensorConfig& tensor = written.output->tensor;
    if (tensor.data_type == TRITONSERVER_TYPE_BYTES && written.content != nullptr) {
      const Error error = backend::ForEachBytesElement(
          written.content, written.size, backend::ElementCount(written.shape), tensor.name,
          [](int64_t, std::string_view) {});
      if (!error.ok()) {
        return Error::Internal(error.message());
      }
    }
    if (written.state != nullptr) {
      NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(written.state));
    } else if (written.output->state) {
      NEREID_BACKEND_TRY(backend::WriteState(member_->request, tensor.name.c_str(),
                                             tensor.data_type, written.shape, written.content,
                                             written.size));
    }
  }
  return {};
}

Payloads::Payloads(bool batching, std::vector<PayloadTensors>* tensors,
                   std::span<const uint64_t> batch_sizes) {
  size_t inputs = 0;
  size_t outputs = 0;
  for (const PayloadTensors& each : *tensors) {
    inputs += each.inputs().size();
    outputs += each.required_outputs().size();
  }
  // The payloads point into these vectors, which must therefore not reallocate.
  input_names_.reserve(inputs);
  dim_counts_.reserve(inputs);
  dims_.reserve(inputs);
  output_names_.reserve(outputs);
  payloads_.reserve(tensors->size());
  for (PayloadTensors& each : *tensors) {
    CustomPayload& payload = payloads_.emplace_back();
    payload.batch_size = static_cast<uint32_t>(batch_sizes[payloads_.size() - 1]);
    payload.input_cnt = static_cast<uint32_t>(each.inputs().size());
    payload.input_names = input_names_.data() + input_names_.size();
    payload.input_shape_dim_cnts = dim_counts_.data() + dim_counts_.size();
    payload.input_shape_dims = dims_.data() + dims_.size();
    for (const backend::Input& input : each.inputs()) {
      const std::span<const int64_t> shape = input.shape.subspan(batching ? 1 : 0);
      input_names_.push_back(input.name);
      dim_counts_.push_back(shape.size());
      dims_.push_back(shape.empty() ? nullptr : shape.data());
    }
    payload.output_cnt = static_cast<uint32_t>(each.required_outputs().size());
    payload.required_output_names = output_names_.data() + output_names_.size();
    output_names_.insert(output_names_.end(), each.required_outputs().begin(),
                         each.required_outputs().end());
    payload.input_context = payload.output_context = &each;
    payload.error_code = 0;
  }
}

bool GetNextInputV2(void* context, const char* name, const void** content, uint64_t* size,
                    CustomMemoryType* memory_type, int64_t* memory_type_id) {
  return context != nullptr && static_cast<PayloadTensors*>(context)->NextInput(
                                   name, content, size, memory_type, memory_type_id);
}

bool GetNextInput(void* context, const char* name, const void** content, uint64_t* size) {
  CustomMemoryType memory_type = CUSTOM_MEMORY_CPU;
  int64_t memory_type_id = 0;
  return GetNextInputV2(context, name, content, size, &memory_type, &memory_type_id);
}

bool GetOutputV2(void* context, const char* name, size_t dim_count, int64_t* dims, uint64_t size,
                 void** content, CustomMemoryType* memory_type, int64_t* memory_type_id) {
  return context != nullptr &&
         static_cast<PayloadTensors*>(context)->AddOutput(name, {dims, dim_count}, size, content,
                                                          memory_type, memory_type_id);
}

bool GetOutput(void* context, const char* name, size_t dim_count, int64_t* dims, uint64_t size,
               void** content) {
  CustomMemoryType memory_type = CUSTOM_MEMORY_CPU;
  int64_t memory_type_id = 0;
  return GetOutputV2(context, name, dim_count, dims, size, content, &memory_type, &memory_type_id);
}

}  // namespace nereid::custom
