// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace nereid::base {

/// Appends a JSON document (RFC 8259) without white space to a string, and writes the commas and
/// quotes. The caller closes what it opens, and gives each value in an object a key. Not
/// thread-safe.
class JsonWriter {
 public:
  /// `out` must outlive the object.
  explicit JsonWriter(std::string* out) : out_(out) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  /// Writes the key of the next value.
  JsonWriter& Key(std::string_view key) {
    Separate();
    AppendJsonQuoted(key, out_);
    *out_ += ':';
    comma_ = false;
    return *this;
  }

  JsonWriter& String(std::string_view text) {
    Separate();
    AppendJsonQuoted(text, out_);
    return *this;
  }

  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& Integer(T value) {
    char text[24];
    const auto written = std::to_chars(text, text + sizeof(text), value);
    return Raw({text, written.ptr});
  }

  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }

  /// Writes a value that is JSON already.
  JsonWriter& Raw(std::string_view json) {
    Separate();
    *out_ += json;
    return *this;
  }

  /// Begins a new line before the next key, value or end, after its comma.
  JsonWriter& NewLine() {
    new_line_ = true;
    return *this;
  }

  /// Writes an object of strings.
  template <typename Map>
  JsonWriter& StringMap(const Map& map) {
    BeginObject();
    for (const auto& [key, value] : map) Key(key).String(value);
    return EndObject();
  }

 private:
  void Separate() {
    if (comma_) *out_ += ',';
    if (new_line_) *out_ += '\n';
    comma_ = true;
    new_line_ = false;
  }
  JsonWriter& Begin(char bracket) {
    Separate();
    *out_ += bracket;
    comma_ = false;
    return *this;
  }
  JsonWriter& End(char bracket) {
    comma_ = false;
    Separate();
    *out_ += bracket;
    return *this;
  }

  std::string* out_;
  bool comma_ = false;     // the next key or value of this object or array follows another
  bool new_line_ = false;  // requested by NewLine
};

}  // namespace nereid::base
