// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace nereid::cache {

/// A SHA-256 value.
using Digest = std::array<unsigned char, 32>;

/// Returns 64 lower-case hexadecimal digits.
std::string ToHex(const Digest& digest);

/// Computes the SHA-256 of a sequence of fields. Every field of variable length is preceded by its
/// length, and every list must be preceded by its count (Number()), so that different sequences of
/// the same kinds of fields give different bytes. Not thread-safe.
///
/// A cryptographic hash is needed because clients choose what is hashed. With a hash for which
/// collisions can be constructed, one client could prepare the response that another one gets.
class DigestWriter {
 public:
  DigestWriter();
  ~DigestWriter();
  DigestWriter(const DigestWriter&) = delete;
  DigestWriter& operator=(const DigestWriter&) = delete;

  void Number(uint64_t value);        // writes eight bytes, least significant first
  void Text(std::string_view value);  // writes the length, then the bytes
  /// Writes bytes whose number the caller has written.
  void Raw(const void* data, size_t size);

  /// Returns the digest of all fields, or nothing if the cryptographic library failed.
  std::optional<Digest> Finish();

 private:
  void Flush();

  evp_md_ctx_st* context_;  // null after a failure
  std::string small_;       // short fields, collected to save calls of the library
};

}  // namespace nereid::cache
