// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <string_view>

#include "abi/message.h"

namespace nereid::abi {
namespace {

constexpr int kMaxDepth = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Checks the form of one JSON document (RFC 8259) by recursive descent, without storing any value.
/// Each function that reads a value expects the position at its first character.
class FormReader {
 public:
  explicit FormReader(std::string_view text) : text_(text) {}

  base::Status Read() {
    NEREID_RETURN_IF_ERROR(Value(1));
    SkipSpace();
    return at_ == text_.size() ? base::Status::Ok() : Fail("text after the end of the document");
  }

 private:
  base::Status Fail(std::string_view what) const {
    return base::Status::InvalidArgument("failed to parse JSON at byte " + std::to_string(at_) +
                                         ": " + std::string(what));
  }

  void SkipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  size_t TakeDigits() {
    const size_t start = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ - start;
  }

  base::Status Value(int depth) {
    SkipSpace();
    if (at_ == text_.size()) return Fail("a value is missing");
    switch (text_[at_]) {
      case '{':
        return Members(depth);
      case '[':
        return Elements(depth);
      case '"':
        return String();
      case 't':
        return TakeWord("true") ? base::Status::Ok() : Fail("a value is expected");
      case 'f':
        return TakeWord("false") ? base::Status::Ok() : Fail("a value is expected");
      case 'n':
        return TakeWord("null") ? base::Status::Ok() : Fail("a value is expected");
      default:
        return Number();
    }
  }

  base::Status Members(int depth) {
    if (depth > kMaxDepth) return Fail("nested more than 200 deep");
    ++at_;
    SkipSpace();
    if (Take('}')) return base::Status::Ok();
    for (;;) {
      SkipSpace();
      if (at_ == text_.size() || text_[at_] != '"') return Fail("a member's name is expected");
      NEREID_RETURN_IF_ERROR(String());
      SkipSpace();
      if (!Take(':')) return Fail("':' is expected");
      NEREID_RETURN_IF_ERROR(Value(depth + 1));
      SkipSpace();
      if (Take('}')) return base::Status::Ok();
      if (!Take(',')) return Fail("',' or '}' is expected");
    }
  }

  base::Status Elements(int depth) {
    if (depth > kMaxDepth) return Fail("nested more than 200 deep");
    ++at_;
    SkipSpace();
    if (Take(']')) return base::Status::Ok();
    for (;;) {
      NEREID_RETURN_IF_ERROR(Value(depth + 1));
      SkipSpace();
      if (Take(']')) return base::Status::Ok();
      if (!Take(',')) return Fail("',' or ']' is expected");
    }
  }

  base::Status String() {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return Fail("a control character in a string");
      ++at_;
      if (c == '"') return base::Status::Ok();
      if (c == '\\') NEREID_RETURN_IF_ERROR(Escape());
    }
    return Fail("a string does not end");
  }

  base::Status Escape() {
    if (at_ == text_.size()) return Fail("a string does not end");
    const char c = text_[at_];
    if (c != 'u') {
      if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
        return Fail("an unknown escape in a string");
      }
      ++at_;
      return base::Status::Ok();
    }
    ++at_;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ == text_.size() || !IsHexDigit(text_[at_])) {
        return Fail("four hexadecimal digits are expected");
      }
    }
    return base::Status::Ok();
  }

  base::Status Number() {
    Take('-');
    if (!Take('0') && TakeDigits() == 0) return Fail("a value is expected");
    if (Take('.') && TakeDigits() == 0) return Fail("a digit is expected");
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      if (TakeDigits() == 0) return Fail("a digit is expected");
    }
    return base::Status::Ok();
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

base::Status CheckJson(std::string_view text) { return FormReader(text).Read(); }

}  // namespace nereid::abi
