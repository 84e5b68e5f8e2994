// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/util/json_util.h>

#include "config/parse/parse.h"
#include "config/text/field_names.h"
#include "config/text/invalid_utf8.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

constexpr size_t kMaxJsonBytes = size_t{32} << 20;

base::Status Invalid(const std::string& reason) {
  return base::Status::InvalidArgument("failed to parse the model configuration as JSON: " +
                                       reason);
}

// Returns the type of the message at a path such as "input[0].reshape"; null if there is none.
const pb::Descriptor* TypeAt(std::string_view path) {
  const pb::Descriptor* type = inference::ModelConfig::descriptor();
  while (type != nullptr && !path.empty()) {
    const size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    const auto* field = type->FindFieldByName(std::string(part.substr(0, part.find('['))));
    type = field == nullptr ? nullptr : field->message_type();
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return type;
}

// Appends the nearest field name to protobuf's message about an unknown field, which has the form
//
//   (input[0]) datatype: Cannot find field.
std::string WithSuggestion(const std::string& message) {
  constexpr std::string_view kNoField = ": Cannot find field.";
  if (!message.ends_with(kNoField)) return message;
  std::string_view name(message.data(), message.size() - kNoField.size());
  std::string_view path;
  if (const size_t end = name.find(") "); name.starts_with('(') && end != std::string_view::npos) {
    path = name.substr(1, end - 1);
    name.remove_prefix(end + 2);
  }
  const pb::Descriptor* type = TypeAt(path);
  if (type == nullptr) return message;
  return message + FindMeantField(name, *type).Hint();
}

}  // namespace

base::Result<ModelConfigPtr> ParseModelConfigJson(std::string_view json) {
  if (json.size() > kMaxJsonBytes) {
    return Invalid(std::to_string(json.size()) + " bytes, more than the " +
                   std::to_string(kMaxJsonBytes) + " allowed");
  }
  // Without this check protobuf would parse "null" and similar texts as an empty message.
  const size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{') return Invalid("expected an object");
  pb::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  options.case_insensitive_enum_parsing = true;
  inference::ModelConfig proto;
  const pb::util::Status status =
      pb::util::JsonStringToMessage({json.data(), json.size()}, &proto, options);
  if (!status.ok()) return Invalid(WithSuggestion(std::string(status.message())));
  if (const auto field = FindInvalidUtf8(proto)) {
    return Invalid("the value of '" + *field + "' is not valid UTF-8");
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
