// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/utf8.h"
#include "codec/json/number_text.h"
#include "memory/host_buffer.h"

namespace nereid::codec::json {

/// Text under construction: grows, is never initialised, keeps its memory when cleared. When
/// memory runs out the text stops growing and ok() is false.
class TextBuffer {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }
  const char* data() const { return buffer_.data(); }
  size_t size() const { return size_; }
  bool ok() const { return ok_; }

  void Clear() {
    size_ = 0;
    ok_ = true;
  }

  /// Gives the memory back if it is more than `keep` bytes.
  void ClearAndShrink(size_t keep) {
    Clear();
    if (buffer_.size() > keep) buffer_.Reset();
  }

  /// Room for `room` more bytes, to be filled and then taken with Commit; null without memory.
  char* Room(size_t room) {
    if (buffer_.size() - size_ < room && !Grow(room)) return nullptr;
    return buffer_.data() + size_;
  }
  void Commit(const char* end) { size_ = static_cast<size_t>(end - buffer_.data()); }

  TextBuffer& operator<<(std::string_view text) {
    if (char* to = Room(text.size())) {
      if (!text.empty()) std::memcpy(to, text.data(), text.size());
      size_ += text.size();
    }
    return *this;
  }
  TextBuffer& operator<<(char c) { return *this << std::string_view(&c, 1); }

  template <typename Integer>
  TextBuffer& AppendInteger(Integer value) {
    if (char* to = Room(kNumberRoom)) Commit(WriteInteger(value, to));
    return *this;
  }
  TextBuffer& AppendDouble(double value) {
    if (char* to = Room(kNumberRoom)) Commit(WriteDouble(value, to));
    return *this;
  }

  /// `text` as a JSON string with its quotes. Control characters, quotes and backslashes are
  /// escaped; other bytes stay as they are, whether they are UTF-8 or not.
  TextBuffer& AppendQuoted(std::string_view text);

  /// The same for a message of the server's own, which a plug-in or a file may have a part in:
  /// bytes that are no UTF-8 become U+FFFD.
  TextBuffer& AppendMessage(std::string_view text) {
    return AppendQuoted(base::ReplaceInvalidUtf8(text));
  }

 private:
  bool Grow(size_t room);  // not inline: rare, and large

  memory::HostBuffer buffer_;
  size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace nereid::codec::json
