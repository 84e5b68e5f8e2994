// SPDX-License-Identifier: Apache-2.0
#include "config/rules/model_paths.h"

#include <filesystem>

namespace nereid::config::rules {

bool LeavesItsDirectory(std::string_view path) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return true;
  const std::filesystem::path normal = given.lexically_normal();
  return normal.begin() != normal.end() && *normal.begin() == "..";
}

}  // namespace nereid::config::rules
