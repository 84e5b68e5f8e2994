// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "config/parse/parse.h"
#include "config/text/describe_error.h"
#include "config/text/fields.h"
#include "config/text/invalid_utf8.h"
#include "config/text/parser.h"
#include "config/text/slips.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

// Returns a message such as "line 3, column 5: Expected integer, got: x". Only the first error is
// reported, because later ones are mostly caused by it.
std::string ErrorText(std::string_view text, const ParserError& error) {
  if (error.line < 0) return error.message;
  const TextLines lines(text);
  const auto slips = RepairText(text).slips;
  if (!slips.empty() && slips.front().begin <= lines.Offset(error.line, error.column)) {
    const TextPosition position = lines.PositionOf(slips.front().begin);
    return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column) +
           ": " + slips.front().message + ". " + slips.front().remedy;
  }
  const auto outline = ReadOutline(text, lines);
  const auto fields = ListFields(outline);
  TextPosition position = lines.Position(error.line, error.column);
  const KnownField* where = nullptr;
  if (const TextField* field = FieldOfError(error, outline, lines)) {
    for (const KnownField& known : fields) {
      if (known.text == field) where = &known;
    }
    position = ErrorPosition(error, *where, lines);
  }
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column) +
         ": " + WithSuggestion(error.message, where);
}

}  // namespace

base::Result<ModelConfigPtr> ParseModelConfigText(std::string_view text, const std::string& path) {
  const std::string subject = "failed to read text proto from " + path;
  if (text.size() > kMaxTextBytes) {
    return base::Status::Internal(subject + ": the file has " + std::to_string(text.size()) +
                                  " bytes, more than the " + std::to_string(kMaxTextBytes) +
                                  " allowed");
  }
  if (text.starts_with(kUtf8ByteOrderMark)) {
    return base::Status::Internal(
        subject + ": the file begins with a byte order mark; save it as " + "UTF-8 without one");
  }
  inference::ModelConfig proto;
  const auto errors = ParseText(text, &proto);
  if (!errors.empty()) {
    return base::Status::Internal(subject + ": " + ErrorText(text, errors.front()));
  }
  if (const auto field = FindInvalidUtf8(proto)) {
    return base::Status::Internal(subject + ": the value of '" + *field + "' is not valid UTF-8");
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
