// SPDX-License-Identifier: Apache-2.0
#include "api/access/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <span>

#include "base/ascii_case.h"
#include "base/hex_text.h"

namespace nereid::api {
namespace {

constexpr std::string_view kHashKind = "hmac-sha256:";
constexpr size_t kSecretBytes = 32;

bool IsWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_';
}

bool IsWord(std::string_view text, size_t max_size) {
  return !text.empty() && text.size() <= max_size &&
         std::all_of(text.begin(), text.end(), IsWordCharacter);
}

/// Returns base64 for URLs (RFC 4648, section 5), without padding.
std::string Base64Url(std::span<const uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock adds a NUL
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

bool Digest(const std::array<uint8_t, 16>& salt, std::string_view secret,
            std::array<uint8_t, 32>* digest) {
  unsigned int size = 0;
  return HMAC(EVP_sha256(), salt.data(), static_cast<int>(salt.size()),
              reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), digest->data(),
              &size) != nullptr &&
         size == digest->size();
}

}  // namespace

bool IsTokenName(std::string_view name) { return IsWord(name, kMaxTokenName); }

std::optional<TokenParts> ParseBearer(std::string_view field) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!base::EqualsIgnoringCase(field.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  field.remove_prefix(kScheme.size());
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  const size_t dot = field.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const TokenParts parts = {field.substr(0, dot), field.substr(dot + 1)};
  if (!IsTokenName(parts.name) || !IsWord(parts.secret, kMaxTokenSecret)) return std::nullopt;
  return parts;
}

bool Matches(const TokenHash& hash, std::string_view secret) {
  std::array<uint8_t, 32> digest;
  return Digest(hash.salt, secret, &digest) &&
         CRYPTO_memcmp(digest.data(), hash.digest.data(), digest.size()) == 0;
}

std::string FormatHash(const TokenHash& hash) {
  return std::string(kHashKind) + base::HexText(hash.salt) + ":" + base::HexText(hash.digest);
}

std::optional<TokenHash> ParseHash(std::string_view text) {
  if (!text.starts_with(kHashKind)) return std::nullopt;
  text.remove_prefix(kHashKind.size());
  const size_t colon = text.find(':');
  TokenHash hash;
  if (colon == std::string_view::npos || !base::ParseHexText(text.substr(0, colon), hash.salt) ||
      !base::ParseHexText(text.substr(colon + 1), hash.digest)) {
    return std::nullopt;
  }
  return hash;
}

base::Result<NewToken> MakeToken(std::string_view name) {
  NewToken token;
  std::array<uint8_t, kSecretBytes> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1 ||
      RAND_bytes(token.hash.salt.data(), static_cast<int>(token.hash.salt.size())) != 1) {
    return base::Status::Internal("the system provides no random bytes");
  }
  const std::string secret = Base64Url(random);
  if (!Digest(token.hash.salt, secret, &token.hash.digest)) {
    return base::Status::Internal("the hash of the token cannot be computed");
  }
  token.text = std::string(name) + "." + secret;
  return token;
}

}  // namespace nereid::api
