// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/session.h"

#include <cstring>
#include <utility>

#include "nereid/backend/data_type.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {

using framework::InputTensor;
using framework::OutputTensor;

OnnxSession::OnnxSession(std::shared_ptr<const SessionPlan> plan,
                         std::shared_ptr<OrtSession> session, Owned<OrtRunOptions> run_options,
                         Owned<OrtMemoryInfo> memory)
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

Error OnnxSession::Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                       std::span<OutputTensor> results) {
  NEREID_BACKEND_TRY(Feed(inputs));
  NEREID_BACKEND_TRY(Offer(outputs, results));
  Error error = Compute();
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
    NEREID_BACKEND_TRY(input.data_type == TRITONSERVER_TYPE_BYTES
                           ? FeedTexts(input, &value)
                           : Wrap(input.data, input.size, input.shape, inputs_[i].type, &value));
    input_names_.push_back(inputs_[i].name);
    input_pointers_.push_back(value.get());
    input_values_.push_back(std::move(value));
  }
  return {};
}

/// Creates a tensor that refers to `data`, which must stay valid during the run.
Error OnnxSession::Wrap(const char* data, uint64_t size, std::span<const int64_t> shape,
                        ONNXTensorElementDataType type, Owned<OrtValue>* value) const {
  OrtValue* made = nullptr;
  // ONNX Runtime does not write to inputs, but its C API takes a non-const pointer.
  NEREID_ORT_TRY(Api().CreateTensorWithDataAsOrtValue(memory_.get(), const_cast<char*>(data), size,
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
      NEREID_BACKEND_TRY(Wrap(place.data, place.size, place.shape, port.type, &value));
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
