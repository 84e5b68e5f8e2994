// SPDX-License-Identifier: Apache-2.0
#include "request/state_layout.h"

#include <algorithm>
#include <cstdint>

#include "base/files.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::Status;
using tensor::DataType;
using tensor::Shape;

/// More than any backend can use.
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;

struct Subject {
  const std::string& model;
  const config::StateSpec& state;

  std::string Text() const { return "state '" + state.input_name + "' of model '" + model + "'"; }
};

base::Result<std::string> ReadInitialFile(const Subject& subject,
                                          const std::string& model_directory,
                                          const std::string& name) {
  const std::string directory = base::JoinPath(model_directory, "initial_state");
  const std::string path = base::JoinPath(directory, name);
  if (!base::IsInside(directory, path)) {
    return Status::InvalidArgument("initial state file '" + name + "' of " + subject.Text() +
                                   " is outside the directory " + directory);
  }
  auto content = base::ReadFile(path, kMaxFileBytes);
  if (!content.ok()) {
    return content.status().WithPrefix("initial state of " + subject.Text() + ": ");
  }
  return content;
}

/// Checks that the file is for the state's shape with 1 for variable dimensions. Bytes for another
/// shape would be truncated or be laid out differently from what their author meant.
Status CheckDims(const Subject& subject, const StateLayout::Entry& entry) {
  const auto& initial = *subject.state.initial;
  const Shape begin = tensor::WithoutVariableDims(subject.state.dims);
  if (initial.dims == begin || initial.data_file.empty()) return Status::Ok();
  const auto declared = tensor::ZeroByteSize(initial.data_type, initial.dims);
  return Status::InvalidArgument(
      "the initial_state of " + subject.Text() + " has dims " + tensor::ShapeText(initial.dims) +
      ", but a state begins with 1 for each variable dim of " +
      tensor::ShapeText(subject.state.dims) + ", that is with dims " + tensor::ShapeText(begin) +
      ": the file '" + initial.data_file + "' is for " +
      (declared ? std::to_string(*declared) : std::string("too many")) + " bytes, the state has " +
      std::to_string(entry.initial_size));
}

Status CheckContent(const Subject& subject, const StateLayout::Entry& entry, std::string* content) {
  const std::string& file = subject.state.initial->data_file;
  if (subject.state.data_type == DataType::kBytes) {
    const tensor::ByteSpan piece{content->data(), content->size()};
    return tensor::CheckBytesElements({&piece, 1},
                                      tensor::ElementCount(entry.initial_shape).value_or(0),
                                      "initial_state file '" + file + "' of " + subject.Text());
  }
  if (content->size() < entry.initial_size) {
    return Status::InvalidArgument("initial_state setting of " + subject.Text() + " expects " +
                                   std::to_string(entry.initial_size) +
                                   " bytes, but the data provided from " + file + " only has " +
                                   std::to_string(content->size()) + " bytes");
  }
  content->resize(entry.initial_size);  // surplus bytes are ignored, as for warm-up data
  return Status::Ok();
}

base::Result<StateLayout::Entry> MakeEntry(const Subject& subject, bool batching,
                                           const std::string& model_directory) {
  StateLayout::Entry entry;
  entry.spec = subject.state;
  if (batching) entry.full_dims.push_back(1);
  entry.full_dims.insert(entry.full_dims.end(), subject.state.dims.begin(),
                         subject.state.dims.end());
  entry.initial_shape = tensor::WithoutVariableDims(entry.full_dims);
  const auto size = tensor::ZeroByteSize(subject.state.data_type, entry.initial_shape);
  if (!size) {
    return Status::InvalidArgument(subject.Text() + " cannot have data type " +
                                   std::string(tensor::DataTypeName(subject.state.data_type)) +
                                   " and dims " + tensor::ShapeText(subject.state.dims));
  }
  entry.initial_size = *size;
  if (!subject.state.initial) return entry;
  NEREID_RETURN_IF_ERROR(CheckDims(subject, entry));
  const std::string& file = subject.state.initial->data_file;
  if (file.empty()) return entry;
  NEREID_ASSIGN_OR_RETURN(entry.initial_bytes, ReadInitialFile(subject, model_directory, file));
  NEREID_RETURN_IF_ERROR(CheckContent(subject, entry, &entry.initial_bytes));
  entry.initial_size = entry.initial_bytes.size();
  return entry;
}

}  // namespace

base::Result<std::shared_ptr<const StateLayout>> StateLayout::Create(
    const std::string& model_name, const std::vector<config::StateSpec>& states, bool batching,
    const std::string& model_directory) {
  auto layout = std::make_shared<StateLayout>();
  layout->model_name_ = model_name;
  for (const config::StateSpec& state : states) {
    NEREID_ASSIGN_OR_RETURN(auto entry,
                            MakeEntry(Subject{model_name, state}, batching, model_directory));
    layout->entries_.push_back(std::move(entry));
  }
  return std::shared_ptr<const StateLayout>(std::move(layout));
}

size_t StateLayout::FindOutput(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& entry) {
    return entry.spec.output_name == name;
  });
  return static_cast<size_t>(found - entries_.begin());
}

}  // namespace nereid::request
