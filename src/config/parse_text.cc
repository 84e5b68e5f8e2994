// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <optional>

#include "config/near_name.h"
#include "config/parse.h"
#include "config/utf8.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

// A configuration is written by hand or by a tool; this much is a mistake or an attack.
constexpr size_t kMaxTextBytes = size_t{32} << 20;
// Deeper than any legal configuration (optimization.cuda.graph_spec.graph_lower_bound.input.value).
constexpr int kMaxDepth = 32;

// The text between the first and the second `quote` after `from`.
std::optional<std::string> Quoted(const std::string& message, size_t from) {
  const size_t begin = message.find('"', from);
  if (begin == std::string::npos) return std::nullopt;
  const size_t end = message.find('"', begin + 1);
  if (end == std::string::npos) return std::nullopt;
  return message.substr(begin + 1, end - begin - 1);
}

std::string SuggestField(const std::string& type_name, const std::string& wrong) {
  const pb::Descriptor* type =
      pb::DescriptorPool::generated_pool()->FindMessageTypeByName(type_name);
  if (type == nullptr) return "";
  std::vector<std::string_view> names;
  for (int i = 0; i < type->field_count(); ++i) names.push_back(type->field(i)->name());
  return DidYouMean(wrong, names);
}

// The message names the field, but not the type it belongs to: the values of every enum field of
// that name in the file are candidates.
void CollectEnumValues(const pb::Descriptor* type, const std::string& field_name,
                       std::vector<std::string_view>* names) {
  if (const pb::FieldDescriptor* field = type->FindFieldByName(field_name);
      field != nullptr && field->enum_type() != nullptr) {
    for (int i = 0; i < field->enum_type()->value_count(); ++i) {
      names->push_back(field->enum_type()->value(i)->name());
    }
  }
  for (int i = 0; i < type->nested_type_count(); ++i) {
    CollectEnumValues(type->nested_type(i), field_name, names);
  }
}

std::string SuggestEnumValue(const std::string& field_name, const std::string& wrong) {
  std::vector<std::string_view> names;
  const pb::FileDescriptor* file = inference::ModelConfig::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    CollectEnumValues(file->message_type(i), field_name, &names);
  }
  return DidYouMean(wrong, names);
}

// Adds the nearest known name to protobuf's messages about unknown ones:
//   Message type "inference.ModelConfig" has no field named "inputs".
//   Unknown enumeration value of "TYPE_FLOAT" for field "data_type".
std::string WithSuggestion(const std::string& message) {
  constexpr std::string_view kNoField = "\" has no field named ";
  constexpr std::string_view kNoValue = "Unknown enumeration value of ";
  if (const size_t at = message.find(kNoField); at != std::string::npos) {
    const auto type = Quoted(message, 0);
    const auto field = Quoted(message, at + 1);
    if (type && field) return message + SuggestField(*type, *field);
  } else if (message.starts_with(kNoValue)) {
    const auto value = Quoted(message, 0);
    const auto field = value ? Quoted(message, kNoValue.size() + value->size() + 2) : std::nullopt;
    if (field) return message + SuggestEnumValue(*field, *value);
  }
  return message;
}

// Keeps the first error; later ones are mostly its consequences.
class FirstError : public pb::io::ErrorCollector {
 public:
  // Counted from zero, by protobuf's convention.
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    if (line >= 0) {
      text_ = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": ";
    }
    text_ += WithSuggestion(message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

base::Result<ModelConfigPtr> ParseModelConfigText(std::string_view text, const std::string& path) {
  const std::string subject = "failed to read text proto from " + path;
  if (text.size() > kMaxTextBytes) {
    return base::Status::Internal(subject + ": the file has " + std::to_string(text.size()) +
                                  " bytes, more than the " + std::to_string(kMaxTextBytes) +
                                  " allowed");
  }
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  inference::ModelConfig proto;
  // Not ParseFromString: it takes a std::string, and the text need not be copied.
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, &proto)) {
    return base::Status::Internal(subject + ": " +
                                  (error.text().empty() ? "syntax error" : error.text()));
  }
  if (const auto field = FindInvalidUtf8(proto)) {
    return base::Status::Internal(subject + ": the value of '" + *field + "' is not valid UTF-8");
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
