// SPDX-License-Identifier: Apache-2.0
#include "config/text/describe_error.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <utility>

#include "base/near_name.h"
#include "config/text/field_names.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

constexpr std::string_view kNoField = "\" has no field named ";
constexpr std::string_view kNoValue = "Unknown enumeration value of ";
constexpr std::string_view kMultiple = "\" is specified multiple times.";
constexpr std::string_view kAlong = "\" is specified along with field ";

std::vector<std::string_view> FieldNames(const pb::Descriptor& type) {
  std::vector<std::string_view> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

std::vector<std::string_view> ValueNames(const pb::EnumDescriptor& type) {
  std::vector<std::string_view> names;
  for (int i = 0; i < type.value_count(); ++i) {
    // TYPE_INVALID means that no type is set, so it is never suggested.
    if (type.value(i)->name() != "TYPE_INVALID") names.push_back(type.value(i)->name());
  }
  return names;
}

std::string Listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// Names of data types in frameworks. Their edit distance to the configuration's names is too large.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOtherTypeNames = {{
    {"FLOAT", "TYPE_FP32"},
    {"FLOAT32", "TYPE_FP32"},
    {"DOUBLE", "TYPE_FP64"},
    {"FLOAT64", "TYPE_FP64"},
    {"HALF", "TYPE_FP16"},
    {"FLOAT16", "TYPE_FP16"},
    {"BFLOAT16", "TYPE_BF16"},
    {"BYTES", "TYPE_STRING"},
    {"LONG", "TYPE_INT64"},
    {"INT", "TYPE_INT32"},
    {"SHORT", "TYPE_INT16"},
    {"BYTE", "TYPE_UINT8"},
}};

std::string_view NearestValue(std::string_view wrong, const pb::EnumDescriptor& type) {
  if (type.name() == "DataType") {
    std::string bare(wrong.starts_with("TYPE_") ? wrong.substr(5) : wrong);
    for (char& c : bare) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    for (const auto& [other, name] : kOtherTypeNames) {
      if (bare == other) return name;
    }
  }
  return base::NearestName(wrong, ValueNames(type));
}

std::string ExpectedValue(const Field& field) {
  if (field.is_map()) return "entries { key: ... value: ... }";
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32:
      return "a whole number from -2147483648 to 2147483647";
    case Field::CPPTYPE_UINT32:
      return "a whole number from 0 to 4294967295";
    case Field::CPPTYPE_INT64:
      return "a whole number from -9223372036854775808 to 9223372036854775807";
    case Field::CPPTYPE_UINT64:
      return "a whole number from 0 to 18446744073709551615";
    case Field::CPPTYPE_FLOAT:
    case Field::CPPTYPE_DOUBLE:
      return "a number";
    case Field::CPPTYPE_BOOL:
      return "true or false";
    case Field::CPPTYPE_ENUM:
      return "one of " + Listed(ValueNames(*field.enum_type()));
    case Field::CPPTYPE_STRING:
      return "a text in quotes";
    case Field::CPPTYPE_MESSAGE:
      return "fields in braces: " + field.name() + " { ... }";
  }
  return "";
}

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

ErrorDescription UnknownField(const std::string& name, const pb::Descriptor& type) {
  const MeantField meant = FindMeantField(name, type);
  std::string expected = "a field of " + type.name();
  if (meant.Remedy().empty()) expected += ": " + Listed(FieldNames(type));
  return {kUnknownField, "unknown field " + Quoted(name), std::move(expected), meant.Remedy(),
          meant.Hint()};
}

ErrorDescription UnknownValue(const std::string& value, const Field& field) {
  const std::string_view nearest = NearestValue(value, *field.enum_type());
  return {kUnknownValue, "unknown value " + Quoted(value) + " of " + Quoted(field.name()),
          ExpectedValue(field),
          nearest.empty() ? "Write one of these names." : "Write " + std::string(nearest) + ".",
          nearest.empty() ? "" : " Did you mean '" + std::string(nearest) + "'?"};
}

bool IsAText(const Field& field) { return field.cpp_type() == Field::CPPTYPE_STRING; }

// Returns what the parser has found in place of the value or the colon.
std::string_view Found(std::string_view message) {
  for (const std::string_view before : {"got: ", "found \""}) {
    const size_t at = message.find(before);
    if (at == std::string_view::npos) continue;
    const std::string_view found = message.substr(at + before.size());
    return before.ends_with('"') ? found.substr(0, found.rfind('"')) : found;
  }
  return {};
}

// Returns what to do about a value that the parser does not accept for this field.
std::string RemedyOfValue(const std::string& message, const Field& field, const TextField& text) {
  const std::string_view found = Found(message);
  const std::string& name = field.name();
  if (message.starts_with("Integer out of range")) return "Write a number in this range.";
  if (message.starts_with("Expected \":\"")) {
    return found == "=" ? "Write ':' in place of '='." : "Write ':' behind '" + name + "'.";
  }
  const bool is_list = found.starts_with('[') && !field.is_repeated();
  if (is_list) return "Write one value, without brackets.";
  if (message.starts_with("Expected \"{\"")) {
    return field.is_repeated() && text.values.size() > 1
               ? "Put the fields of each element in braces: " + name + " [ { ... } ]."
               : "Put its fields in braces: " + name + " { ... }.";
  }
  const std::string scalar = text.values.size() == 1 ? text.values.front().scalar : "";
  if (IsAText(field) && !scalar.empty()) return "Write \"" + scalar + "\" in quotes.";
  const bool is_quoted = found.starts_with('"') || found.starts_with('\'');
  if (is_quoted && !scalar.empty()) return "Write " + scalar + " without quotes.";
  return "Write such a value.";
}

ErrorDescription BadValue(const std::string& parser_message, const KnownField& where) {
  return {kBadValue, "bad value of " + Quoted(where.field->name()) + ": " + parser_message,
          ExpectedValue(*where.field), RemedyOfValue(parser_message, *where.field, *where.text),
          ""};
}

// Describes a token that the parser does not expect.
ErrorDescription Unexpected(const std::string& message, const KnownField* where) {
  const std::string_view found = Found(message);
  const Field* const field = where == nullptr ? nullptr : where->field;
  std::string remedy;
  if (message.starts_with("Expected \",\"")) {
    // A list that lacks its bracket ends at another one, or with the text.
    const bool is_open = found.empty() || found == "}" || found == ">";
    if (!is_open) remedy = "Write a ',' between the elements.";
  } else if (message.starts_with("Expected identifier")) {
    const bool is_list = field != nullptr && field->is_repeated() && where->text->values.size() > 1;
    if (is_list) remedy = "Write the list in brackets: " + field->name() + ": [ ... ].";
    if (!is_list && found.starts_with('"')) remedy = "Write the name without quotes.";
  }
  return {kSyntax, message, "", std::move(remedy), ""};
}

bool IsAboutValue(const std::string& message) {
  constexpr std::array<std::string_view, 9> kBeginnings = {{
      "Integer out of range",
      "Expected integer, got",
      "Expected integer or identifier, got",
      "Expected string, got",
      "Expected double, got",
      "Expect a decimal number, got",
      "Expected \"{\", found",
      "Expected \":\", found",
      "Invalid value for boolean field",
  }};
  for (const std::string_view beginning : kBeginnings) {
    if (message.starts_with(beginning)) return true;
  }
  return false;
}

const pb::Descriptor* FindType(const std::string& full_name) {
  return pb::DescriptorPool::generated_pool()->FindMessageTypeByName(full_name);
}

}  // namespace

ErrorDescription DescribeTextError(const std::string& message, const KnownField* where) {
  const std::vector<std::string> quoted = QuotedParts(message);
  const Field* field = where == nullptr ? nullptr : where->field;
  if (message.find(kNoField) != std::string::npos && quoted.size() >= 2) {
    // For the parser, a name ends at a hyphen.
    const bool has_hyphen = where != nullptr && where->text->name.starts_with(quoted[1] + "-");
    const std::string& name = has_hyphen ? where->text->name : quoted[1];
    if (const pb::Descriptor* type = FindType(quoted[0])) return UnknownField(name, *type);
  }
  if (message.starts_with(kNoValue) && !quoted.empty() && field != nullptr &&
      field->enum_type() != nullptr) {
    return UnknownValue(quoted[0], *field);
  }
  if (message.find(kMultiple) != std::string::npos && !quoted.empty()) {
    return {kGivenTwice, Quoted(quoted[0]) + " is given twice", Quoted(quoted[0]) + " once",
            "Remove one of them.", ""};
  }
  if (message.find(kAlong) != std::string::npos && quoted.size() >= 2) {
    return {kOneChoice, Quoted(quoted[0]) + " is given along with " + Quoted(quoted[1]),
            "one of the two", "Remove one of them.", ""};
  }
  if (field != nullptr && IsAboutValue(message)) return BadValue(message, *where);
  return Unexpected(message, where);
}

std::string ExpectedValueOf(const KnownField& where) {
  return where.field == nullptr ? std::string() : ExpectedValue(*where.field);
}

ErrorDescription DescribeMissingValue(const KnownField& where) {
  const std::string name = Quoted(where.text->name);
  return {kBadValue, "the value of " + name + " is missing", ExpectedValueOf(where),
          "Write the value behind the colon, or remove " + name + ".", ""};
}

TextPosition ErrorPosition(const ParserError& error, const KnownField& where,
                           const TextLines& lines) {
  const std::string_view rule = DescribeTextError(error.message, &where).rule;
  if (rule == kUnknownField || rule == kGivenTwice || rule == kOneChoice) {
    return where.text->position;
  }
  // The parser reports an unknown name after it has read past it. In a list it reports the position
  // of the right element.
  const bool about_value = rule == kUnknownValue || rule == kBadValue;
  const bool is_before_value = error.message.starts_with("Expected \":\"");
  if (about_value && !is_before_value && where.text->values.size() == 1) {
    return where.text->values.front().position;
  }
  return lines.Position(error.line, error.column);
}

std::string WithSuggestion(const std::string& message, const KnownField* where) {
  return message + DescribeTextError(message, where).hint;
}

}  // namespace nereid::config
