// SPDX-License-Identifier: Apache-2.0
// Rules for warmup samples that need only the configuration. When a version is loaded, its warmup
// requests pass the checks of all requests, which report wrong types, wrong shapes and missing
// inputs in the same words.
#include <algorithm>
#include <map>
#include <set>

#include "base/checked_math.h"
#include "config/rules/model_paths.h"
#include "config/rules/sections.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::config::rules {
namespace {

using inference::ModelInput;
using inference::ModelWarmup;

struct SampleSubject {
  const Proto& config;
  const ModelWarmup& sample;
  int index;

  std::string Path(std::string_view field) const {
    return At("model_warmup", index) + "." + std::string(field);
  }
  // A sample with a batch size of 0 is skipped.
  bool runs() const { return sample.batch_size() > 0; }
};

struct InputSubject {
  const SampleSubject& parent;
  const std::string& name;
  const ModelWarmup::Input& input;
  // Null if the model has no such input; it is a control tensor then.
  const ModelInput* of_model;

  std::string Path(std::string_view field) const {
    return parent.Path(At("inputs", name) + "." + std::string(field));
  }
  bool HasVariableDim() const {
    return std::find(input.dims().begin(), input.dims().end(), -1) != input.dims().end();
  }
};

void DimsFixed(const InputSubject& subject, Findings& findings) {
  if (!subject.HasVariableDim()) return;
  findings.Add(subject.Path("dims"),
               "warmup setting expects all variable-size dimensions are specified for input '" +
                   subject.name + "'");
}

// Returns whether the size of the input for one request fits in int64. The widest element has eight
// bytes.
bool SizeFits(const InputSubject& subject) {
  int64_t elements = std::max<int64_t>(subject.parent.sample.batch_size(), 1);
  for (const int64_t dim : subject.input.dims()) {
    const auto product = base::CheckedMultiply(elements, dim);
    if (dim < 0 || !product) return false;
    elements = *product;
  }
  return base::CheckedMultiply<int64_t>(elements, 8).has_value();
}

void SizeSane(const InputSubject& subject, Findings& findings) {
  if (subject.HasVariableDim() || SizeFits(subject)) return;
  findings.Add(subject.Path("dims"), "warmup setting has dims without a size for input '" +
                                         subject.name + "' of " + subject.parent.config.name());
}

void DataGiven(const InputSubject& subject, Findings& findings) {
  if (subject.input.input_data_type_case() != ModelWarmup::Input::INPUT_DATA_TYPE_NOT_SET) return;
  findings.Add(subject.Path("input_data_type"),
               "warmup setting expects input '" + subject.name + "' to have input_data_type set");
}

void FileInside(const InputSubject& subject, Findings& findings) {
  if (!LeavesItsDirectory(subject.input.input_data_file())) return;
  findings.Add(subject.Path("input_data_file"),
               "warmup data file '" + subject.input.input_data_file() + "' of input '" +
                   subject.name + "' is outside the directory warmup of model " +
                   subject.parent.config.name());
}

// Returns the name that requests use: without "TYPE_", and BYTES for strings.
std::string TypeName(inference::DataType type) {
  return std::string(tensor::DataTypeName(static_cast<tensor::DataType>(type)));
}

void TypeFits(const InputSubject& subject, Findings& findings) {
  if (subject.of_model == nullptr || subject.of_model->data_type() == subject.input.data_type()) {
    return;
  }
  findings.Add(subject.Path("data_type"),
               "inference input '" + subject.name + "' data-type is '" +
                   TypeName(subject.input.data_type()) + "', but model '" +
                   subject.parent.config.name() + "' expects '" +
                   TypeName(subject.of_model->data_type()) + "'",
               inference::DataType_Name(subject.of_model->data_type()));
}

std::string DimsText(const google::protobuf::RepeatedField<int64_t>& dims) {
  return tensor::ShapeText({dims.data(), static_cast<size_t>(dims.size())});
}

bool Fits(const ModelInput& expected, const ModelWarmup::Input& given) {
  return std::equal(expected.dims().begin(), expected.dims().end(), given.dims().begin(),
                    given.dims().end(),
                    [](int64_t want, int64_t have) { return want == -1 || want == have; });
}

void DimsFit(const InputSubject& subject, Findings& findings) {
  if (subject.of_model == nullptr || subject.HasVariableDim() || !SizeFits(subject)) return;
  if (Fits(*subject.of_model, subject.input)) return;
  const std::string expected = DimsText(subject.of_model->dims());
  findings.Add(subject.Path("dims"),
               "unexpected dims for warmup input '" + subject.name + "' for model '" +
                   subject.parent.config.name() + "'. Expected " + expected + ", got " +
                   DimsText(subject.input.dims()),
               expected);
}

constexpr std::string_view kDims = "model_warmup.inputs.dims";

constexpr Rule<InputSubject> kInputRules[] = {
    {{"warmup.dims", kDims, "The dims of a warmup input are fixed.", "dims without -1",
      "Write the size that the sample has in place of -1."},
     DimsFixed},
    {{"warmup.size", kDims, "The dims of a warmup input are not negative, and their data fits.",
      "dims of 0 or more whose product fits", "Write the dims of a request as clients send it."},
     SizeSane},
    {{"warmup.data", "model_warmup.inputs.input_data_type",
      "A warmup input says where its data come from.", "zero_data, random_data or input_data_file",
      "Add zero_data: true, random_data: true or input_data_file."},
     DataGiven},
    {{"warmup.file_path", "model_warmup.inputs.input_data_file",
      "The data of a warmup input are in the directory warmup of the model.",
      "a path below the directory warmup", "Put the file there, and write its path from there."},
     FileInside},
    {{"warmup.data_type", "model_warmup.inputs.data_type",
      "A warmup input has the type of the model's input.", "the data_type of the input",
      "Set data_type to that of the model's input."},
     TypeFits},
    {{"warmup.dims_fit", kDims, "The dims of a warmup input fit those of the model's input.",
      "the dims of the input", "Copy the dims of the input, with sizes in place of -1."},
     DimsFit},
};

void RequiredGiven(const SampleSubject& subject, Findings& findings) {
  if (!subject.runs()) return;
  std::set<std::string> missing;
  for (const ModelInput& input : subject.config.input()) {
    if (!input.optional() && !subject.sample.inputs().contains(input.name())) {
      missing.insert(input.name());
    }
  }
  for (const std::string& name : missing) {
    findings.Add(subject.Path("inputs"),
                 "warmup sample '" + subject.sample.name() + "' of model '" +
                     subject.config.name() + "' is missing the required input '" + name + "'",
                 "an entry for '" + name + "'");
  }
}

constexpr Rule<SampleSubject> kSampleRules[] = {
    {{"warmup.required", "model_warmup.inputs",
      "A warmup sample has all inputs of the model that are not optional.",
      "an entry for every input", "Add an entry with the name of the input as its key."},
     RequiredGiven},
};

const ModelInput* FindInput(const Proto& config, const std::string& name) {
  for (const ModelInput& input : config.input()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

}  // namespace

void CheckWarmup(const Proto& config, Findings& findings) {
  if (config.has_ensemble_scheduling()) return;
  int index = 0;
  for (const ModelWarmup& sample : config.model_warmup()) {
    const SampleSubject subject{config, sample, index++};
    if (!subject.runs()) continue;
    // Protobuf maps have no order, so the inputs are sorted first.
    const std::map<std::string, ModelWarmup::Input> inputs(sample.inputs().begin(),
                                                           sample.inputs().end());
    for (const auto& [name, input] : inputs) {
      const InputSubject item{subject, name, input, FindInput(config, name)};
      Apply(kInputRules, item, findings);
    }
    Apply(kSampleRules, subject, findings);
  }
}

void ListWarmup(std::vector<RuleInfo>* list) {
  List(kInputRules, Stage::kLoad, list);
  List(kSampleRules, Stage::kLoad, list);
}

}  // namespace nereid::config::rules
