// SPDX-License-Identifier: Apache-2.0
#include "pytorch/session.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <cstring>
#include <optional>

#include "pytorch/borrowed.h"
#include "pytorch/gpu_run.h"
#include "pytorch/results.h"
#include "pytorch/torch_error.h"
#include "pytorch/torch_types.h"

namespace nereid::pytorch {
namespace {

using framework::InputTensor;
using framework::OutputTensor;

class TorchSession final : public framework::Session {
 public:
  TorchSession(std::shared_ptr<const TorchPlan> plan, std::shared_ptr<torch::jit::Module> module,
               std::optional<c10::Stream> stream)
      : plan_(std::move(plan)),
        module_(std::move(module)),
        forward_(module_->get_method("forward").function()),
        stream_(stream),
        gpu_(stream ? stream->device_index() : -1),
        threads_(static_cast<int>(plan_->settings.intra_op_threads)),
        what_("model '" + plan_->run.model_name + "'") {}

  void SetThreads(uint32_t threads) noexcept override { threads_ = static_cast<int>(threads); }

  int gpu() const override { return gpu_; }

  bool may_repeat() const override { return !began_ || plan_->effects.changed_attributes.empty(); }

  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return Forward(inputs, [&](const ReturnedValues& returned) -> Error {
      for (size_t i = 0; i < outputs.size(); ++i) {
        NEREID_BACKEND_TRY(returned.Read(outputs[i], &results[i]));
      }
      return {};
    });
  }

  Error RunOpen(std::span<const InputTensor> inputs, std::vector<OutputTensor>* results) override {
    return Forward(inputs,
                   [&](const ReturnedValues& returned) { return returned.ReadAll(results); });
  }

 private:
  template <typename Read>
  Error Forward(std::span<const InputTensor> inputs, Read&& read) {
    return CatchTorch(what_, [&]() -> Error {
      began_ = false;
      ApplyThreads();
      const c10::InferenceMode inference(plan_->settings.inference_mode);
      const at::NoGradGuard no_gradients;
      GpuRun run(stream_);
      const torch::jit::GraphOptimizerEnabledGuard optimizer(plan_->settings.optimized_execution);
      BorrowedTensors borrowed;
      const ClearedAtEnd<torch::jit::Stack> cleared(&stack_);
      NEREID_BACKEND_TRY(PushArguments(inputs, &borrowed));
      forward_.getSchema().checkAndNormalizeInputs(stack_);
      began_ = true;
      forward_.run(stack_);
      const c10::IValue returned = std::move(stack_.front());
      stack_.clear();
      // This must be done before the results are read: if a result shares memory with an input, it
      // moves to the copy.
      borrowed.KeepWhatIsHeld();
      Error error = read(ReturnedValues(*plan_, returned));
      run.Wait();
      CleanCache();
      return error;
    });
  }

  /// Sets the number of threads, which PyTorch keeps for each thread. Different threads may execute
  /// an instance in turn.
  void ApplyThreads() const {
    if (at::get_num_threads() != threads_) {
      at::set_num_threads(threads_);
    }
  }

  /// Returns the GPU's memory that PyTorch keeps for later executions to the driver, if the model
  /// wants that.
  void CleanCache() const {
    if (stream_ && plan_->settings.cache_cleaning) {
      at::getDeviceAllocator(c10::kCUDA)->emptyCache();
    }
  }

  Error PushArguments(std::span<const InputTensor> inputs, BorrowedTensors* borrowed) {
    stack_.clear();
    stack_.emplace_back(module_->_ivalue());
    if (plan_->naming.dictionary) {
      c10::Dict<std::string, at::Tensor> dictionary;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].present) {
          dictionary.insert(plan_->run.inputs[i].name, CopyOf(inputs[i]));
        }
      }
      stack_.emplace_back(std::move(dictionary));
      return {};
    }
    // Arguments without an input get their default or None. No other argument may be omitted.
    const auto& schema = forward_.getSchema().arguments();
    for (size_t place = 1; place < schema.size(); ++place) {
      stack_.push_back(schema[place].default_value().value_or(c10::IValue()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t place = plan_->naming.arguments[i];
      if (!inputs[i].present) {
        continue;
      }
      if (plan_->forward.arguments[place].type.number()) {
        NEREID_BACKEND_TRY(NumberOf(inputs[i], i, &stack_[place + 1]));
      } else {
        stack_[place + 1] = ArgumentOf(inputs[i], place, borrowed);
      }
    }
    return {};
  }

  /// Reads a number argument, which has one value for the whole run. If the requests of a batch
  /// differ, this fails and they run one by one.
  Error NumberOf(const InputTensor& input, size_t index, c10::IValue* value) const {
    const size_t width = TRITONSERVER_DataTypeByteSize(input.data_type);
    const size_t count = input.size / width;
    for (size_t i = 1; i < count; ++i) {
      if (std::memcmp(input.data, input.data + i * width, width) != 0) {
        return Different(index);
      }
    }
    if (count == 0) {
      return Different(index);
    }
    switch (input.data_type) {
      case TRITONSERVER_TYPE_INT64:
        *value = First<int64_t>(input);
        break;
      case TRITONSERVER_TYPE_INT32:
        *value = int64_t{First<int32_t>(input)};
        break;
      case TRITONSERVER_TYPE_FP64:
        *value = First<double>(input);
        break;
      case TRITONSERVER_TYPE_FP32:
        *value = double{First<float>(input)};
        break;
      default:
        *value = input.data[0] != 0;
    }
    return {};
  }

  Error Different(size_t index) const {
    return Error::InvalidArgument(
        what_ + ": input '" + plan_->run.inputs[index].name + "' is the " +
        plan_->forward.arguments[plan_->naming.arguments[index]].type.text +
        " that forward takes once, and must hold one value");
  }

  template <typename Number>
  static Number First(const InputTensor& input) {
    Number number{};
    std::memcpy(&number, input.data, sizeof(number));
    return number;
  }

  c10::IValue ArgumentOf(const InputTensor& input, size_t place, BorrowedTensors* borrowed) const {
    if (input.data_type == TRITONSERVER_TYPE_BYTES) {
      return TextsOf(input);
    }
    if (stream_) {
      return CopyOf(input);
    }
    const std::vector<bool>& borrowable = plan_->effects.borrowable;
    if (place < borrowable.size() && borrowable[place] && input.size != 0) {
      return borrowed->Lend(input.data, c10::IntArrayRef(input.shape.data(), input.shape.size()),
                            *ScalarTypeOf(input.data_type));
    }
    return CopyOf(input);
  }

  /// Returns a copy of an input where the module is.
  at::Tensor CopyOf(const InputTensor& input) const {
    const c10::IntArrayRef shape(input.shape.data(), input.shape.size());
    const auto options = c10::TensorOptions().dtype(*ScalarTypeOf(input.data_type));
    if (input.gpu >= 0) {
      return CopyOnGpu(input.data, shape, *ScalarTypeOf(input.data_type), *stream_);
    }
    if (stream_) {
      return CopyToGpu(at::from_blob(const_cast<char*>(input.data), shape, options),  // NOLINT
                       *stream_);
    }
    at::Tensor tensor = at::empty(shape, options);
    if (input.size != 0) {
      std::memcpy(tensor.mutable_data_ptr(), input.data, input.size);
    }
    return tensor;
  }

  static c10::IValue TextsOf(const InputTensor& input) {
    c10::List<std::string> texts;
    texts.reserve(input.texts.size());
    for (const std::string_view text : input.texts) {
      texts.push_back(std::string(text));
    }
    return texts;
  }

  const std::shared_ptr<const TorchPlan> plan_;
  const std::shared_ptr<torch::jit::Module> module_;
  torch::jit::Function& forward_;
  /// Absent on the CPU.
  const std::optional<c10::Stream> stream_;
  const int gpu_;
  int threads_;
  const std::string what_;
  /// Whether the last run has reached forward.
  bool began_ = false;
  torch::jit::Stack stack_;  // keeps its memory between runs
};

}  // namespace

std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module,
                                                int gpu) {
  std::optional<c10::Stream> stream;
  if (gpu >= 0) {
    stream = NewStream(gpu);
  }
  return std::make_unique<TorchSession>(std::move(plan), std::move(module), stream);
}

}  // namespace nereid::pytorch
