// SPDX-License-Identifier: Apache-2.0
// Bearer tokens have the form <name>.<secret>. The name finds the entry of the access file, so that
// one hash is computed for each request. The secret is made of 256 random bits: a fast hash
// suffices, because nobody can guess it from its hash.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::api {

inline constexpr size_t kMaxTokenName = 64;
inline constexpr size_t kMaxTokenSecret = 128;

/// HMAC-SHA-256 of a secret, with the salt as its key.
struct TokenHash {
  std::array<uint8_t, 16> salt{};
  std::array<uint8_t, 32> digest{};
};

/// The parts of a token; views of the text.
struct TokenParts {
  std::string_view name;
  std::string_view secret;
};

/// Returns whether a token may have this name: 1 to kMaxTokenName letters, digits, '-' and '_'.
bool IsTokenName(std::string_view name);

/// Returns the token of an Authorization field, "Bearer <name>.<secret>"; nothing if the field has
/// another form.
std::optional<TokenParts> ParseBearer(std::string_view field);

/// Returns whether `secret` has this hash. The time does not depend on where the bytes differ.
bool Matches(const TokenHash& hash, std::string_view secret);

/// Returns the hash in the form of the access file, "hmac-sha256:<salt>:<digest>" with hexadecimal
/// digits.
std::string FormatHash(const TokenHash& hash);
std::optional<TokenHash> ParseHash(std::string_view text);

struct NewToken {
  std::string text;  // what the client sends
  TokenHash hash;
};

/// Makes a token with a random secret. Returns INTERNAL if the system has no random bytes.
base::Result<NewToken> MakeToken(std::string_view name);

}  // namespace nereid::api
