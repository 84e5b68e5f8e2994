// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "codec/json/number_text.h"

namespace nereid::codec::json {

/// The beginning of the message of a syntax error.
inline constexpr std::string_view kSyntaxError = "failed to parse the request JSON buffer: ";

/// The maximum nesting depth of arrays and objects.
inline constexpr int kMaxDepth = 100;

/// Reads JSON text from left to right, one value at a time, without building a document: values go
/// directly to their destination. Accepts the literals NaN and Infinity and strings that are not
/// UTF-8, as Triton does. Syntax errors are INVALID_ARGUMENT "<kSyntaxError><what> at <offset>".
/// The text must outlive the cursor and the views that it returns. Not thread-safe.
class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()), p_(text.data()), end_(text.data() + text.size()) {}

  /// Returns the first character of the next value, or '\0' at the end of the text.
  char Peek() {
    SkipSpace();
    return p_ == end_ ? '\0' : *p_;
  }
  const char* position() const { return p_; }
  const char* end() const { return end_; }
  /// Moves to a position that was read before, at the same nesting depth.
  void MoveTo(const char* position) { p_ = position; }

  /// Reads the string at the cursor; Peek() must be '"'. The view is into the text or, if the
  /// string has escapes, into `scratch`.
  base::Status ReadString(std::string_view* value, std::string* scratch);

  /// Reads the number, or the literal NaN, Infinity or Inf, at the cursor.
  base::Status ReadNumberValue(Number* number);

  /// Reads true or false at the cursor and returns true. Returns false, and reads nothing, for
  /// anything else.
  bool ReadBool(bool* value);

  /// Reads null at the cursor and returns true. Returns false, and reads nothing, for anything
  /// else. An optional member with this value counts as absent.
  bool ReadNull();

  /// Checks a value of any type and skips it.
  base::Status SkipValue();

  /// Calls `visit(key)` for each member of the object at the cursor. The cursor is at the member's
  /// value then, which `visit` must read. Peek() must be '{'. `key` is valid until `visit` returns.
  template <typename Visit>
  base::Status ForEachMember(Visit&& visit);

  /// Calls `visit()` for each element of the array at the cursor; Peek() must be '['.
  template <typename Visit>
  base::Status ForEachElement(Visit&& visit);

  /// Returns an error unless only white space is left.
  base::Status ExpectEnd();

  base::Status SyntaxError(std::string_view what) const;

 private:
  friend class DataReader;

  void SkipSpace() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }
  base::Status Enter();
  base::Status ReadKey(std::string_view* key, std::string* scratch);
  base::Status ReadEscaped(const char* first_escape, std::string* out);
  base::Status ReadHex4(uint32_t* code);

  const char* begin_;
  const char* p_;
  const char* end_;
  int depth_ = 0;
};

template <typename Visit>
base::Status Cursor::ForEachMember(Visit&& visit) {
  NEREID_RETURN_IF_ERROR(Enter());
  if (Peek() == '}') {
    ++p_;
    --depth_;
    return base::Status::Ok();
  }
  std::string scratch;
  while (true) {
    std::string_view key;
    NEREID_RETURN_IF_ERROR(ReadKey(&key, &scratch));
    NEREID_RETURN_IF_ERROR(visit(key));
    const char next = Peek();
    if (next != ',' && next != '}') {
      return SyntaxError("Missing a comma or } after an object member.");
    }
    ++p_;
    if (next == '}') break;
  }
  --depth_;
  return base::Status::Ok();
}

template <typename Visit>
base::Status Cursor::ForEachElement(Visit&& visit) {
  NEREID_RETURN_IF_ERROR(Enter());
  if (Peek() == ']') {
    ++p_;
    --depth_;
    return base::Status::Ok();
  }
  while (true) {
    NEREID_RETURN_IF_ERROR(visit());
    const char next = Peek();
    if (next != ',' && next != ']') {
      return SyntaxError("Missing a comma or ] after an array element.");
    }
    ++p_;
    if (next == ']') break;
  }
  --depth_;
  return base::Status::Ok();
}

/// Returns INVALID_ARGUMENT for a value of the wrong type: "Unable to parse '<name>': attempt to
/// access JSON non-<found> as <wanted>".
base::Status WrongType(std::string_view name, std::string_view found, std::string_view wanted);

/// Returns INVALID_ARGUMENT "Unable to parse '<name>': attempt to access non-existing object member
/// '<name>'".
base::Status MissingMember(std::string_view name);

/// Returns an error unless an object is at the cursor, which stays before it.
base::Status CheckIsObject(Cursor& cursor, std::string_view name);

// Read the value at the cursor, which must be of that type; `name` is for the error.
base::Status ReadStringMember(Cursor& cursor, std::string_view name, std::string* value);
base::Status ReadUnsignedMember(Cursor& cursor, std::string_view name, uint64_t* value);
base::Status ReadBoolMember(Cursor& cursor, std::string_view name, bool* value);

}  // namespace nereid::codec::json
