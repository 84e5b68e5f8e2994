// SPDX-License-Identifier: Apache-2.0
#include "checksum/checksum.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>

namespace nereid::checksum {
namespace {

namespace fs = std::filesystem;

std::string Lowercase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns the MD5 hash of a file in lowercase hexadecimal digits. Returns an empty string and sets
/// `error` if the file cannot be read.
std::string Md5Of(const fs::path& path, std::string* error) {
  std::ifstream in(path, std::ios::binary);
  if (!in || !fs::is_regular_file(path)) {
    *error = "failed to open file " + path.string();
    return "";
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1;
  std::vector<char> chunk(size_t{1} << 20);
  while (good && in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    good = EVP_DigestUpdate(context.get(), chunk.data(), static_cast<size_t>(in.gcount())) == 1;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!good || in.bad() || EVP_DigestFinal_ex(context.get(), digest, &size) != 1) {
    *error = "failed to read file " + path.string();
    return "";
  }
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

bool LeavesDirectory(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.is_absolute() || normal.empty() || *normal.begin() == "..";
}

std::string CheckFile(const fs::path& directory, const std::string& key,
                      const std::string& expected) {
  const size_t colon = key.find(':');
  if (colon == std::string::npos) return "failed to parse key: " + key;
  const std::string algorithm = key.substr(0, colon), file = key.substr(colon + 1);
  if (Lowercase(algorithm) != "md5") return "Unsupported checksum algorithm: " + algorithm;
  if (LeavesDirectory(file)) return "file '" + file + "' is outside the model directory";
  std::string error;
  const std::string found = Md5Of(directory / file, &error);
  if (!error.empty()) return error;
  if (found == Lowercase(expected)) return "";
  return "Mismatched MD5 hash for file " + file + ", expect: " + expected + ", got: " + found;
}

}  // namespace

std::string CheckFiles(const std::string& model_directory, const Parameters& parameters) {
  for (const auto& [key, expected] : parameters) {
    std::string failure = CheckFile(model_directory, key, expected);
    if (!failure.empty()) return failure;
  }
  return "";
}

}  // namespace nereid::checksum
