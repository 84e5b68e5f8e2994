// SPDX-License-Identifier: Apache-2.0
#include "config/describe/explain.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "config/complete/completion_info.h"
#include "config/describe/map_entries.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

// Removes positions and keys from a path: "input[1].dims[0]" becomes "input.dims".
std::string WithoutPositions(std::string_view path) {
  std::string plain;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) plain += c;
    if (c == ']') inside = false;
  }
  return plain;
}

// Returns the rule that completes the field of a path, or null.
const CompletionInfo* FindCompletion(std::string_view path) {
  static const std::vector<CompletionInfo> completions = AllCompletions();
  const auto found = std::ranges::find(completions, WithoutPositions(path), &CompletionInfo::field);
  return found == completions.end() ? nullptr : &*found;
}

bool IsSet(const pb::Message& message, const Field* field) {
  return message.GetReflection()->HasField(message, field);
}

std::string ValueText(const pb::Message& message, const Field* field, int index) {
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, field, index, &text);
  return text;
}

// Calls visit(path, value) for each scalar, empty list and empty message that is set. `is_written`
// returns whether the text contains a path; it is needed for scalars that are written with their
// default value, because protobuf does not report them as set.
class Walk {
 public:
  using Visit = std::function<void(std::string path, std::string value)>;
  using IsWritten = std::function<bool(const std::string& path)>;

  Walk(IsWritten is_written, Visit visit)
      : is_written_(std::move(is_written)), visit_(std::move(visit)) {}

  void Message(const pb::Message& message, const std::string& prefix) {
    const pb::Descriptor* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      const Field* field = type->field(i);
      const std::string path = prefix + field->name();
      if (field->is_map()) {
        Map(message, field, path);
      } else if (field->is_repeated()) {
        List(message, field, path);
      } else if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        if (!IsSet(message, field)) continue;
        Part(message.GetReflection()->GetMessage(message, field), path);
      } else if (IsSet(message, field) || is_written_(path)) {
        visit_(path, ValueText(message, field, -1));
      }
    }
  }

 private:
  // Visits the fields of a message. A message without set fields is visited as the value "{ }".
  void Part(const pb::Message& message, const std::string& path) {
    const size_t before = visited_;
    Walk inner(is_written_, [&](std::string inner_path, std::string value) {
      ++visited_;
      visit_(std::move(inner_path), std::move(value));
    });
    inner.Message(message, path + ".");
    if (visited_ == before) visit_(path, "{ }");
  }

  void List(const pb::Message& message, const Field* field, const std::string& path) {
    const pb::Reflection* reflection = message.GetReflection();
    const int count = reflection->FieldSize(message, field);
    if (count == 0 && is_written_(path)) visit_(path, "[ ]");
    for (int i = 0; i < count; ++i) {
      const std::string element = path + "[" + std::to_string(i) + "]";
      if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        Part(reflection->GetRepeatedMessage(message, field, i), element);
      } else {
        visit_(element, ValueText(message, field, i));
      }
    }
  }

  void Map(const pb::Message& message, const Field* field, const std::string& path) {
    for (const auto& [key, entry, value] : SortedMapEntries(message, field)) {
      const std::string element = path + "[" + key + "]";
      if (value->cpp_type() == Field::CPPTYPE_MESSAGE) {
        Part(entry->GetReflection()->GetMessage(*entry, value), element);
      } else {
        visit_(element, ValueText(*entry, value, -1));
      }
    }
  }

  IsWritten is_written_;
  Visit visit_;
  size_t visited_ = 0;
};

std::set<std::string> PathsOf(const ModelConfig& config, const Walk::IsWritten& is_written) {
  std::set<std::string> paths;
  Walk(is_written, [&](std::string path, std::string value) {
    paths.insert(path + "=" + value);
  }).Message(config.proto(), "");
  return paths;
}

void SetOrigin(const ModelConfig& effective, const ExplainSources& sources,
               const std::set<std::string>& before_backend, ExplainedField* field) {
  // Whether an ensemble is decoupled is derived from its members, whatever its file says.
  const CompletionInfo* const row = FindCompletion(field->path);
  const bool of_members = row != nullptr && row->rule == "derive.decoupled" &&
                          effective.proto().has_ensemble_scheduling();
  // A value that was not there before the backend completed the configuration comes from the
  // backend.
  const bool from_backend = !of_members && sources.before_backend != nullptr &&
                            !before_backend.contains(field->path + "=" + field->value);
  if (from_backend) {
    field->origin = FieldOrigin::kBackend;
    field->reason = "completed by backend '" + effective.backend() + "'";
    return;
  }
  const TextPosition* const position = sources.places.Find(field->path);
  if (position != nullptr && !of_members) {
    field->origin = FieldOrigin::kWritten;
    field->position = *position;
    return;
  }
  if (row != nullptr) {
    const bool derived = row->rule.starts_with("derive.");
    field->origin = derived ? FieldOrigin::kDerived : FieldOrigin::kDefault;
    field->rule = row->rule;
    field->reason = row->reason({sources.written, effective, sources.files});
    return;
  }
  field->origin = FieldOrigin::kDefault;
  field->reason = "the server's default";
}

}  // namespace

std::string_view FieldOriginName(FieldOrigin origin) {
  switch (origin) {
    case FieldOrigin::kWritten:
      return "file";
    case FieldOrigin::kDerived:
      return "derived";
    case FieldOrigin::kDefault:
      return "default";
    case FieldOrigin::kBackend:
      return "backend";
    case FieldOrigin::kLoaded:
      return "load";
  }
  return "";
}

std::vector<ExplainedField> ExplainModelConfig(const ModelConfig& effective,
                                               const ExplainSources& sources) {
  std::vector<ExplainedField> fields;
  const auto is_written = [&](const std::string& path) {
    return sources.places.Find(path) != nullptr;
  };
  std::set<std::string> before_backend;
  if (sources.before_backend != nullptr) {
    before_backend = PathsOf(*sources.before_backend, is_written);
  }
  Walk(is_written, [&](std::string path, std::string value) {
    ExplainedField field;
    field.path = std::move(path);
    field.value = std::move(value);
    SetOrigin(effective, sources, before_backend, &field);
    fields.push_back(std::move(field));
  }).Message(effective.proto(), "");
  return fields;
}

std::optional<std::string> UnsetFieldValue(std::string_view path) {
  const std::string plain = WithoutPositions(path);
  const pb::Descriptor* type = inference::ModelConfig::descriptor();
  const Field* field = nullptr;
  for (size_t begin = 0; begin <= plain.size();) {
    const size_t end = std::min(plain.find('.', begin), plain.size());
    field = type == nullptr ? nullptr : type->FindFieldByName(plain.substr(begin, end - begin));
    if (field == nullptr) return std::nullopt;
    type = field->is_map() ? field->message_type()->map_value()->message_type()
                           : field->message_type();
    begin = end + 1;
  }
  if (field->is_repeated() && !path.ends_with(']')) return "[ ]";
  switch (field->cpp_type()) {
    case Field::CPPTYPE_STRING:
      return "\"\"";
    case Field::CPPTYPE_BOOL:
      return "false";
    case Field::CPPTYPE_ENUM:
      return field->enum_type()->value(0)->name();
    case Field::CPPTYPE_MESSAGE:
      return "{ }";
    default:
      return "0";
  }
}

}  // namespace nereid::config
