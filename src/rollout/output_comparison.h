// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "rollout/rollout_plan.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::rollout {

/// An output of a response. `bytes` are valid as long as `owner`.
struct AnswerTensor {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

/// What a version answered.
struct Answer {
  base::Status error;
  std::vector<AnswerTensor> outputs;
};

/// Returns the first difference between two answers, as a text that names the output and, for
/// numbers, the element and both values; nothing if they are equal. Outputs are matched by name.
/// Numbers differ by more than the tolerance of their type; two NaN are equal. Other types, and
/// types without a tolerance, must have equal bytes.
std::optional<std::string> FirstDifference(const Answer& expected, const Answer& actual,
                                           const Tolerances& tolerances);

}  // namespace nereid::rollout
