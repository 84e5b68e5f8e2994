// SPDX-License-Identifier: Apache-2.0
#include "openvino/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <openvino/runtime/tensor.hpp>
#include <utility>

#include "openvino/ov_error.h"
#include "openvino/ov_types.h"

namespace nereid::openvino {
namespace {

using framework::InputTensor;
using framework::OutputTensor;

/// Inputs of up to this many bytes are copied.
constexpr uint64_t kCopied = 16384;

class OpenVinoSession final : public framework::Session {
 public:
  OpenVinoSession(std::shared_ptr<const SessionPlan> plan, ov::InferRequest request)
      : plan_(std::move(plan)), request_(std::move(request)), kept_(plan_->input_count) {}

  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return CatchOpenVino("model '" + plan_->run.model_name + "'", [&]() -> Error {
      if (!plan_->variables.empty()) {
        ResetVariables();
      }
      rows_ = 0;
      for (size_t i = 0; i < inputs.size(); ++i) {
        NEREID_BACKEND_TRY(Set(plan_->run.inputs[i], inputs[i]));
      }
      request_.infer();
      for (size_t i = 0; i < outputs.size(); ++i) {
        const size_t place = plan_->run.outputs[outputs[i]].place;
        Read(place < plan_->output_count
                 ? request_.get_output_tensor(place)
                 : states_.at(plan_->variables[place - plan_->output_count]).get_state(),
             &results[i]);
      }
      return {};
    });
  }

 private:
  void ResetVariables() {
    states_.clear();
    for (ov::VariableState& state : request_.query_state()) {
      state.reset();
      states_.emplace(state.get_name(), state);
    }
  }

  Error Set(const framework::PlannedInput& plan, const InputTensor& input) {
    const bool variable = plan.place >= plan_->input_count;
    if (!input.present) {  // only a variable may be absent; it keeps its initial value
      return {};
    }
    NEREID_BACKEND_TRY(CheckEmpty(plan, input));
    ov::Shape shape(input.shape.begin(), input.shape.end());
    if (plan_->fixed_batch != 0) {
      NEREID_BACKEND_TRY(FixBatch(&shape));
    }
    if (variable) {
      states_.at(plan_->variables[plan.place - plan_->input_count])
          .set_state(MakeTensor(input, shape));
    } else if (input.data_type != TRITONSERVER_TYPE_BYTES && input.size <= kCopied &&
               plan_->fixed_batch == 0) {
      Copy(plan.place, input, shape);
    } else {
      request_.set_input_tensor(plan.place, MakeTensor(input, shape));
      kept_[plan.place] = ov::Tensor();
    }
    return {};
  }

  /// Copies a small input into a tensor that the request keeps. Setting a new tensor would cost
  /// more than copying.
  void Copy(size_t place, const InputTensor& input, const ov::Shape& shape) {
    ov::Tensor& kept = kept_[place];
    if (!kept || kept.get_shape() != shape) {
      kept = ov::Tensor();
      ov::Tensor made(ElementTypeOf(input.data_type), shape);
      request_.set_input_tensor(place, made);
      kept = std::move(made);
    }
    if (input.size != 0) {
      std::memcpy(kept.data(), input.data, input.size);
    }
  }

  /// Checks the shape of an input without content. OpenVINO's operators count in 32 bits. A tensor
  /// with content is limited by its size, but an empty one may have any shape.
  static Error CheckEmpty(const framework::PlannedInput& plan, const InputTensor& input) {
    if (input.size != 0) {
      return {};
    }
    int64_t elements = 1;
    for (const int64_t dim : input.shape) {
      if (dim > 0 && (__builtin_mul_overflow(elements, dim, &elements) || elements > INT32_MAX)) {
        return Error::InvalidArgument("input '" + plan.name + "' is empty, but its shape " +
                                      backend::ShapeText(input.shape) + " is too large");
      }
    }
    return {};
  }

  /// Records the rows of the batch in rows_, and sets the rows of `shape` to those of the model.
  Error FixBatch(ov::Shape* shape) {
    const auto batch = static_cast<size_t>(plan_->fixed_batch);
    rows_ = (*shape)[0];
    if (rows_ != batch && !plan_->pad_batch) {
      return Error::InvalidArgument(
          "model '" + plan_->run.model_name + "' takes batches of " + std::to_string(batch) +
          " rows (SKIP_OV_DYNAMIC_BATCHSIZE), this one has " + std::to_string(rows_) +
          "; the parameter ENABLE_BATCH_PADDING fills up smaller ones");
    }
    (*shape)[0] = batch;
    return {};
  }

  /// Creates a tensor of an input. Numbers are used in place, because they stay valid until the run
  /// ends. A batch that needs padding is copied.
  static ov::Tensor MakeTensor(const InputTensor& input, const ov::Shape& shape) {
    const ov::element::Type type = ElementTypeOf(input.data_type);
    if (input.data_type == TRITONSERVER_TYPE_BYTES) {
      ov::Tensor tensor(type, shape);
      std::copy(input.texts.begin(), input.texts.end(), tensor.data<std::string>());
      return tensor;
    }
    if (shape.empty() || static_cast<int64_t>(shape[0]) == input.shape[0]) {
      return ov::Tensor(type, shape, const_cast<char*>(input.data));
    }
    ov::Tensor tensor(type, shape);
    std::memcpy(tensor.data(), input.data, input.size);
    std::memset(static_cast<char*>(tensor.data()) + input.size, 0,
                tensor.get_byte_size() - input.size);
    return tensor;
  }

  /// Converts a result. Its memory belongs to the request and is valid until the next run.
  void Read(const ov::Tensor& tensor, OutputTensor* output) const {
    output->data_type = DataTypeOf(tensor.get_element_type());
    size_t count = tensor.get_size();
    size_t size = tensor.get_byte_size();
    const ov::Shape& shape = tensor.get_shape();
    output->shape.assign(shape.begin(), shape.end());
    if (rows_ != 0 && !shape.empty() && static_cast<int64_t>(shape[0]) == plan_->fixed_batch) {
      count = count / shape[0] * rows_;
      size = size / shape[0] * rows_;
      output->shape[0] = static_cast<int64_t>(rows_);
    }
    output->owner = std::make_shared<ov::Tensor>(tensor);
    if (output->data_type == TRITONSERVER_TYPE_BYTES) {
      const auto* texts = tensor.data<const std::string>();
      output->texts.assign(texts, texts + count);
      return;
    }
    output->data = static_cast<const char*>(tensor.data());
    output->size = size;
  }

  const std::shared_ptr<const SessionPlan> plan_;
  ov::InferRequest request_;
  /// For each input, the tensor of the request to which small inputs are copied.
  std::vector<ov::Tensor> kept_;
  /// The variables of the request, by name; empty if the model has none.
  std::map<std::string, ov::VariableState> states_;
  /// The rows of the current run if the batch is fixed, otherwise 0.
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const SessionPlan> plan,
                                                ov::InferRequest request) {
  return std::make_unique<OpenVinoSession>(std::move(plan), std::move(request));
}

}  // namespace nereid::openvino
