// SPDX-License-Identifier: Apache-2.0
// Rules for inputs and outputs.
#include <algorithm>
#include <optional>
#include <span>

#include "base/checked_math.h"
#include "config/known_backends.h"
#include "config/rules/model_paths.h"
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using Dims = std::span<const int64_t>;

// An input or an output.
struct TensorSubject {
  const Proto& config;
  // "input" or "output".
  std::string_view list;
  int index;
  const std::string& name;
  inference::DataType data_type;
  Dims dims;
  // Absent without a reshape.
  std::optional<Dims> reshape;
  inference::ModelInput::Format format;
  bool is_shape_tensor;
  bool is_non_linear;
  // Empty for inputs.
  std::string_view label_filename;

  std::string_view prefix() const { return list == "input" ? "model input " : "model output "; }
  std::string Path(std::string_view field) const {
    return At(list, index) + "." + std::string(field);
  }
};

constexpr int64_t kVariable = -1;

std::string Of(const TensorSubject& subject, std::string_view text) {
  return std::string(subject.prefix()) + "'" + subject.name + "' " + std::string(text) + " for " +
         subject.config.name();
}

std::string Plain(const TensorSubject& subject, const std::string& text) {
  return text + " for " + subject.config.name();
}

void Named(const TensorSubject& subject, Findings& findings) {
  if (!subject.name.empty()) return;
  findings.Add(subject.Path("name"),
               Plain(subject, std::string(subject.prefix()) + "must specify 'name'"));
}

void Typed(const TensorSubject& subject, Findings& findings) {
  if (inference::DataType_IsValid(subject.data_type) &&
      subject.data_type != inference::TYPE_INVALID) {
    return;
  }
  findings.Add(subject.Path("data_type"), Of(subject, "must specify 'data_type'"));
}

void HasDims(const TensorSubject& subject, Findings& findings) {
  if (!subject.dims.empty()) return;
  findings.Add(subject.Path("dims"), Of(subject, "must specify 'dims'"));
}

void NoScalar(const TensorSubject& subject, Findings& findings) {
  // A Caffe2 net may have scalars, and its backend accepts them in models without batching.
  if (subject.config.platform() == "caffe2_netdef" || subject.config.backend() == "caffe2") return;
  if (!subject.reshape || !subject.reshape->empty() || subject.config.max_batch_size() != 0) {
    return;
  }
  findings.Add(subject.Path("reshape"),
               Of(subject,
                  "cannot have empty reshape for non-batching model as scalar tensors are not "
                  "supported"));
}

bool IsLegal(int64_t dim) { return dim >= 1 || dim == kVariable; }

void LegalDims(const TensorSubject& subject, Findings& findings) {
  for (size_t i = 0; i < subject.dims.size(); ++i) {
    if (IsLegal(subject.dims[i])) continue;
    findings.Add(
        subject.Path(At("dims", i)),
        Of(subject, "dimension must be integer >= 1, or -1 to indicate a variable-size dimension"));
  }
}

void LegalReshape(const TensorSubject& subject, Findings& findings) {
  if (!subject.reshape) return;
  for (size_t i = 0; i < subject.reshape->size(); ++i) {
    if (IsLegal((*subject.reshape)[i])) continue;
    findings.Add(subject.Path(At("reshape.shape", i)),
                 Of(subject,
                    "reshape dimensions must be integer >= 1, or -1 to indicate a variable-size "
                    "dimension"));
  }
}

// Returns whether dims and reshape can be compared: both exist and all dims are legal.
bool Comparable(const TensorSubject& subject) {
  return subject.reshape && !subject.dims.empty() &&
         std::all_of(subject.dims.begin(), subject.dims.end(), IsLegal) &&
         std::all_of(subject.reshape->begin(), subject.reshape->end(), IsLegal);
}

// Returns the element counts of the runs of fixed dims between variable ones: [2,4,-1,6] gives 8,
// 6. A count that overflows becomes 0, which no legal run has.
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

// Returns whether only one side has variable dims, or both are fixed and their sizes differ.
bool SizesDiffer(const TensorSubject& subject) {
  const bool variable = HasVariable(subject.dims);
  return variable != HasVariable(*subject.reshape) ||
         (!variable && RunCounts(subject.dims) != RunCounts(*subject.reshape));
}

bool VariableCountsDiffer(const TensorSubject& subject) {
  return RunCounts(subject.dims).size() != RunCounts(*subject.reshape).size();
}

void SameSize(const TensorSubject& subject, Findings& findings) {
  if (!Comparable(subject) || !SizesDiffer(subject)) return;
  findings.Add(subject.Path("reshape.shape"),
               Of(subject, "has different size for dims and reshape"));
}

void SameVariableCount(const TensorSubject& subject, Findings& findings) {
  if (!Comparable(subject) || SizesDiffer(subject) || !VariableCountsDiffer(subject)) return;
  findings.Add(
      subject.Path("reshape.shape"),
      Of(subject, "has different number of variable-size dimensions for dims and reshape"));
}

void SameRuns(const TensorSubject& subject, Findings& findings) {
  if (!Comparable(subject) || SizesDiffer(subject) || VariableCountsDiffer(subject)) return;
  if (RunCounts(subject.dims) == RunCounts(*subject.reshape)) return;
  findings.Add(subject.Path("reshape.shape"),
               Of(subject, "has different size for dims and reshape"));
}

void ImageRank(const TensorSubject& subject, Findings& findings) {
  const bool image = subject.format != inference::ModelInput::FORMAT_NONE;
  if (!image || subject.dims.size() == 3 || subject.dims.empty()) return;
  findings.Add(subject.Path("format"), Plain(subject, "model input NHWC/NCHW require 3 dims"));
}

void ShapeTensorPlatform(const TensorSubject& subject, Findings& findings) {
  if (!subject.is_shape_tensor || subject.config.platform() == kTensorRtPlatform) return;
  findings.Add(subject.Path("is_shape_tensor"),
               Plain(subject, "shape tensors are only supported for TensorRT platform"));
}

void NonLinearPlatform(const TensorSubject& subject, Findings& findings) {
  if (!subject.is_non_linear || subject.config.platform() == kTensorRtPlatform) return;
  findings.Add(subject.Path("is_non_linear_format_io"),
               Plain(subject, "Non-linear IO format is only supported for the TensorRT platform"));
}

void NonLinearRank(const TensorSubject& subject, Findings& findings) {
  const bool applies = subject.is_non_linear && subject.config.platform() == kTensorRtPlatform;
  if (!applies || subject.dims.size() == 3 || subject.dims.empty()) return;
  findings.Add(subject.Path("is_non_linear_format_io"),
               Plain(subject, std::string("Non-linear IO format ") + std::string(subject.list) +
                                  " requires 3 dims"));
}

void LabelsInside(const TensorSubject& subject, Findings& findings) {
  if (!LeavesItsDirectory(subject.label_filename)) return;
  findings.Add(subject.Path("label_filename"),
               Of(subject, "has the label file '" + std::string(subject.label_filename) +
                               "', which is outside the model directory,"));
}

constexpr Rule<TensorSubject> kRules[] = {
    {{"tensor.name", "input.name", "Every input and output has a name.", "a name that is not empty",
      "Set name."},
     Named},
    {{"tensor.data_type", "input.data_type", "Every input and output has a data type.",
      "a data type", "Set data_type, as in TYPE_FP32."},
     Typed},
    {{"tensor.dims", "input.dims", "Every input and output has dims.", "one dim or more",
      "List the dims without the batch dimension; for a scalar write dims: [ 1 ] and "
      "reshape { shape: [ ] }."},
     HasDims},
    {{"tensor.scalar", "input.reshape",
      "A tensor without dims needs a batch dimension: the empty reshape is for batching models.",
      "a reshape with a dim, or max_batch_size above 0",
      "Remove the reshape, or set max_batch_size."},
     NoScalar},
    {{"tensor.dim_range", "input.dims", "A dim is at least 1, or -1 for any size.",
      "1 or more, or -1", "Write -1 where the size differs from request to request."},
     LegalDims},
    {{"tensor.reshape_range", "input.reshape.shape",
      "A dim of a reshape is at least 1, or -1 for any size.", "1 or more, or -1",
      "Write -1 where the size differs from request to request."},
     LegalReshape},
    {{"tensor.reshape_size", "input.reshape.shape", "A reshape keeps the number of elements.",
      "as many elements as dims have", "Make the product of both lists the same."},
     SameSize},
    {{"tensor.reshape_variable_count", "input.reshape.shape",
      "A reshape keeps the number of variable dims.", "as many -1 as dims have",
      "Write as many -1 in the reshape as in dims."},
     SameVariableCount},
    {{"tensor.reshape_runs", "input.reshape.shape",
      "Between variable dims, a reshape keeps the number of elements.",
      "the same products before, between and after the -1",
      "Make the products of the dims around each -1 the same in both lists."},
     SameRuns},
    {{"tensor.image_rank", "input.format", "An image has three dims.", "three dims, or FORMAT_NONE",
      "Remove format, or list height, width and channels in dims."},
     ImageRank},
    {{"tensor.shape_tensor", "input.is_shape_tensor", "Shape tensors are for TensorRT models.",
      "is_shape_tensor off", "Remove is_shape_tensor."},
     ShapeTensorPlatform},
    {{"tensor.non_linear_platform", "input.is_non_linear_format_io",
      "Formats that are not linear are for TensorRT models.", "is_non_linear_format_io off",
      "Remove is_non_linear_format_io."},
     NonLinearPlatform},
    {{"tensor.non_linear_rank", "input.is_non_linear_format_io",
      "A tensor whose format is not linear has three dims.", "three dims",
      "List three dims, or remove is_non_linear_format_io."},
     NonLinearRank},
    {{"tensor.label_path", "output.label_filename", "Label files are in the model's directory.",
      "a path below the model's directory", "Put the file there, and write its path from there.",
      Severity::kError, Stage::kLoad, base::StatusCode::kUnsupported},
     LabelsInside},
};

template <typename Io>
TensorSubject Subject(const Proto& config, std::string_view list, int index, const Io& io,
                      inference::ModelInput::Format format) {
  TensorSubject subject{config,
                        list,
                        index,
                        io.name(),
                        io.data_type(),
                        {io.dims().data(), static_cast<size_t>(io.dims_size())},
                        std::nullopt,
                        format,
                        io.is_shape_tensor(),
                        io.is_non_linear_format_io(),
                        ""};
  if (io.has_reshape()) {
    const auto& shape = io.reshape().shape();
    subject.reshape = Dims(shape.data(), static_cast<size_t>(shape.size()));
  }
  return subject;
}

}  // namespace

void CheckTensors(const Proto& config, Findings& findings) {
  int index = 0;
  for (const auto& input : config.input()) {
    Apply(kRules, Subject(config, "input", index++, input, input.format()), findings);
  }
  index = 0;
  for (const auto& output : config.output()) {
    const auto format = inference::ModelInput::FORMAT_NONE;
    TensorSubject subject = Subject(config, "output", index++, output, format);
    subject.label_filename = output.label_filename();
    Apply(kRules, subject, findings);
  }
}

void ListTensors(std::vector<RuleInfo>* list) { List(kRules, Stage::kLoadOrStrictPoll, list); }

}  // namespace nereid::config::rules
