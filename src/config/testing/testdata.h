// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/testing/source_directory.h"

namespace nereid::config {

/// Returns the path of src/config/testdata/<name>.
inline std::string TestData(const std::string& name) {
  return base::testing::SourceDirectory() + "/src/config/testdata/" + name;
}

/// Returns the names of the files in that directory, sorted; none if it cannot be read.
inline std::vector<std::string> TestDataFiles(const std::string& directory) {
  const auto files = base::ListDirectory(TestData(directory));
  return files.ok() ? *files : std::vector<std::string>();
}

}  // namespace nereid::config
