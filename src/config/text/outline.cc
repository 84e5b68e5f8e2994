// SPDX-License-Identifier: Apache-2.0
#include "config/text/outline.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace nereid::config {
namespace {

namespace io = google::protobuf::io;
using io::Tokenizer;

constexpr int kMaxDepth = 64;

// The outline accepts more than the parser (a colon, a value, a comma, quotes or brackets of a list
// may be missing), so that a field with such an error can be left out as a whole. Invalid tokens
// are reported by the parser; the tokenizer continues after them.
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
    tokenizer_.Next();
    token_ = tokenizer_.current();
    tokenizer_.Next();
  }

  std::vector<TextField> Read() {
    std::vector<TextField> fields;
    ReadFields("", kMaxDepth, &fields);
    return fields;
  }

 private:
  const Tokenizer::Token& token() { return token_; }
  const Tokenizer::Token& token_after() { return tokenizer_.current(); }
  bool Is(const char* symbol) { return token().text == symbol && !IsString(); }
  bool IsString() { return token().type == Tokenizer::TYPE_STRING; }
  bool IsNumber() {
    return token().type == Tokenizer::TYPE_INTEGER || token().type == Tokenizer::TYPE_FLOAT;
  }
  /// Whether no blank is between the previous token and this one.
  bool IsAdjacent() {
    return token().type != Tokenizer::TYPE_END &&
           lines_.Offset(token().line, token().column) == end_of_previous_;
  }

  void Next() {
    end_of_previous_ = lines_.Offset(token().line, token().end_column);
    token_ = tokenizer_.current();
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
      if (Take(";")) continue;
      // A value behind a comma is an element of a list without brackets.
      while (Take(",") && (IsNumber() || Is("-") || (IsString() && !BeginsField()))) {
        TextField& field = fields->back();
        field.values.emplace_back();
        if (!ReadValue(depth, &field.values.back())) return false;
        field.end = end_of_previous_;
      }
    }
  }

  /// Whether the token and the one behind it begin a field.
  bool BeginsField() {
    const std::string& after = token_after().text;
    return token_after().type == Tokenizer::TYPE_SYMBOL &&
           (after == ":" || after == "=" || after == "{" || after == "[" || after == "<");
  }

  /// Whether the token cannot be a value: it ends the message, or begins the next field.
  bool IsNoValue() {
    for (const char* const symbol : {"}", "]", ">", ",", ";"}) {
      if (Is(symbol)) return true;
    }
    if (token().type == Tokenizer::TYPE_END) return true;
    return token().type == Tokenizer::TYPE_IDENTIFIER && BeginsField();
  }

  bool ReadField(int depth, TextField* field) {
    field->position = Position();
    field->begin = lines_.Offset(token().line, token().column);
    if (!ReadName(&field->name)) return false;
    const bool has_colon = Take(":") || Take("=");
    if (has_colon && IsNoValue()) {
      field->is_without_value = true;
    } else if (Take("[")) {
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

  // Reads an identifier, also one with hyphens or in quotes, or the name of an extension in
  // brackets.
  bool ReadName(std::string* name) {
    if (token().type == Tokenizer::TYPE_IDENTIFIER) {
      *name = token().text;
      Next();
      while (IsAdjacent() && Is("-")) AppendToken(name);
      return true;
    }
    if (IsString() && BeginsField()) {
      Tokenizer::ParseStringAppend(token().text, name);
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
    const bool is_path = Is("/") || Is(".") || Is("~");
    const bool is_symbol = token().type == Tokenizer::TYPE_SYMBOL && !is_path;
    if (is_symbol || token().type == Tokenizer::TYPE_END) return false;
    const bool may_go_on = is_path || token().type == Tokenizer::TYPE_IDENTIFIER;
    value->scalar += token().text;
    Next();
    // A text without quotes: "resnet-50", "/models/x.onnx".
    while (may_go_on && IsAdjacent() && (is_path ? !IsNoValue() : Is("-") || Is(".") || Is("/"))) {
      AppendToken(&value->scalar);
    }
    return true;
  }

  // Takes a symbol and the word that follows it without a blank.
  void AppendToken(std::string* text) {
    *text += token().text;
    Next();
    const bool is_word = token().type == Tokenizer::TYPE_IDENTIFIER || IsNumber();
    if (!is_word || !IsAdjacent()) return;
    *text += token().text;
    Next();
  }

  const TextLines& lines_;
  NoErrors errors_;
  io::ArrayInputStream input_;
  Tokenizer tokenizer_;
  Tokenizer::Token token_;  // the tokenizer is one token ahead
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
