// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.h"
#include "base/testing/source_directory.h"

namespace nereid::app::tools {

using base::testing::SourceDirectory;

/// Compares `text` with the file. With NEREID_UPDATE_GOLDEN=1 in the environment writes the file
/// first.
inline void ExpectGolden(const std::string& path, const std::string& text) {
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  const auto golden = base::ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  // The message shows only the first line that differs, because the files are long.
  const auto differ = std::mismatch(text.begin(), text.end(), golden->begin(), golden->end());
  const auto line = [](const std::string& all, auto at) {
    const size_t offset = static_cast<size_t>(at - all.begin());
    const size_t begin = offset == 0 ? 0 : all.rfind('\n', offset - 1) + 1;
    return all.substr(begin, all.find('\n', offset) - begin);
  };
  EXPECT_TRUE(text == *golden)
      << path << " has\n  " << line(*golden, differ.second) << "\nbut the test produced\n  "
      << line(text, differ.first)
      << "\nIf this is intended, run the test with NEREID_UPDATE_GOLDEN=1.";
}

}  // namespace nereid::app::tools
