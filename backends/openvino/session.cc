// SPDX-License-Identifier: Apache-2.0
#include "openvino/session.h"

#include <openvino/runtime/tensor.hpp>

#include "openvino/ov_error.h"
#include "openvino/ov_types.h"

namespace nereid::openvino {
namespace {

using framework::InputTensor;
using framework::OutputTensor;

class OpenVinoSession final : public framework::Session {
 public:
  OpenVinoSession(std::shared_ptr<const framework::RunPlan> plan, ov::InferRequest request)
      : plan_(std::move(plan)), request_(std::move(request)) {}

  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return CatchOpenVino("model '" + plan_->model_name + "'", [&]() -> Error {
      for (size_t i = 0; i < inputs.size(); ++i) {
        request_.set_input_tensor(plan_->inputs[i].place, MakeTensor(inputs[i]));
      }
      request_.infer();
      for (size_t i = 0; i < outputs.size(); ++i) {
        Read(request_.get_output_tensor(plan_->outputs[outputs[i]].place), &results[i]);
      }
      return {};
    });
  }

 private:
  /// Numbers are read where they lie: they stay there until the run is over. OpenVINO copies what
  /// is not aligned as it wants.
  static ov::Tensor MakeTensor(const InputTensor& input) {
    const ov::Shape shape(input.shape.begin(), input.shape.end());
    const ov::element::Type type = ElementTypeOf(input.data_type);
    if (input.data_type != TRITONSERVER_TYPE_BYTES) {
      return ov::Tensor(type, shape, const_cast<char*>(input.data));
    }
    ov::Tensor tensor(type, shape);
    auto* texts = tensor.data<std::string>();
    for (size_t i = 0; i < input.texts.size(); ++i) {
      texts[i] = input.texts[i];
    }
    return tensor;
  }

  /// The tensor is the request's own until its next run.
  static void Read(const ov::Tensor& tensor, OutputTensor* output) {
    output->data_type = DataTypeOf(tensor.get_element_type());
    for (const size_t dim : tensor.get_shape()) {
      output->shape.push_back(static_cast<int64_t>(dim));
    }
    output->owner = std::make_shared<ov::Tensor>(tensor);
    if (output->data_type == TRITONSERVER_TYPE_BYTES) {
      const auto* texts = tensor.data<const std::string>();
      output->texts.assign(texts, texts + tensor.get_size());
      return;
    }
    output->data = static_cast<const char*>(tensor.data());
    output->size = tensor.get_byte_size();
  }

  const std::shared_ptr<const framework::RunPlan> plan_;
  ov::InferRequest request_;
};

}  // namespace

std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const framework::RunPlan> plan,
                                                ov::InferRequest request) {
  return std::make_unique<OpenVinoSession>(std::move(plan), std::move(request));
}

}  // namespace nereid::openvino
