// SPDX-License-Identifier: Apache-2.0
#include "codec/json/text_buffer.h"

#include <utility>

#include "codec/json/plain_text.h"

namespace nereid::codec::json {
namespace {

char* WriteEscape(char c, char* out) {
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

}  // namespace

bool TextBuffer::Grow(size_t room) {
  if (!ok_) return false;
  const size_t wanted = std::max({size_ + room, buffer_.size() * 2, size_t{1024}});
  memory::HostBuffer bigger = memory::HostBuffer::Allocate(wanted);
  if (!bigger) {
    ok_ = false;
    return false;
  }
  if (size_ != 0) std::memcpy(bigger.data(), buffer_.data(), size_);
  buffer_ = std::move(bigger);
  return true;
}

TextBuffer& TextBuffer::AppendQuoted(std::string_view text) {
  *this << '"';
  while (!text.empty()) {
    const char* const special = FindSpecial(text.data(), text.data() + text.size());
    const auto plain = static_cast<size_t>(special - text.data());
    *this << text.substr(0, plain);
    text.remove_prefix(plain);
    // Handles a run of special characters at a time, because binary data is full of them.
    size_t run = 0;
    while (run < text.size() && NeedsEscape(text[run])) ++run;
    if (char* to = Room(run * 6)) {
      for (size_t i = 0; i < run; ++i) to = WriteEscape(text[i], to);
      Commit(to);
    }
    text.remove_prefix(run);
  }
  return *this << '"';
}

}  // namespace nereid::codec::json
