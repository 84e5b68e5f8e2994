// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::mirror {

/// The digests of a file's content.
struct ContentDigest {
  std::string sha256;    // 64 lower-case hexadecimal digits
  uint64_t size = 0;     // bytes that were read
  std::string checksum;  // as ObjectChecksum::bytes; empty unless asked for
};

/// Reads a file from its beginning to its end and returns its digests. INTERNAL if it cannot be
/// read.
base::Result<ContentDigest> DigestFile(
    const std::string& path, std::optional<storage::ObjectChecksum::Kind> checksum = std::nullopt);

/// Returns the SHA-256 of a text as 64 lower-case hexadecimal digits.
std::string Sha256Text(std::string_view text);

/// Returns whether a text has the form of a SHA-256: 64 lower-case hexadecimal digits.
bool IsSha256Text(std::string_view text);

/// Continues a CRC-32C (Castagnoli, RFC 3720) with further bytes; begins with 0.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace nereid::repository::mirror
