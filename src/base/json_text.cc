// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include "base/utf8.h"

namespace nereid::base {

char* WriteJsonEscape(char c, char* out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  *out++ = '\\';
  switch (c) {
    case '"':
    case '\\':
      *out++ = c;
      return out;
    case '\b':
      *out++ = 'b';
      return out;
    case '\f':
      *out++ = 'f';
      return out;
    case '\n':
      *out++ = 'n';
      return out;
    case '\r':
      *out++ = 'r';
      return out;
    case '\t':
      *out++ = 't';
      return out;
    default:
      std::memcpy(out, "u00", 3);
      out[3] = kHex[(c >> 4) & 0xF];
      out[4] = kHex[c & 0xF];
      return out + 5;
  }
}

namespace {

/// Appends `text`, which is UTF-8.
void AppendEscaped(std::string_view text, std::string* out) {
  while (true) {
    const char* const end = text.data() + text.size();
    const char* const special = FindJsonSpecial(text.data(), end);
    out->append(text.data(), special);
    if (special == end) break;
    char escape[kMaxJsonEscape];
    out->append(escape, WriteJsonEscape(*special, escape));
    text.remove_prefix(static_cast<size_t>(special - text.data()) + 1);
  }
}

}  // namespace

void AppendJsonQuoted(std::string_view text, std::string* out) {
  *out += '"';
  while (true) {
    const size_t valid = ValidUtf8Prefix(text);
    AppendEscaped(text.substr(0, valid), out);
    if (valid == text.size()) break;
    *out += kReplacementCharacter;
    text.remove_prefix(valid + 1);
  }
  *out += '"';
}

std::string JsonQuote(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  AppendJsonQuoted(text, &quoted);
  return quoted;
}

}  // namespace nereid::base
