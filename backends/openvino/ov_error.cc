// SPDX-License-Identifier: Apache-2.0
#include "openvino/ov_error.h"

namespace nereid::openvino {

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of("\n \t");
  if (end == std::string::npos) {
    return "";
  }
  const size_t newline = text.find_last_of('\n', end);
  const size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

}  // namespace nereid::openvino
