// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include "framework/session.h"
#include "pytorch/torch_plan.h"

namespace nereid::pytorch {

/// Extracts the outputs from the value that forward has returned. An output on a GPU is copied to
/// host memory, unless it is wanted there. It is complete when the stream of the run has been
/// waited for. Errors name the model, the output and the returned type.
class ReturnedValues {
 public:
  /// Both arguments must outlive the object.
  ReturnedValues(const TorchPlan& plan, const c10::IValue& returned)
      : plan_(plan), returned_(returned) {}

  /// Sets `tensor` to the output with this index in the plan.
  Error Read(size_t output, framework::OutputTensor* tensor) const;

  /// Returns all outputs, for a configuration that lists none. They are called OUTPUT__<index>, or
  /// by the keys of a dictionary.
  Error ReadAll(std::vector<framework::OutputTensor>* tensors) const;

 private:
  Error Find(size_t output, c10::IValue* value) const;
  /// `flat`: a list of texts has no dimension but the batch.
  Error ReadValue(const std::string& name, const c10::IValue& value, bool flat,
                  framework::OutputTensor* tensor) const;
  Error ReadTensor(const std::string& name, const at::Tensor& value,
                   framework::OutputTensor* tensor) const;
  Error ReadTexts(const std::string& name, const c10::IValue& value, bool flat,
                  framework::OutputTensor* tensor) const;
  Error Bad(const std::string& text) const;

  const TorchPlan& plan_;
  const c10::IValue& returned_;
};

}  // namespace nereid::pytorch
