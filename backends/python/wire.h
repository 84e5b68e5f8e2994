// SPDX-License-Identifier: Apache-2.0
#pragma once

// The units of the protocol between server and worker: little-endian numbers without padding, and
// texts after their length. backends/python/README.md describes the messages.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace nereid::python {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied to and from messages as they are in memory");

using Bytes = std::span<const char>;

/// Appends the units of a message to a buffer.
class WireWriter {
 public:
  explicit WireWriter(std::vector<char>* out) : out_(*out) {}

  template <typename T>
  requires std::integral<T> || std::floating_point<T>
  void Number(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    out_.insert(out_.end(), bytes, bytes + sizeof(T));
  }

  void Raw(std::string_view text) { out_.insert(out_.end(), text.begin(), text.end()); }

  /// Writes the length of a text in 4 bytes, and the text.
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    Raw(text);
  }

  /// Overwrites the number at `offset`, which has been written before.
  template <std::integral T>
  void Patch(size_t offset, T value) {
    std::memcpy(out_.data() + offset, &value, sizeof(value));
  }

  size_t size() const { return out_.size(); }

 private:
  std::vector<char>& out_;
};

/// Reads the units of a message from a peer that is not trusted. After the first unit that the
/// message is too short for, every unit is 0 or empty and ok() is false.
class WireReader {
 public:
  explicit WireReader(Bytes bytes) : rest_(bytes) {}

  template <typename T>
  requires std::integral<T> || std::floating_point<T> T Number() {
    T value{};
    if (const Bytes bytes = Raw(sizeof(T)); !bytes.empty()) {
      std::memcpy(&value, bytes.data(), sizeof(T));
    }
    return value;
  }

  Bytes Raw(uint64_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const Bytes bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }

  std::string_view RawText(uint64_t size) {
    const Bytes bytes = Raw(size);
    return {bytes.data(), bytes.size()};
  }

  std::string_view Text() { return RawText(Number<uint32_t>()); }

  bool ok() const { return ok_; }
  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
  bool ok_ = true;
};

}  // namespace nereid::python
