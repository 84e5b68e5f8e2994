// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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
  // The first line that differs says it; the files are long.
  const auto differ = std::mismatch(text.begin(), text.end(), golden->begin(), golden->end());
  const auto line = [](const std::string& all, auto at) {
    const size_t offset = static_cast<size_t>(at - all.begin());
    const size_t begin = offset == 0 ? 0 : all.rfind('\n', offset - 1) + 1;
    return all.substr(begin, all.find('\n', offset) - begin);
  };
  EXPECT_TRUE(text == *golden)
      << path << " has\n  " << line(*golden, differ.second) << "\nand now it would be\n  "
      << line(text, differ.first)
      << "\nIf this is intended, run the test with NEREID_UPDATE_GOLDEN=1.";
}

}  // namespace nereid::app::tools
