// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace nereid::base {

/// An empty directory below $TMPDIR (or /tmp) that only this user can enter. It is deleted with all
/// its content when the object is destroyed.
class TemporaryDirectory {
 public:
  /// Creates the directory. INTERNAL with the reason if that fails.
  static Result<std::unique_ptr<TemporaryDirectory>> Create();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace nereid::base
