// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include "framework/session.h"
#include "pytorch/session.h"

namespace nereid::pytorch {

/// What forward returned, taken apart. Errors name the model, the output and what was found.
class ReturnedValues {
 public:
  /// Both live longer than this object.
  ReturnedValues(const TorchPlan& plan, const c10::IValue& returned)
      : plan_(plan), returned_(returned) {}

  /// Sets `tensor` to the output of that place in the plan.
  Error Read(size_t output, framework::OutputTensor* tensor) const;

  /// All that there is, for a configuration that lists no outputs: OUTPUT__<place>, or a
  /// dictionary's keys.
  Error ReadAll(std::vector<framework::OutputTensor>* tensors) const;

 private:
  Error Find(size_t output, c10::IValue* value) const;
  Error ReadValue(const std::string& name, const c10::IValue& value,
                  framework::OutputTensor* tensor) const;
  Error ReadTensor(const std::string& name, const at::Tensor& value,
                   framework::OutputTensor* tensor) const;
  Error ReadTexts(const std::string& name, const c10::IValue& value,
                  framework::OutputTensor* tensor) const;
  Error Bad(const std::string& text) const;

  const TorchPlan& plan_;
  const c10::IValue& returned_;
};

}  // namespace nereid::pytorch
