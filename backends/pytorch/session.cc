// SPDX-License-Identifier: Apache-2.0
#include "pytorch/session.h"

#include <ATen/Parallel.h>
#include <torch/script.h>

#include <cstring>

#include "nereid/backend/data_type.h"
#include "pytorch/torch_error.h"
#include "pytorch/torch_types.h"

namespace nereid::pytorch {
namespace {

using framework::InputTensor;
using framework::OutputTensor;
using framework::PlannedInput;
using framework::PlannedOutput;

class TorchSession final : public framework::Session {
 public:
  TorchSession(std::shared_ptr<const TorchPlan> plan, std::shared_ptr<torch::jit::Module> module)
      : plan_(std::move(plan)), module_(std::move(module)) {}

  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return CatchTorch("model '" + plan_->run.model_name + "'", [&]() -> Error {
      SetThreads();
      const c10::InferenceMode inference(plan_->settings.inference_mode);
      const torch::NoGradGuard no_gradients;
      const torch::jit::GraphOptimizerEnabledGuard optimizer(plan_->settings.optimized_execution);
      std::vector<torch::jit::IValue> arguments;
      NEREID_BACKEND_TRY(MakeArguments(inputs, &arguments));
      const torch::jit::IValue returned = module_->forward(std::move(arguments));
      for (size_t i = 0; i < outputs.size(); ++i) {
        torch::jit::IValue value;
        NEREID_BACKEND_TRY(Find(returned, outputs[i], &value));
        NEREID_BACKEND_TRY(Read(plan_->run.outputs[outputs[i]], value, &results[i]));
      }
      return {};
    });
  }

 private:
  Error Bad(const std::string& text) const {
    return Error::InvalidArgument("model '" + plan_->run.model_name + "': " + text);
  }

  /// PyTorch keeps the number per thread, and an instance may be executed by several threads in
  /// turn.
  void SetThreads() const {
    const auto wanted = static_cast<int>(plan_->settings.intra_op_threads);
    if (wanted > 0 && at::get_num_threads() != wanted) {
      at::set_num_threads(wanted);
    }
  }

  /// A copy: a module may keep what it was given in an attribute, for longer than the request.
  torch::jit::IValue MakeTensor(const InputTensor& input) const {
    const auto options = torch::TensorOptions().dtype(*ScalarTypeOf(input.data_type));
    torch::Tensor tensor =
        torch::empty(c10::IntArrayRef(input.shape.data(), input.shape.size()), options);
    if (input.size != 0) {
      std::memcpy(tensor.mutable_data_ptr(), input.data, input.size);
    }
    return tensor;
  }

  static torch::jit::IValue MakeTexts(const InputTensor& input) {
    c10::List<std::string> texts;
    texts.reserve(input.texts.size());
    for (const std::string_view text : input.texts) {
      texts.push_back(std::string(text));
    }
    return texts;
  }

  Error MakeArguments(std::span<const InputTensor> inputs,
                      std::vector<torch::jit::IValue>* arguments) const {
    if (plan_->naming.dictionary) {
      c10::Dict<std::string, torch::Tensor> dictionary;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].present) {
          dictionary.insert(plan_->run.inputs[i].name, MakeTensor(inputs[i]).toTensor());
        }
      }
      arguments->emplace_back(std::move(dictionary));
      return {};
    }
    const auto& schema = module_->get_method("forward").function().getSchema().arguments();
    arguments->resize(plan_->forward.arguments.size());
    std::vector<bool> given(arguments->size(), false);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t place = plan_->naming.arguments[i];
      if (inputs[i].present) {
        (*arguments)[place] = inputs[i].data_type == TRITONSERVER_TYPE_BYTES
                                  ? MakeTexts(inputs[i])
                                  : MakeTensor(inputs[i]);
        given[place] = true;
      }
    }
    for (size_t place = 0; place < given.size(); ++place) {
      if (given[place]) {
        continue;
      }
      const auto& fallback = schema[place + 1].default_value();
      if (!fallback) {
        return Bad("argument '" + plan_->forward.arguments[place] +
                   "' of forward is not given and has no default");
      }
      (*arguments)[place] = *fallback;
    }
    return {};
  }

  /// The part of what forward returned that is this output.
  Error Find(const torch::jit::IValue& returned, size_t output, torch::jit::IValue* value) const {
    const PlannedOutput& plan = plan_->run.outputs[output];
    const size_t place = plan_->naming.results[output];
    if (returned.isGenericDict()) {
      const auto dictionary = returned.toGenericDict();
      const auto found = dictionary.find(plan.name);
      if (found == dictionary.end()) {
        return Bad("forward returned a dictionary without the key '" + plan.name + "'");
      }
      *value = found->value();
      return {};
    }
    const bool texts = returned.isList() && plan.text() && plan_->run.outputs.size() == 1;
    if (returned.isTensor() || texts) {
      if (place != 0) {
        return Bad("forward returned one value, but output '" + plan.name + "' is its number " +
                   std::to_string(place));
      }
      *value = returned;
      return {};
    }
    c10::ArrayRef<torch::jit::IValue> values;
    std::vector<torch::jit::IValue> list;
    if (returned.isTuple()) {
      values = returned.toTupleRef().elements();
    } else if (returned.isList()) {
      list = returned.toListRef().vec();
      values = list;
    } else {
      return Bad("forward returned " + returned.tagKind() +
                 ", which is neither a tensor nor a tuple, list or dictionary of tensors");
    }
    if (place >= values.size()) {
      return Bad("forward returned " + std::to_string(values.size()) + " values, but output '" +
                 plan.name + "' is its number " + std::to_string(place));
    }
    *value = values[place];
    return {};
  }

  Error Read(const PlannedOutput& plan, const torch::jit::IValue& value,
             OutputTensor* output) const {
    if (plan.text()) {
      return ReadTexts(plan, value, output);
    }
    if (!value.isTensor()) {
      return Bad("output '" + plan.name + "' is no tensor but " + value.tagKind());
    }
    auto tensor = std::make_shared<torch::Tensor>(value.toTensor().to(torch::kCPU).contiguous());
    output->data_type = DataTypeOf(tensor->scalar_type());
    output->shape.assign(tensor->sizes().begin(), tensor->sizes().end());
    output->data = static_cast<const char*>(tensor->const_data_ptr());
    output->size = tensor->nbytes();
    output->owner = std::move(tensor);
    return {};
  }

  Error ReadTexts(const PlannedOutput& plan, const torch::jit::IValue& value,
                  OutputTensor* output) const {
    if (!value.isList()) {
      return Bad("output '" + plan.name + "' is no list of texts but " + value.tagKind());
    }
    auto texts = std::make_shared<std::vector<std::string>>();
    for (const torch::jit::IValue& element : value.toListRef()) {
      if (!element.isString()) {
        return Bad("output '" + plan.name + "' holds " + element.tagKind() + " instead of texts");
      }
      texts->push_back(element.toStringRef());
    }
    output->data_type = TRITONSERVER_TYPE_BYTES;
    output->shape.assign(1, static_cast<int64_t>(texts->size()));
    if (plan_->run.batching) {
      output->shape.push_back(1);
    }
    for (const std::string& text : *texts) {
      output->texts.emplace_back(text);
    }
    output->owner = std::move(texts);
    return {};
  }

  const std::shared_ptr<const TorchPlan> plan_;
  const std::shared_ptr<torch::jit::Module> module_;
};

}  // namespace

std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module) {
  return std::make_unique<TorchSession>(std::move(plan), std::move(module));
}

}  // namespace nereid::pytorch
