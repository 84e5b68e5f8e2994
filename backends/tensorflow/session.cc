// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/session.h"

#include <cstring>
#include <span>

#include "nereid/backend/data_type.h"
#include "tensorflow/session_options.h"

namespace nereid::tensorflow {
namespace {

using framework::InputTensor;
using framework::OutputTensor;

/// An input's tensor. TensorFlow does not run the destructors of texts that were made through the C
/// API, so they are ended here.
struct EndInput {
  void operator()(TF_Tensor* tensor) const {
    if (TF_TensorType(tensor) == TF_STRING) {
      auto* texts = static_cast<TF_TString*>(TF_TensorData(tensor));
      for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
        TF_StringDealloc(&texts[i]);
      }
    }
    TF_DeleteTensor(tensor);
  }
};

/// A copy: the graph may keep a tensor that it was fed (in a queue, in a variable) for longer than
/// the request lives.
Error MakeTensor(const InputTensor& input, TF_Tensor** made) {
  const bool text = input.data_type == TRITONSERVER_TYPE_BYTES;
  size_t size = input.size;
  if (text && __builtin_mul_overflow(input.texts.size(), sizeof(TF_TString), &size)) {
    return Error::InvalidArgument("a tensor of texts is too large");
  }
  *made = TF_AllocateTensor(TfTypeOf(input.data_type), input.shape.data(),
                            static_cast<int>(input.shape.size()), size);
  if (*made == nullptr) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "no memory for a tensor of " + std::to_string(size) + " bytes");
  }
  if (!text) {
    if (size != 0) {
      std::memcpy(TF_TensorData(*made), input.data, size);
    }
    return {};
  }
  auto* elements = static_cast<TF_TString*>(TF_TensorData(*made));
  for (size_t i = 0; i < input.texts.size(); ++i) {
    TF_StringInit(&elements[i]);
    TF_StringCopy(&elements[i], input.texts[i].data(), input.texts[i].size());
  }
  return {};
}

/// Takes the tensor.
void Describe(TF_Tensor* tensor, OutputTensor* output) {
  output->owner = std::shared_ptr<TF_Tensor>(tensor, Release());
  output->data_type = DataTypeOf(TF_TensorType(tensor));
  for (int i = 0; i < TF_NumDims(tensor); ++i) {
    output->shape.push_back(TF_Dim(tensor, i));
  }
  output->data = static_cast<const char*>(TF_TensorData(tensor));
  output->size = TF_TensorByteSize(tensor);
  if (output->data_type != TRITONSERVER_TYPE_BYTES) {
    return;
  }
  const auto* texts = static_cast<const TF_TString*>(TF_TensorData(tensor));
  const auto count = static_cast<size_t>(TF_TensorElementCount(tensor));
  output->texts.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    output->texts.emplace_back(TF_StringGetDataPointer(&texts[i]), TF_StringGetSize(&texts[i]));
  }
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<const LoadedGraph> graph,
                           std::shared_ptr<const framework::RunPlan> plan)
    : graph_(std::move(graph)), plan_(std::move(plan)), run_options_(MakeRunOptions()) {}

Error GraphSession::Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                        std::span<OutputTensor> results) {
  std::vector<std::unique_ptr<TF_Tensor, EndInput>> tensors;
  fed_.clear();
  feeds_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) {
      continue;
    }
    TF_Tensor* tensor = nullptr;
    NEREID_BACKEND_TRY(MakeTensor(inputs[i], &tensor));
    tensors.emplace_back(tensor);
    fed_.push_back(graph_->inputs[plan_->inputs[i].place]);
    feeds_.push_back(tensor);
  }
  fetched_.clear();
  for (const size_t output : outputs) {
    fetched_.push_back(graph_->outputs[plan_->outputs[output].place]);
  }
  fetches_.assign(outputs.size(), nullptr);
  TF_SetStatus(status_.get(), TF_OK, "");
  TF_SessionRun(graph_->session.get(), run_options_.get(), fed_.data(), feeds_.data(),
                static_cast<int>(fed_.size()), fetched_.data(), fetches_.data(),
                static_cast<int>(fetched_.size()), nullptr, 0, nullptr, status_.get());
  for (size_t i = 0; i < results.size(); ++i) {
    if (fetches_[i] != nullptr) {
      Describe(fetches_[i], &results[i]);
    }
  }
  return status_.ToError("model '" + plan_->model_name + "'");
}

}  // namespace nereid::tensorflow
