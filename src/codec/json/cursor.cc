// SPDX-License-Identifier: Apache-2.0
#include "codec/json/cursor.h"

#include <cstring>

#include "base/json_text.h"

namespace nereid::codec::json {
namespace {

using base::Status;

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

char PlainEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

Status Cursor::SyntaxError(std::string_view what) const {
  std::string text(kSyntaxError);
  return Status::InvalidArgument(text.append(what).append(" at ") + std::to_string(p_ - begin_));
}

Status Cursor::Enter() {
  if (++depth_ > kMaxDepth) {
    return Status::InvalidArgument("JSON nesting depth exceeds maximum allowed limit (" +
                                   std::to_string(kMaxDepth) + ")");
  }
  ++p_;
  return Status::Ok();
}

Status Cursor::ReadKey(std::string_view* key, std::string* scratch) {
  if (Peek() != '"') return SyntaxError("Missing a name for object member.");
  NEREID_RETURN_IF_ERROR(ReadString(key, scratch));
  if (Peek() != ':') return SyntaxError("Missing a colon after a name of object member.");
  ++p_;
  return Status::Ok();
}

// The usual string has no escapes and is returned as a view of the text, without a copy.
Status Cursor::ReadString(std::string_view* value, std::string* scratch) {
  const char* const first = ++p_;
  p_ = base::FindJsonSpecial(p_, end_);
  if (p_ == end_) return SyntaxError("Missing a closing quotation mark in string.");
  if (*p_ == '"') {
    *value = {first, static_cast<size_t>(p_ - first)};
    ++p_;
    return Status::Ok();
  }
  if (*p_ != '\\') return SyntaxError("Invalid encoding in string.");
  scratch->assign(first, p_);
  NEREID_RETURN_IF_ERROR(ReadEscaped(p_, scratch));
  *value = *scratch;
  return Status::Ok();
}

Status Cursor::ReadEscaped(const char* first_escape, std::string* out) {
  p_ = first_escape;
  while (p_ != end_) {
    const char* const special = base::FindJsonSpecial(p_, end_);
    out->append(p_, special);
    p_ = special;
    if (p_ == end_) break;
    if (*p_ == '"') {
      ++p_;
      return Status::Ok();
    }
    if (*p_ != '\\') return SyntaxError("Invalid encoding in string.");
    if (++p_ == end_) break;
    if (*p_ != 'u') {
      const char plain = PlainEscape(*p_);
      if (plain == '\0') return SyntaxError("Invalid escape character in string.");
      *out += plain;
      ++p_;
      continue;
    }
    uint32_t code = 0;
    NEREID_RETURN_IF_ERROR(ReadHex4(&code));
    // A character above U+FFFF is written as two escapes, a high and then a low surrogate; either
    // one alone is an error.
    if (code >= 0xDC00 && code <= 0xDFFF) {
      return SyntaxError("The surrogate pair in string is invalid.");
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
      uint32_t low = 0;
      if (end_ - p_ < 2 || p_[0] != '\\' || p_[1] != 'u') {
        return SyntaxError("The surrogate pair in string is invalid.");
      }
      ++p_;
      NEREID_RETURN_IF_ERROR(ReadHex4(&low));
      if (low < 0xDC00 || low > 0xDFFF) {
        return SyntaxError("The surrogate pair in string is invalid.");
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(code, out);
  }
  return SyntaxError("Missing a closing quotation mark in string.");
}

// Reads four hexadecimal digits after the 'u' at the cursor.
Status Cursor::ReadHex4(uint32_t* code) {
  ++p_;
  *code = 0;
  for (int i = 0; i < 4; ++i, ++p_) {
    const char c = p_ == end_ ? '\0' : *p_;
    uint32_t digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return SyntaxError("Incorrect hex digit after \\u escape in string.");
    }
    *code = *code * 16 + digit;
  }
  return Status::Ok();
}

Status Cursor::ReadNumberValue(Number* number) {
  const char* const first = p_;
  p_ = ReadNumber(p_, end_, number);
  switch (number->kind) {
    case Number::Kind::kNotANumber:
      return SyntaxError("Invalid value.");
    case Number::Kind::kTooBig:
      p_ = first;
      return SyntaxError("Number too big to be stored in double.");
    case Number::Kind::kNoFraction:
      return SyntaxError("Miss fraction part in number.");
    case Number::Kind::kNoExponent:
      return SyntaxError("Miss exponent in number.");
    default:
      return Status::Ok();
  }
}

bool Cursor::ReadBool(bool* value) {
  const auto left = static_cast<size_t>(end_ - p_);
  if (left >= 4 && std::memcmp(p_, "true", 4) == 0) {
    *value = true;
    p_ += 4;
    return true;
  }
  if (left >= 5 && std::memcmp(p_, "false", 5) == 0) {
    *value = false;
    p_ += 5;
    return true;
  }
  return false;
}

bool Cursor::ReadNull() {
  if (Peek() != 'n' || end_ - p_ < 4 || std::memcmp(p_, "null", 4) != 0) return false;
  p_ += 4;
  return true;
}

Status Cursor::SkipValue() {
  switch (Peek()) {
    case '{':
      return ForEachMember([this](std::string_view) { return SkipValue(); });
    case '[':
      return ForEachElement([this] { return SkipValue(); });
    case '"': {
      std::string_view value;
      std::string scratch;
      return ReadString(&value, &scratch);
    }
    case 't':
    case 'f': {
      bool value;
      return ReadBool(&value) ? Status::Ok() : SyntaxError("Invalid value.");
    }
    case 'n':
      return ReadNull() ? Status::Ok() : SyntaxError("Invalid value.");
    default: {
      Number number;
      return ReadNumberValue(&number);
    }
  }
}

Status Cursor::ExpectEnd() {
  if (Peek() == '\0' && p_ == end_) return Status::Ok();
  return SyntaxError("The document root must not be followed by other values.");
}

Status WrongType(std::string_view name, std::string_view found, std::string_view wanted) {
  std::string text = "Unable to parse '";
  text.append(name).append("': attempt to access JSON non-").append(found);
  text.append(" as ").append(wanted);
  return Status::InvalidArgument(std::move(text));
}

Status MissingMember(std::string_view name) {
  std::string text = "Unable to parse '";
  text.append(name).append("': attempt to access non-existing object member '");
  text.append(name).append("'");
  return Status::InvalidArgument(std::move(text));
}

Status CheckIsObject(Cursor& cursor, std::string_view name) {
  if (cursor.Peek() == '{') return Status::Ok();
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  return WrongType(name, "object", "object");
}

Status ReadStringMember(Cursor& cursor, std::string_view name, std::string* value) {
  if (cursor.Peek() != '"') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return WrongType(name, "string", "string");
  }
  std::string_view view;
  std::string scratch;
  NEREID_RETURN_IF_ERROR(cursor.ReadString(&view, &scratch));
  value->assign(view);
  return Status::Ok();
}

Status ReadUnsignedMember(Cursor& cursor, std::string_view name, uint64_t* value) {
  const char c = cursor.Peek();
  if ((c < '0' || c > '9') && c != '-') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return WrongType(name, "unsigned-integer", "unsigned-integer");
  }
  Number number;
  NEREID_RETURN_IF_ERROR(cursor.ReadNumberValue(&number));
  const bool zero = number.kind == Number::Kind::kNegative && number.i == 0;  // "-0"
  if (number.kind != Number::Kind::kUnsigned && !zero) {
    return WrongType(name, "unsigned-integer", "unsigned-integer");
  }
  *value = zero ? 0 : number.u;
  return Status::Ok();
}

Status ReadBoolMember(Cursor& cursor, std::string_view name, bool* value) {
  cursor.Peek();
  if (cursor.ReadBool(value)) return Status::Ok();
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  return WrongType(name, "boolean", "boolean");
}

}  // namespace nereid::codec::json
