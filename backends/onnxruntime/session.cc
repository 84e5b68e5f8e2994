// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "nereid/backend/data_type.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {

using framework::InputTensor;
using framework::OutputTensor;

Error TensorMemory::Make(framework::Placement placement, TensorMemory* memory) {
  memory->gpu = placement.gpu;
  OrtMemoryInfo* made = nullptr;
  NEREID_ORT_TRY(Api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &made));
  memory->host.reset(made);
  if (placement.on_gpu()) {
    NEREID_ORT_TRY(Api().CreateMemoryInfo("Cuda", OrtDeviceAllocator, placement.gpu,
                                          OrtMemTypeDefault, &made));
    memory->device.reset(made);
  }
  return {};
}

OnnxSession::OnnxSession(std::shared_ptr<const SessionPlan> plan,
                         std::shared_ptr<OrtSession> session, Owned<OrtRunOptions> run_options,
                         TensorMemory memory)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      run_options_(std::move(run_options)),
      memory_(std::move(memory)) {
  for (const framework::PlannedInput& input : plan_->run.inputs) {
    inputs_.push_back({input.name.c_str(), ElementTypeOf(input.data_type)});
  }
  for (const framework::PlannedOutput& output : plan_->run.outputs) {
    outputs_.push_back(
        {plan_->output_names[output.place].c_str(), ElementTypeOf(output.data_type)});
  }
}

void OnnxSession::SetThreads(uint32_t threads) noexcept {
  if (sessions_ == nullptr) {
    return;
  }
  if (auto session = sessions_->Find(threads); session != nullptr) {
    session_ = std::move(session);
  }
}

Error OnnxSession::Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                       std::span<OutputTensor> results) {
  NEREID_BACKEND_TRY(Feed(inputs));
  NEREID_BACKEND_TRY(Offer(outputs, results));
  const bool bound = std::any_of(results.begin(), results.end(), [](const OutputTensor& result) {
    return result.wanted_on_gpu && result.place.data == nullptr;
  });
  Error error = bound ? ComputeBound(results) : Compute();
  for (size_t i = 0; i < outputs.size() && error.ok(); ++i) {
    results[i].in_place = results[i].place.data != nullptr;
    if (!results[i].in_place) {
      error = Read(outputs[i], std::move(output_values_[i]), &results[i]);
    }
  }
  input_values_.clear();
  output_values_.clear();
  return error;
}

/// Creates the tensors of the inputs.
Error OnnxSession::Feed(std::span<const InputTensor> inputs) {
  input_names_.clear();
  input_pointers_.clear();
  input_values_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputTensor& input = inputs[i];
    if (!input.present) {
      continue;
    }
    Owned<OrtValue> value;
    NEREID_BACKEND_TRY(
        input.data_type == TRITONSERVER_TYPE_BYTES
            ? FeedTexts(input, &value)
            : Wrap(input.data, input.gpu, input.size, input.shape, inputs_[i].type, &value));
    input_names_.push_back(inputs_[i].name);
    input_pointers_.push_back(value.get());
    input_values_.push_back(std::move(value));
  }
  return {};
}

/// Creates a tensor that refers to `data`, which must stay valid during the run.
Error OnnxSession::Wrap(const char* data, int gpu, uint64_t size, std::span<const int64_t> shape,
                        ONNXTensorElementDataType type, Owned<OrtValue>* value) const {
  OrtValue* made = nullptr;
  // ONNX Runtime does not write to inputs, but its C API takes a non-const pointer.
  const OrtMemoryInfo* memory = gpu >= 0 ? memory_.device.get() : memory_.host.get();
  NEREID_ORT_TRY(Api().CreateTensorWithDataAsOrtValue(memory, const_cast<char*>(data), size,
                                                      shape.data(), shape.size(), type, &made));
  value->reset(made);
  return {};
}

Error OnnxSession::FeedTexts(const InputTensor& input, Owned<OrtValue>* value) const {
  OrtAllocator* allocator = nullptr;
  NEREID_ORT_TRY(Api().GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* made = nullptr;
  NEREID_ORT_TRY(Api().CreateTensorAsOrtValue(allocator, input.shape.data(), input.shape.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &made));
  value->reset(made);
  for (size_t i = 0; i < input.texts.size(); ++i) {
    char* place = nullptr;
    NEREID_ORT_TRY(
        Api().GetResizedStringTensorElementBuffer(made, i, input.texts[i].size(), &place));
    if (!input.texts[i].empty()) {
      std::memcpy(place, input.texts[i].data(), input.texts[i].size());
    }
  }
  return {};
}

/// Names the outputs of the run, and creates tensors over the memory that is offered for them.
Error OnnxSession::Offer(std::span<const size_t> outputs, std::span<const OutputTensor> results) {
  output_names_.clear();
  output_pointers_.clear();
  output_values_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = outputs_[outputs[i]];
    const framework::OutputPlace& place = results[i].place;
    Owned<OrtValue> value;
    if (place.data != nullptr) {
      NEREID_BACKEND_TRY(Wrap(place.data, place.gpu, place.size, place.shape, port.type, &value));
    }
    output_names_.push_back(port.name);
    output_pointers_.push_back(value.get());
    output_values_.push_back(std::move(value));
  }
  return {};
}

Error OnnxSession::Compute() {
  Error error = ToError(Api().Run(
      session_.get(), run_options_.get(), input_names_.data(), input_pointers_.data(),
      input_pointers_.size(), output_names_.data(), output_names_.size(), output_pointers_.data()));
  for (size_t i = 0; i < output_pointers_.size(); ++i) {
    if (output_values_[i] == nullptr) {
      output_values_[i].reset(output_pointers_[i]);
    }
  }
  return error;
}

/// Does the same with a binding, which can leave results on the GPU whose shapes are not known
/// before the run.
Error OnnxSession::ComputeBound(std::span<const OutputTensor> results) {
  if (binding_ == nullptr) {
    OrtIoBinding* made = nullptr;
    NEREID_ORT_TRY(Api().CreateIoBinding(session_.get(), &made));
    binding_.reset(made);
  }
  Error error = Bind(results);
  if (error.ok()) {
    error = ToError(Api().RunWithBinding(session_.get(), run_options_.get(), binding_.get()));
  }
  if (error.ok()) {
    error = TakeBound();
  }
  Api().ClearBoundInputs(binding_.get());
  Api().ClearBoundOutputs(binding_.get());
  return error;
}

Error OnnxSession::Bind(std::span<const OutputTensor> results) {
  for (size_t i = 0; i < input_names_.size(); ++i) {
    NEREID_ORT_TRY(Api().BindInput(binding_.get(), input_names_[i], input_pointers_[i]));
  }
  for (size_t i = 0; i < output_names_.size(); ++i) {
    if (output_pointers_[i] != nullptr) {
      NEREID_ORT_TRY(Api().BindOutput(binding_.get(), output_names_[i], output_pointers_[i]));
      continue;
    }
    const auto& memory = results[i].wanted_on_gpu ? memory_.device : memory_.host;
    NEREID_ORT_TRY(Api().BindOutputToDevice(binding_.get(), output_names_[i], memory.get()));
  }
  return ToError(Api().SynchronizeBoundInputs(binding_.get()));
}

/// Takes the results of a run with a binding, which are in the order in which they were bound.
Error OnnxSession::TakeBound() {
  NEREID_ORT_TRY(Api().SynchronizeBoundOutputs(binding_.get()));
  OrtAllocator* allocator = nullptr;
  NEREID_ORT_TRY(Api().GetAllocatorWithDefaultOptions(&allocator));
  OrtValue** values = nullptr;
  size_t count = 0;
  NEREID_ORT_TRY(Api().GetBoundOutputValues(binding_.get(), allocator, &values, &count));
  for (size_t i = 0; i < count; ++i) {
    Owned<OrtValue> value(values[i]);
    if (i < output_values_.size() && output_values_[i] == nullptr) {
      output_values_[i] = std::move(value);
    }
  }
  return ToError(Api().AllocatorFree(allocator, values));
}

/// Finds out in which memory a result is.
Error OnnxSession::FindMemory(const OrtValue& value, OutputTensor* result) const {
  const OrtMemoryInfo* memory = nullptr;
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_CPU;
  NEREID_ORT_TRY(Api().GetTensorMemoryInfo(&value, &memory));
  Api().MemoryInfoGetDeviceType(memory, &type);
  result->gpu = type == OrtMemoryInfoDeviceType_GPU ? memory_.gpu : -1;
  return {};
}

/// Describes a result that ONNX Runtime has allocated.
Error OnnxSession::Read(size_t output, Owned<OrtValue> value, OutputTensor* result) const {
  const std::string& name = plan_->run.outputs[output].name;
  int is_tensor = 0;
  if (value != nullptr) {
    NEREID_ORT_TRY(Api().IsTensor(value.get(), &is_tensor));
  }
  if (is_tensor == 0) {
    return Error::Internal("model '" + plan_->run.model_name + "' gave no tensor for output '" +
                           name + "'");
  }
  OrtTensorTypeAndShapeInfo* info = nullptr;
  NEREID_ORT_TRY(Api().GetTensorTypeAndShape(value.get(), &info));
  const Owned<OrtTensorTypeAndShapeInfo> owner(info);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  NEREID_ORT_TRY(Api().GetTensorElementType(info, &type));
  size_t rank = 0;
  NEREID_ORT_TRY(Api().GetDimensionsCount(info, &rank));
  result->shape.resize(rank);
  NEREID_ORT_TRY(Api().GetDimensions(info, result->shape.data(), rank));
  result->data_type = DataTypeOf(type);
  if (result->data_type == TRITONSERVER_TYPE_BYTES) {
    return ReadTexts(*value, static_cast<size_t>(backend::ElementCount(result->shape)), result);
  }
  if (memory_.gpu >= 0) {
    NEREID_BACKEND_TRY(FindMemory(*value, result));
  }
  void* data = nullptr;
  NEREID_ORT_TRY(Api().GetTensorMutableData(value.get(), &data));
  result->data = static_cast<const char*>(data);
  result->size = static_cast<uint64_t>(backend::TensorByteSize(result->data_type, result->shape));
  result->owner = std::shared_ptr<OrtValue>(value.release(), Release());
  return {};
}

Error OnnxSession::ReadTexts(const OrtValue& value, size_t count, OutputTensor* result) {
  size_t length = 0;
  NEREID_ORT_TRY(Api().GetStringTensorDataLength(&value, &length));
  const auto bytes = std::make_shared<std::string>(length, '\0');
  std::vector<size_t> offsets(count + 1, length);
  if (count != 0) {
    NEREID_ORT_TRY(
        Api().GetStringTensorContent(&value, bytes->data(), length, offsets.data(), count));
  }
  result->texts.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    result->texts.emplace_back(bytes->data() + offsets[i], offsets[i + 1] - offsets[i]);
  }
  result->owner = bytes;
  return {};
}

}  // namespace nereid::onnxruntime
