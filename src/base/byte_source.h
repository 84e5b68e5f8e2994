// SPDX-License-Identifier: Apache-2.0
// Reads of a few bytes from large files, which may change or be cut off meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::base {

/// Bytes that can be read in any order. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Returns `count` bytes from `offset`, or fewer at the end and after an error.
  virtual std::string Read(uint64_t offset, size_t count) const = 0;
};

/// Opens a regular file. NOT_FOUND with the reason if it cannot be opened. Reads of a file that was
/// cut off meanwhile return fewer bytes.
Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path);

/// The bytes of a string, which must outlive the object.
class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  std::string Read(uint64_t offset, size_t count) const override {
    return offset > bytes_.size() ? std::string() : std::string(bytes_.substr(offset, count));
  }

 private:
  std::string_view bytes_;
};

}  // namespace nereid::base
