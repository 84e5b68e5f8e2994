// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/session.h"

#include <algorithm>

#include "tensorflow/input_tensor.h"
#include "tensorflow/session_options.h"

namespace nereid::tensorflow {
namespace {

using framework::InputTensor;
using framework::OutputTensor;

/// Converts a result and takes ownership of the tensor.
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

/// Copies an input to an output that is the same tensor of the graph. TensorFlow refuses to fetch a
/// tensor that is fed.
void Echo(const InputTensor& input, OutputTensor* output) {
  output->data_type = input.data_type;
  output->shape.assign(input.shape.begin(), input.shape.end());
  output->data = input.data;
  output->size = input.size;
  output->texts.assign(input.texts.begin(), input.texts.end());
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<const LoadedGraph> graph,
                           std::shared_ptr<const framework::RunPlan> plan)
    : graph_(std::move(graph)), plan_(std::move(plan)), run_options_(MakeRunOptions()) {
  for (const framework::PlannedOutput& output : plan_->outputs) {
    const TF_Output wanted = graph_->outputs[output.place];
    const auto echoed = std::find_if(plan_->inputs.begin(), plan_->inputs.end(),
                                     [&](const framework::PlannedInput& input) {
                                       const TF_Output fed = graph_->inputs[input.place];
                                       return fed.oper == wanted.oper && fed.index == wanted.index;
                                     });
    echoes_.push_back(echoed == plan_->inputs.end() ? kNone : echoed - plan_->inputs.begin());
  }
}

Error GraphSession::Feed(std::span<const InputTensor> inputs) {
  fed_.clear();
  feeds_.clear();
  owners_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) {
      continue;
    }
    TF_Tensor* tensor = nullptr;
    NEREID_BACKEND_TRY(MakeInputTensor(inputs[i], graph_->changes_state, &tensor));
    owners_.emplace_back(tensor);
    fed_.push_back(graph_->inputs[plan_->inputs[i].place]);
    feeds_.push_back(tensor);
  }
  return {};
}

Error GraphSession::Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                        std::span<OutputTensor> results) {
  NEREID_BACKEND_TRY(Feed(inputs));
  fetched_.clear();
  fetched_results_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ptrdiff_t echo = echoes_[outputs[i]];
    if (echo != kNone && inputs[static_cast<size_t>(echo)].present) {
      Echo(inputs[static_cast<size_t>(echo)], &results[i]);
    } else {
      fetched_.push_back(graph_->outputs[plan_->outputs[outputs[i]].place]);
      fetched_results_.push_back(&results[i]);
    }
  }
  if (!fetched_.empty()) {
    fetches_.assign(fetched_.size(), nullptr);
    TF_SetStatus(status_.get(), TF_OK, "");
    TF_SessionRun(graph_->session.get(), run_options_.get(), fed_.data(), feeds_.data(),
                  static_cast<int>(fed_.size()), fetched_.data(), fetches_.data(),
                  static_cast<int>(fetched_.size()), nullptr, 0, nullptr, status_.get());
    for (size_t i = 0; i < fetches_.size(); ++i) {
      if (fetches_[i] != nullptr) {
        Describe(fetches_[i], fetched_results_[i]);
      }
    }
  }
  // A result that shares memory with an input keeps it alive.
  owners_.clear();
  return fetched_.empty() ? Error() : status_.ToError("model '" + plan_->model_name + "'");
}

}  // namespace nereid::tensorflow
