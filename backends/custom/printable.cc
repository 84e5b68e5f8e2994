// SPDX-License-Identifier: Apache-2.0
#include "custom/printable.h"

#include <google/protobuf/stubs/common.h>

namespace nereid::custom {

std::string Printable(std::string_view text) {
  if (google::protobuf::internal::IsStructurallyValidUTF8(text.data(),
                                                          static_cast<int>(text.size()))) {
    return std::string(text);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      printable += c;
    } else {
      printable += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return printable;
}

}  // namespace nereid::custom
