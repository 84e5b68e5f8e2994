// SPDX-License-Identifier: Apache-2.0
#include "config/text/outline.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace nereid::config {
namespace {

namespace io = google::protobuf::io;
using io::Tokenizer;

constexpr int kMaxDepth = 64;

// The outline accepts more than the parser (a colon or a comma may be missing), so that a field
// with such an error can be left out as a whole. Invalid tokens are reported by the parser; the
// tokenizer continues after them.
class NoErrors : public io::ErrorCollector {
 public:
  void AddError(int, int, const std::string&) override {}
};

class Reader {
 public:
  Reader(std::string_view text, const TextLines& lines)
      : lines_(lines),
        input_(text.data(), static_cast<int>(text.size())),
        tokenizer_(&input_, &errors_) {
    // The same settings as in protobuf's text parser.
    tokenizer_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokenizer_.set_allow_f_after_float(true);
    tokenizer_.set_require_space_after_number(false);
    tokenizer_.set_allow_multiline_strings(true);
    Next();
  }

  std::vector<TextField> Read() {
    std::vector<TextField> fields;
    ReadFields("", kMaxDepth, &fields);
    return fields;
  }

 private:
  const Tokenizer::Token& token() { return tokenizer_.current(); }
  bool Is(const char* symbol) { return token().text == symbol && !IsString(); }
  bool IsString() { return token().type == Tokenizer::TYPE_STRING; }

  void Next() {
    end_of_previous_ = lines_.Offset(token().line, token().end_column);
    tokenizer_.Next();
  }

  bool Take(const char* symbol) {
    if (!Is(symbol)) return false;
    Next();
    return true;
  }

  TextPosition Position() { return lines_.Position(token().line, token().column); }

  // Reads fields up to and including `closing`, or to the end of the text if `closing` is empty.
  bool ReadFields(const std::string& closing, int depth, std::vector<TextField>* fields) {
    if (depth == 0) return false;
    while (true) {
      if (token().type == Tokenizer::TYPE_END) return closing.empty();
      if (!closing.empty() && Take(closing.c_str())) return true;
      fields->emplace_back();
      if (!ReadField(depth, &fields->back())) return false;
      if (!Take(";")) Take(",");
    }
  }

  bool ReadField(int depth, TextField* field) {
    field->position = Position();
    field->begin = lines_.Offset(token().line, token().column);
    if (!ReadName(&field->name)) return false;
    Take(":");
    if (Take("[")) {
      while (!Take("]")) {
        field->values.emplace_back();
        if (!ReadValue(depth, &field->values.back())) return false;
        Take(",");
      }
    } else {
      field->values.emplace_back();
      if (!ReadValue(depth, &field->values.back())) return false;
    }
    field->end = end_of_previous_;
    return true;
  }

  // Reads an identifier, or the name of an extension in brackets.
  bool ReadName(std::string* name) {
    if (token().type == Tokenizer::TYPE_IDENTIFIER) {
      *name = token().text;
      Next();
      return true;
    }
    if (!Take("[")) return false;
    while (!Is("]")) {
      if (token().type == Tokenizer::TYPE_END) return false;
      *name += token().text;
      Next();
    }
    Next();
    return true;
  }

  bool ReadValue(int depth, TextValue* value) {
    value->position = Position();
    for (const auto& [open, close] : {std::pair("{", "}"), std::pair("<", ">")}) {
      if (!Take(open)) continue;
      value->is_message = true;
      return ReadFields(close, depth - 1, &value->fields);
    }
    if (IsString()) {
      for (; IsString(); Next()) Tokenizer::ParseStringAppend(token().text, &value->scalar);
      return true;
    }
    if (Take("-")) value->scalar = "-";
    if (token().type == Tokenizer::TYPE_SYMBOL || token().type == Tokenizer::TYPE_END) return false;
    value->scalar += token().text;
    Next();
    return true;
  }

  const TextLines& lines_;
  NoErrors errors_;
  io::ArrayInputStream input_;
  Tokenizer tokenizer_;
  size_t end_of_previous_ = 0;
};

}  // namespace

std::vector<TextField> ReadOutline(std::string_view text, const TextLines& lines) {
  return Reader(text, lines).Read();
}

const TextField* FindField(const std::vector<TextField>& fields, size_t offset) {
  for (const TextField& field : fields) {
    const bool whole = field.end != 0;
    if (offset < field.begin || (whole && offset >= field.end)) continue;
    for (const TextValue& value : field.values) {
      if (const TextField* inner = FindField(value.fields, offset)) return inner;
    }
    return whole ? &field : nullptr;
  }
  return nullptr;
}

}  // namespace nereid::config
