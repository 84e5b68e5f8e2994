// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.h"

namespace nereid::app::tools {

inline std::string SourceDirectory() {
  const char* source = std::getenv("NEREID_SOURCE_DIR");
  return source == nullptr ? "." : source;
}

/// Compares with a file; with NEREID_UPDATE_GOLDEN=1 in the environment writes it first.
inline void ExpectGolden(const std::string& path, const std::string& text) {
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  const auto golden = base::ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_EQ(text, *golden) << "if this is intended: NEREID_UPDATE_GOLDEN=1";
}

}  // namespace nereid::app::tools
