// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs.
#include <optional>
#include <span>

#include "base/checked_math.h"
#include "config/known_backends.h"
#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using Dims = std::span<const int64_t>;

// An input or an output.
struct TensorSubject {
  const Proto& config;
  // "model input " or "model output ".
  std::string_view prefix;
  const std::string& name;
  inference::DataType data_type;
  Dims dims;
  // Nothing if there is no reshape.
  std::optional<Dims> reshape;
  inference::ModelInput::Format format;
  bool is_shape_tensor;
  bool is_non_linear;
};

constexpr int64_t kVariable = -1;

Violation Of(const TensorSubject& subject, std::string_view text) {
  return std::string(subject.prefix) + "'" + subject.name + "' " + std::string(text) + " for " +
         subject.config.name();
}

Violation Plain(const TensorSubject& subject, std::string text) {
  return text + " for " + subject.config.name();
}

Violation Named(const TensorSubject& subject) {
  if (!subject.name.empty()) return std::nullopt;
  return Plain(subject, std::string(subject.prefix) + "must specify 'name'");
}

Violation Typed(const TensorSubject& subject) {
  if (inference::DataType_IsValid(subject.data_type) &&
      subject.data_type != inference::TYPE_INVALID) {
    return std::nullopt;
  }
  return Of(subject, "must specify 'data_type'");
}

Violation HasDims(const TensorSubject& subject) {
  if (!subject.dims.empty()) return std::nullopt;
  return Of(subject, "must specify 'dims'");
}

Violation NoScalar(const TensorSubject& subject) {
  if (!subject.reshape || !subject.reshape->empty() || subject.config.max_batch_size() != 0) {
    return std::nullopt;
  }
  return Of(subject,
            "cannot have empty reshape for non-batching model as scalar tensors are not supported");
}

bool AllLegal(Dims dims) {
  for (const int64_t dim : dims) {
    if (dim < 1 && dim != kVariable) return false;
  }
  return true;
}

Violation LegalDims(const TensorSubject& subject) {
  if (AllLegal(subject.dims)) return std::nullopt;
  return Of(subject, "dimension must be integer >= 1, or -1 to indicate a variable-size dimension");
}

Violation LegalReshape(const TensorSubject& subject) {
  if (!subject.reshape || AllLegal(*subject.reshape)) return std::nullopt;
  return Of(subject,
            "reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension");
}

// The element counts of the runs of fixed dims between variable ones: [2,4,-1,6] -> 8, 6. A count
// that does not fit becomes 0, which no legal run has.
std::vector<int64_t> RunCounts(Dims dims) {
  std::vector<int64_t> counts = {1};
  for (const int64_t dim : dims) {
    if (dim == kVariable) {
      counts.push_back(1);
    } else {
      counts.back() = base::CheckedMultiply(counts.back(), dim).value_or(0);
    }
  }
  return counts;
}

bool HasVariable(Dims dims) { return RunCounts(dims).size() > 1; }

// Whether one side is variable and the other is not, or both are fixed and differ.
Violation SameSize(const TensorSubject& subject) {
  if (!subject.reshape) return std::nullopt;
  const bool variable = HasVariable(subject.dims);
  const bool same = variable == HasVariable(*subject.reshape) &&
                    (variable || RunCounts(subject.dims) == RunCounts(*subject.reshape));
  if (same) return std::nullopt;
  return Of(subject, "has different size for dims and reshape");
}

Violation SameVariableCount(const TensorSubject& subject) {
  if (!subject.reshape) return std::nullopt;
  if (RunCounts(subject.dims).size() == RunCounts(*subject.reshape).size()) return std::nullopt;
  return Of(subject, "has different number of variable-size dimensions for dims and reshape");
}

Violation SameRuns(const TensorSubject& subject) {
  if (!subject.reshape || RunCounts(subject.dims) == RunCounts(*subject.reshape)) {
    return std::nullopt;
  }
  return Of(subject, "has different size for dims and reshape");
}

Violation ImageRank(const TensorSubject& subject) {
  if (subject.format == inference::ModelInput::FORMAT_NONE || subject.dims.size() == 3) {
    return std::nullopt;
  }
  return Plain(subject, "model input NHWC/NCHW require 3 dims");
}

Violation ShapeTensorPlatform(const TensorSubject& subject) {
  if (!subject.is_shape_tensor || subject.config.platform() == kTensorRtPlatform) {
    return std::nullopt;
  }
  return Plain(subject, "shape tensors are only supported for TensorRT platform");
}

Violation NonLinearPlatform(const TensorSubject& subject) {
  if (!subject.is_non_linear || subject.config.platform() == kTensorRtPlatform) {
    return std::nullopt;
  }
  return Plain(subject, "Non-linear IO format is only supported for the TensorRT platform");
}

Violation NonLinearRank(const TensorSubject& subject) {
  if (!subject.is_non_linear || subject.dims.size() == 3) return std::nullopt;
  const bool input = subject.prefix == "model input ";
  return Plain(subject, std::string("Non-linear IO format ") + (input ? "input" : "output") +
                            " requires 3 dims");
}

constexpr Rule<TensorSubject> kRules[] = {
    {"tensor.name", "input.name", Named},
    {"tensor.data_type", "input.data_type", Typed},
    {"tensor.dims", "input.dims", HasDims},
    {"tensor.scalar", "input.reshape", NoScalar},
    {"tensor.dim_range", "input.dims", LegalDims},
    {"tensor.reshape_range", "input.reshape", LegalReshape},
    {"tensor.reshape_size", "input.reshape", SameSize},
    {"tensor.reshape_variable_count", "input.reshape", SameVariableCount},
    {"tensor.reshape_runs", "input.reshape", SameRuns},
    {"tensor.image_rank", "input.format", ImageRank},
    {"tensor.shape_tensor", "input.is_shape_tensor", ShapeTensorPlatform},
    {"tensor.non_linear_platform", "input.is_non_linear_format_io", NonLinearPlatform},
    {"tensor.non_linear_rank", "input.is_non_linear_format_io", NonLinearRank},
};

template <typename Io>
TensorSubject Subject(const Proto& config, std::string_view prefix, const Io& io,
                      inference::ModelInput::Format format) {
  TensorSubject subject{config,
                        prefix,
                        io.name(),
                        io.data_type(),
                        {io.dims().data(), static_cast<size_t>(io.dims_size())},
                        std::nullopt,
                        format,
                        io.is_shape_tensor(),
                        io.is_non_linear_format_io()};
  if (io.has_reshape()) {
    const auto& shape = io.reshape().shape();
    subject.reshape = Dims(shape.data(), static_cast<size_t>(shape.size()));
  }
  return subject;
}

}  // namespace

Violation CheckTensors(const Proto& config) {
  for (const auto& input : config.input()) {
    const TensorSubject subject = Subject(config, "model input ", input, input.format());
    if (auto violation = FirstViolation(kRules, subject)) return violation;
  }
  for (const auto& output : config.output()) {
    const TensorSubject subject =
        Subject(config, "model output ", output, inference::ModelInput::FORMAT_NONE);
    if (auto violation = FirstViolation(kRules, subject)) return violation;
  }
  return std::nullopt;
}

void ListTensors(std::vector<RuleInfo>* list) { List(kRules, list); }

}  // namespace nereid::config::rules
