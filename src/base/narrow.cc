// SPDX-License-Identifier: Apache-2.0
#include "base/narrow.h"

#include <string>

namespace nereid::base {

Status OutOfRange(std::string_view subject, std::string_view value, std::string_view type) {
  constexpr size_t kMaxShown = 40;
  std::string text(subject);
  text.append(" has the value ").append(value.substr(0, kMaxShown));
  if (value.size() > kMaxShown) text += "...";
  return Status::InvalidArgument(text.append(", which ").append(type).append(" cannot hold"));
}

}  // namespace nereid::base
