// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "codec/json/number_text.h"
#include "memory/host_buffer.h"

namespace nereid::codec::json {

/// A growing text. Its memory is not initialized and is kept by Clear. When memory is short, the
/// text stops growing and ok() returns false. Not thread-safe.
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

  /// Clears the text and frees the memory if it has more than `keep` bytes.
  void ClearAndShrink(size_t keep) {
    Clear();
    if (buffer_.size() > keep) buffer_.Reset();
  }

  /// Returns space for `room` more bytes, to be filled and then added with Commit; null when memory
  /// is short.
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

  /// Appends `text` as a JSON string with quotes. Escapes control characters, quotes and
  /// backslashes. U+FFFD replaces bytes that are not UTF-8, as in base::AppendJsonQuoted().
  TextBuffer& AppendQuoted(std::string_view text);

 private:
  bool Grow(size_t room);  // not inline: rarely called, and large
  void AppendEscaped(std::string_view text);

  memory::HostBuffer buffer_;
  size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace nereid::codec::json
