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

/// 64 lower-case hexadecimal digits.
std::string ToHex(const Digest& digest);

/// Computes the SHA-256 of a sequence of fields. Every field of variable length is preceded by its
/// length, so that two sequences of the same kinds of fields give the same bytes only if they are
/// equal; lists must be preceded by their count, with Number(). For one thread.
///
/// Why a cryptographic hash: whoever can send requests chooses what is hashed. With a hash whose
/// collisions can be made, one client could prepare the answer that another one gets.
class DigestWriter {
 public:
  DigestWriter();
  ~DigestWriter();
  DigestWriter(const DigestWriter&) = delete;
  DigestWriter& operator=(const DigestWriter&) = delete;

  void Number(uint64_t value);        // eight bytes, least significant first
  void Text(std::string_view value);  // its length, then its bytes
  /// Bytes whose length the caller has written.
  void Raw(const void* data, size_t size);

  /// The digest of all that was written; nothing where the library failed.
  std::optional<Digest> Finish();

 private:
  void Flush();

  evp_md_ctx_st* context_;  // null once something failed
  std::string small_;       // collected so that short fields do not each cost a call
};

}  // namespace nereid::cache
