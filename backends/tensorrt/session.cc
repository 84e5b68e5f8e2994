// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/session.h"

#include <cstring>

namespace nereid::tensorrt {
namespace {

/// Returns the values of a shape tensor: INT32, or INT64 since TensorRT 10.
std::vector<int64_t> Numbers(TRITONSERVER_DataType type, const std::string& bytes) {
  std::vector<int64_t> numbers;
  const size_t element = type == TRITONSERVER_TYPE_INT64 ? sizeof(int64_t) : sizeof(int32_t);
  for (size_t at = 0; at + element <= bytes.size(); at += element) {
    int64_t wide = 0;
    int32_t narrow = 0;
    if (element == sizeof(wide)) {
      std::memcpy(&wide, bytes.data() + at, element);
    } else {
      std::memcpy(&narrow, bytes.data() + at, element);
      wide = narrow;
    }
    numbers.push_back(wide);
  }
  return numbers;
}

}  // namespace

Error TensorRtSession::Create(std::shared_ptr<const framework::RunPlan> plan,
                              std::unique_ptr<Engine> engine, const std::vector<int>& profiles,
                              int device, std::unique_ptr<framework::Session>* session) {
  std::unique_ptr<TensorRtSession> made(
      new TensorRtSession(std::move(plan), std::move(engine), device));
  for (const int index : profiles) {
    NEREID_BACKEND_TRY(made->engine_->ReadProfile(index, &made->profiles_.emplace_back()));
    NEREID_BACKEND_TRY(
        Execution::Create(made->engine_.get(), index, &made->executions_.emplace_back()));
  }
  const size_t count = made->engine_->inputs().size();
  for (const EngineTensor& input : made->engine_->inputs()) {
    made->names_.push_back(input.signature.name);
  }
  made->numbers_.resize(count);
  made->shapes_.resize(count);
  made->values_.resize(count);
  made->data_.resize(count);
  made->sizes_.resize(count);
  *session = std::move(made);
  return {};
}

void TensorRtSession::PrependBatch(const framework::InputTensor& tensor, size_t place,
                                   int64_t batch_size) {
  std::string& values = values_[place];
  values.clear();
  if (plan_->batching) {
    const auto narrow = static_cast<int32_t>(batch_size);
    tensor.data_type == TRITONSERVER_TYPE_INT64
        ? values.append(reinterpret_cast<const char*>(&batch_size), sizeof(batch_size))
        : values.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
    shapes_[place][0] += 1;
  }
  values.append(tensor.data, tensor.size);
  data_[place] = values.data();
  sizes_[place] = values.size();
  numbers_[place] = Numbers(tensor.data_type, values);
}

Error TensorRtSession::TakeInputs(std::span<const framework::InputTensor> inputs) {
  int64_t batch_size = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const framework::PlannedInput& plan = plan_->inputs[i];
    const size_t place = plan.place;
    shapes_[place].assign(inputs[i].shape.begin(), inputs[i].shape.end());
    data_[place] = inputs[i].data;
    sizes_[place] = inputs[i].size;
    numbers_[place] = shapes_[place];
    if (plan_->batching && !plan.shape_tensor && !shapes_[place].empty()) {
      batch_size = shapes_[place][0];
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!plan_->inputs[i].shape_tensor) {
      continue;
    }
    if (inputs[i].shape.size() != 1) {
      return Error::InvalidArgument("the shape tensor '" + plan_->inputs[i].name +
                                    "' must have one dimension");
    }
    PrependBatch(inputs[i], plan_->inputs[i].place, batch_size);
  }
  return {};
}

Error TensorRtSession::Run(std::span<const framework::InputTensor> inputs,
                           std::span<const size_t> outputs,
                           std::span<framework::OutputTensor> results) {
  // The thread may have executed an instance on another GPU before.
  NEREID_BACKEND_TRY(CudaError(cudaSetDevice(device_), "use the instance's GPU"));
  NEREID_BACKEND_TRY(TakeInputs(inputs));
  size_t chosen = 0;
  NEREID_BACKEND_TRY(ChooseProfile(profiles_, names_, numbers_, &chosen));
  Execution& execution = *executions_[chosen];
  for (size_t i = 0; i < names_.size(); ++i) {
    NEREID_BACKEND_TRY(execution.SetInput(i, shapes_[i], data_[i], sizes_[i]));
  }
  std::vector<size_t> places;
  for (const size_t output : outputs) {
    places.push_back(plan_->outputs[output].place);
  }
  NEREID_BACKEND_TRY(execution.Run(places, results));
  for (size_t i = 0; i < outputs.size(); ++i) {
    framework::OutputTensor& result = results[i];
    if (!plan_->outputs[outputs[i]].shape_tensor || !plan_->batching || result.shape.empty() ||
        result.shape[0] < 1) {
      continue;
    }
    // Removes the batch size, which is not part of the shape tensor for clients.
    const uint32_t element = TRITONSERVER_DataTypeByteSize(result.data_type);
    result.shape[0] -= 1;
    result.data += element;
    result.size -= element;
  }
  return {};
}

}  // namespace nereid::tensorrt
