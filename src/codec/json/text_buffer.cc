// SPDX-License-Identifier: Apache-2.0
#include "codec/json/text_buffer.h"

#include <utility>

#include "base/json_text.h"

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
  return *this << '"';
}

}  // namespace nereid::codec::json
