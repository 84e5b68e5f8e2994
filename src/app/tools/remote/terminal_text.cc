// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/terminal_text.h"

#include <algorithm>
#include <cstdio>

#include "base/terminal.h"
#include "base/utf8.h"

namespace nereid::app::tools {
namespace {

/// The length in bytes of the character that begins with this byte of well-formed UTF-8.
size_t LengthOf(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

char32_t Decode(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return byte;
  char32_t code = byte & (0xffu >> (character.size() + 1));
  for (const char c : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  }
  return code;
}

/// Control characters of ASCII and Latin-1, line separators, and the characters of the Unicode
/// standard that reorder what is shown.
bool IsUnsafe(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string Escape(char32_t code) {
  char text[16];
  std::snprintf(text, sizeof(text), code < 0x100 ? "\\x%02x" : "\\u%04x",
                static_cast<unsigned>(code));
  return text;
}
}  // namespace

std::string TerminalText(std::string_view text, size_t max_characters) {
  // A character has four bytes at most; the rest need not be looked at.
  const bool is_long = text.size() > 4 * max_characters;
  const std::string whole = base::ReplaceInvalidUtf8(text.substr(0, 4 * max_characters));
  std::string safe;
  size_t count = 0;
  for (size_t at = 0; at < whole.size(); ++count) {
    if (count == max_characters) return safe + "...";
    const std::string_view character = std::string_view(whole).substr(at, LengthOf(whole[at]));
    at += character.size();
    const char32_t code = Decode(character);
    if (code == '\n') {
      safe += "\\n";
    } else if (IsUnsafe(code)) {
      safe += Escape(code);
    } else {
      safe += character;
    }
  }
  return is_long ? safe + "..." : safe;
}

std::string ByteText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string Columns(const std::vector<std::vector<std::string>>& rows, size_t max_columns) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], base::CharacterCount(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - base::CharacterCount(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += base::CutTo(line, max_columns) + "\n";
  }
  return text;
}

}  // namespace nereid::app::tools
