// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::base::testing {

/// While it lives, reading the entries of one directory breaks off with an error after the first
/// one, as it does when a file server goes away. A program that links this has a readdir of its
/// own, which is the system's otherwise.
class FailingReaddir {
 public:
  /// `path` is absolute and without links. `error` is an errno.
  FailingReaddir(const std::string& path, int error);
  ~FailingReaddir();
  FailingReaddir(const FailingReaddir&) = delete;
  FailingReaddir& operator=(const FailingReaddir&) = delete;
};

}  // namespace nereid::base::testing
