// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::tensorrt {

using backend::Error;

/// A plan file that is mapped for reading, so that a large plan needs no second copy in memory.
/// The first object installs a handler of SIGBUS: if the file becomes shorter, or cannot be read,
/// while it is mapped, the pages that it lacks read as zeros instead of ending the process. The
/// code of this plug-in must then stay loaded (KEEP_LOADED in backends/CMakeLists.txt).
class PlanFile {
 public:
  PlanFile() = default;
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;
  ~PlanFile();

  /// INVALID_ARG if the file is not a regular file, is empty or cannot be read. UNAVAILABLE if too
  /// many plans are mapped at the same time.
  Error Open(const std::string& path);
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  /// Returns whether pages were missing, so that the plan was not the content of a file.
  bool IsBroken() const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t slot_ = kNone;
};

}  // namespace nereid::tensorrt
