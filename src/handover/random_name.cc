// SPDX-License-Identifier: Apache-2.0
#include "handover/random_name.h"

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "base/hex_text.h"

namespace nereid::handover {

base::Result<std::string> RandomName() {
  std::array<uint8_t, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return base::Status::Internal("the system has no random bytes");
  }
  return base::HexText(bytes);
}

bool IsSameSecret(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (one[i] ^ other[i]));
  }
  return difference == 0;
}

}  // namespace nereid::handover
