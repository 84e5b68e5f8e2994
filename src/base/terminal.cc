// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>

namespace nereid::base {
namespace {

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

size_t TerminalColumns(int descriptor) {
  winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t CharacterCount(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string CutTo(std::string_view text, size_t max_characters) {
  if (max_characters == 0 || CharacterCount(text) <= max_characters) return std::string(text);
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && ++count == max_characters) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace nereid::base
