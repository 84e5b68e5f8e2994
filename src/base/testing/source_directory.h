// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace nereid::base::testing {

/// Returns the root of the source tree: the environment variable NEREID_SOURCE_DIR, which CTest
/// sets, or the working directory.
inline std::string SourceDirectory() {
  const char* const source = std::getenv("NEREID_SOURCE_DIR");
  return source == nullptr ? "." : source;
}

}  // namespace nereid::base::testing
