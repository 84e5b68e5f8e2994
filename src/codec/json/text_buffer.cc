// SPDX-License-Identifier: Apache-2.0
#include "codec/json/text_buffer.h"

#include <utility>

#include "base/json_text.h"
#include "base/utf8.h"

namespace nereid::codec::json {

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
  while (true) {
    const size_t valid = base::ValidUtf8Prefix(text);
    AppendEscaped(text.substr(0, valid));
    if (valid == text.size()) break;
    *this << base::kReplacementCharacter;
    text.remove_prefix(valid + 1);
  }
  return *this << '"';
}

void TextBuffer::AppendEscaped(std::string_view text) {
  while (!text.empty()) {
    const char* const special = base::FindJsonSpecial(text.data(), text.data() + text.size());
    const auto plain = static_cast<size_t>(special - text.data());
    *this << text.substr(0, plain);
    text.remove_prefix(plain);
    // Handles a run of special characters at a time, because binary data is full of them.
    size_t run = 0;
    while (run < text.size() && base::NeedsJsonEscape(text[run])) ++run;
    if (char* to = Room(run * base::kMaxJsonEscape)) {
      for (size_t i = 0; i < run; ++i) to = base::WriteJsonEscape(text[i], to);
      Commit(to);
    }
    text.remove_prefix(run);
  }
}

}  // namespace nereid::codec::json
