// SPDX-License-Identifier: Apache-2.0
// Hashes, signatures and base64, by OpenSSL. The results are bytes, except where "text" is said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::repository::storage {

std::string Sha256(std::string_view data);
std::string HmacSha256(std::string_view key, std::string_view data);

/// Returns lower-case hexadecimal digits as text.
std::string HexOf(std::string_view bytes);

/// Returns base64 as text (RFC 4648, section 4; with padding).
std::string Base64(std::string_view bytes);
/// Returns base64 as text for URLs (RFC 4648, section 5; without padding).
std::string Base64Url(std::string_view bytes);
/// Returns the bytes of a base64 text, or nothing if it is none. Blanks at the ends are ignored.
std::optional<std::string> DecodeBase64(std::string_view text);

/// Signs with RSASSA-PKCS1-v1_5 and SHA-256 (RS256 of RFC 7518). `key` is a private key in PEM
/// without a passphrase. INVALID_ARG, without a part of the key, if it is not that.
base::Result<std::string> SignRs256(std::string_view key, std::string_view data);

}  // namespace nereid::repository::storage
