// SPDX-License-Identifier: Apache-2.0
#include "config/text/read_text.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "config/text/describe_error.h"
#include "config/text/fields.h"
#include "config/text/invalid_utf8.h"
#include "config/text/outline.h"
#include "config/text/parser.h"
#include "config/text/slips.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

void Blank(std::string* text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    // Positions depend on lines and tabs.
    if ((*text)[i] != '\n' && (*text)[i] != '\t') (*text)[i] = ' ';
  }
}

// Parses a text repeatedly, each time with more fields left out.
class Reader {
 public:
  Reader(std::string_view text, size_t max_problems) : text_(text), max_problems_(max_problems) {}

  TextReading Read() {
    if (text_.size() > kMaxTextBytes) {
      Add(kTooLarge, {1, 1}, "", "the text has " + std::to_string(text_.size()) + " bytes",
          "at most " + std::to_string(kMaxTextBytes) + " bytes", "Remove what is too much.");
      return std::move(reading_);
    }
    if (text_.starts_with(kUtf8ByteOrderMark)) {
      Add(kByteOrderMark, {1, 1}, "", "the text begins with a byte order mark", "none",
          "Save the file as UTF-8 without a byte order mark.");
      StartBlanking();
      Blank(&reading_.blanked, 0, kUtf8ByteOrderMark.size());
    }
    while (!Full() && !ReadOnce()) {
    }
    std::stable_sort(reading_.problems.begin(), reading_.problems.end(),
                     [](const TextProblem& a, const TextProblem& b) {
                       return std::pair(a.position.line, a.position.column) <
                              std::pair(b.position.line, b.position.column);
                     });
    return std::move(reading_);
  }

 private:
  // Parses once. Returns whether this was the last time: everything was read, or nothing more can
  // be left out.
  bool ReadOnce() {
    inference::ModelConfig proto;
    const std::vector<ParserError> errors = ParseText(Text(), &proto);
    if (errors.empty() && !FindInvalidUtf8(proto)) {
      reading_.config = ModelConfig::Create(std::move(proto));
      return true;
    }
    if (!errors.empty() && !std::exchange(repaired_, true)) {
      const RepairedText repaired = RepairText(Text());
      Repair(repaired);
      if (repaired.is_lost || !repaired.slips.empty()) return repaired.is_lost;
    }
    const TextLines lines(text_);
    // Blanking fields changes the text, but the outline refers to it. The outline is made from a
    // copy.
    const std::string text(Text());
    const auto outline = ReadOutline(text, lines);
    const auto fields = ListFields(outline);
    bool left_out = false;
    bool lost = false;
    if (errors.empty()) left_out = LeaveOutInvalidUtf8(fields);
    if (!errors.empty() && LeaveOutMissingValues(fields)) return false;
    for (const ParserError& error : errors) {
      const TextField* where = FieldOfError(error, outline, lines);
      if (where == nullptr) {
        // Later errors are mostly caused by this one.
        if (!lost && !left_out) AddStray(error, outline, lines);
        lost = true;
      } else if (!IsBlank(*where) && !Full()) {
        AddError(error, *Known(fields, where), lines);
        LeaveOut(*Known(fields, where));
        left_out = true;
      }
    }
    return lost || !left_out;
  }

  // Replaces the slips by bytes that can be parsed, and leaves out the fields whose values are
  // lost.
  void Repair(const RepairedText& repaired) {
    if (repaired.slips.empty()) return;
    const TextLines lines(text_);
    reading_.blanked = repaired.text;
    const auto outline = ReadOutline(repaired.text, lines);
    const auto fields = ListFields(outline);
    for (const Slip& slip : repaired.slips) {
      const TextField* const text = FindField(outline, slip.begin);
      const KnownField* const field = text == nullptr ? nullptr : Known(fields, text);
      if (!Full()) {
        const std::string value =
            slip.loses_value && field != nullptr ? ExpectedValueOf(*field) : "";
        Add(slip.rule, lines.PositionOf(slip.begin), field == nullptr ? "" : field->path,
            slip.message, value.empty() ? slip.expected : value, slip.remedy);
      }
      if (slip.loses_value && field != nullptr && !IsBlank(*text)) LeaveOut(*field);
      if (slip.loses_value && field == nullptr) Blank(&reading_.blanked, slip.begin, slip.end);
    }
  }

  std::string_view Text() const {
    return reading_.blanked.empty() ? text_ : std::string_view(reading_.blanked);
  }
  bool Full() const { return reading_.problems.size() >= max_problems_; }
  void StartBlanking() {
    if (reading_.blanked.empty()) reading_.blanked = text_;
  }
  bool IsBlank(const TextField& field) const {
    return !reading_.blanked.empty() && reading_.blanked[field.begin] == ' ';
  }

  static const KnownField* Known(const std::vector<KnownField>& fields, const TextField* text) {
    for (const KnownField& field : fields) {
      if (field.text == text) return &field;
    }
    return nullptr;
  }

  void LeaveOut(const KnownField& field) {
    StartBlanking();
    std::string& text = reading_.blanked;
    Blank(&text, field.text->begin, field.text->end);
    // The separator that follows the field would have nothing to separate.
    const size_t after = text.find_first_not_of(" \t\r\n", field.text->end);
    if (after != std::string::npos && (text[after] == ',' || text[after] == ';')) {
      Blank(&text, after, after + 1);
    }
    reading_.unread.push_back(field.path);
  }

  bool LeaveOutInvalidUtf8(const std::vector<KnownField>& fields) {
    bool found = false;
    for (const KnownField& field : fields) {
      for (const TextValue& value : field.text->values) {
        if (value.is_message || base::IsUtf8(value.scalar) || Full()) continue;
        Add(kNotUtf8, value.position, field.path,
            "the value of '" + field.text->name + "' is not valid UTF-8", "text in UTF-8",
            "Save the file as UTF-8, and escape no bytes that are none.");
        LeaveOut(field);
        found = true;
        break;
      }
    }
    return found;
  }

  bool LeaveOutMissingValues(const std::vector<KnownField>& fields) {
    bool found = false;
    for (const KnownField& field : fields) {
      if (!field.text->is_without_value || IsBlank(*field.text) || Full()) continue;
      ErrorDescription described = DescribeMissingValue(field);
      Add(described.rule, field.text->position, field.path, std::move(described.message),
          std::move(described.expected), std::move(described.remedy));
      LeaveOut(field);
      found = true;
    }
    return found;
  }

  void AddError(const ParserError& error, const KnownField& field, const TextLines& lines) {
    ErrorDescription described = DescribeTextError(error.message, &field);
    Add(described.rule, ErrorPosition(error, field, lines), field.path,
        std::move(described.message), std::move(described.expected), std::move(described.remedy));
  }

  // Adds an error that is in no field: an extra brace, or the end of the text inside a field.
  void AddStray(const ParserError& error, const std::vector<TextField>& outline,
                const TextLines& lines) {
    std::string remedy = DescribeTextError(error.message, nullptr).remedy;
    if (const TextField* open = Unclosed(outline); remedy.empty() && open != nullptr) {
      remedy = "Close the braces and quotes of '" + open->name + "' in line " +
               std::to_string(open->position.line) + ".";
    }
    remedy += std::string(remedy.empty() ? "" : " ") + "What follows was not looked at.";
    const bool at_end = lines.Offset(error.line, error.column) >= text_.size();
    Add(kSyntax, lines.Position(error.line, error.column), "",
        at_end ? "the text ends within a field" : error.message, "", remedy);
  }

  // Returns the innermost field in which the text ends or becomes unreadable.
  static const TextField* Unclosed(const std::vector<TextField>& outline) {
    if (outline.empty() || outline.back().end != 0 || outline.back().name.empty()) return nullptr;
    const TextField& field = outline.back();
    if (!field.values.empty()) {
      if (const TextField* inner = Unclosed(field.values.back().fields)) return inner;
    }
    return &field;
  }

  void Add(std::string_view rule, TextPosition position, std::string field, std::string message,
           std::string expected, std::string remedy) {
    reading_.problems.push_back({rule, position, std::move(field), std::move(message),
                                 std::move(expected), std::move(remedy)});
  }

  const std::string_view text_;
  const size_t max_problems_;
  bool repaired_ = false;
  TextReading reading_;
};

}  // namespace

TextReading ReadModelConfigText(std::string_view text, size_t max_problems) {
  return Reader(text, max_problems).Read();
}

std::vector<TextProblemKind> TextProblemKinds() {
  return {
      {kUnknownField, "The configuration and its parts have only the fields that are declared."},
      {kUnknownValue, "An enumeration takes only its own names."},
      {kBadValue, "A value has the type of its field, and is in its range."},
      {kGivenTwice, "A field that is not a list is given once."},
      {kOneChoice, "Of the fields of a choice one is given."},
      {kSyntax, "The file is in protobuf's text format."},
      {kPlaceholder, "The placeholders of a template are filled in."},
      {kNotUtf8, "Texts are UTF-8."},
      {kByteOrderMark, "The file begins without a byte order mark."},
      {kTooLarge, "The file has at most 32 MiB."},
  };
}

}  // namespace nereid::config
