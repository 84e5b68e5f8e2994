// SPDX-License-Identifier: Apache-2.0
#include "config/text/parser.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

// Deeper than any legal configuration (optimization.cuda.graph_spec.graph_lower_bound.input.value).
constexpr int kMaxDepth = 32;
// A text of invalid tokens causes one error for each token.
constexpr size_t kMaxErrors = 100;

class Collector : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (errors.size() < kMaxErrors) errors.push_back({line, column, message});
  }
  std::vector<ParserError> errors;
};

// Returns the last complete field, at any depth, that begins before `offset`.
const TextField* LastFieldBefore(const std::vector<TextField>& fields, size_t offset) {
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (field->begin >= offset) continue;
    for (auto value = field->values.rbegin(); value != field->values.rend(); ++value) {
      if (const TextField* inner = LastFieldBefore(value->fields, offset)) return inner;
    }
    return field->end == 0 ? nullptr : &*field;
  }
  return nullptr;
}

// Returns whether the error is one that the parser reports after it has read past the wrong value.
bool PointsBehindValue(const std::string& message) {
  return message.starts_with("Unknown enumeration value of ") ||
         message.starts_with("Invalid value for boolean field ");
}

}  // namespace

std::vector<ParserError> ParseText(std::string_view text, inference::ModelConfig* config) {
  Collector collector;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.SetRecursionLimit(kMaxDepth);
  // ParseFromString would need a copy of the text as std::string.
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, config) && collector.errors.empty()) {
    collector.errors.push_back({-1, 0, "syntax error"});
  }
  return std::move(collector.errors);
}

const TextField* FieldOfError(const ParserError& error, const std::vector<TextField>& outline,
                              const TextLines& lines) {
  if (error.line < 0) return nullptr;
  const size_t offset = lines.Offset(error.line, error.column);
  return PointsBehindValue(error.message) ? LastFieldBefore(outline, offset)
                                          : FindField(outline, offset);
}

std::vector<std::string> QuotedParts(const std::string& message) {
  std::vector<std::string> parts;
  for (size_t open = message.find('"'); open != std::string::npos;) {
    const size_t close = message.find('"', open + 1);
    if (close == std::string::npos) break;
    parts.push_back(message.substr(open + 1, close - open - 1));
    open = message.find('"', close + 1);
  }
  return parts;
}

}  // namespace nereid::config
