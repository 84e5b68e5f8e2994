// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "repository/settle/settle_watch.h"
#include "repository/settle/tree_marks.h"

namespace nereid::repository {

/// Tells whether the files of a model were changed while they were read. Made before the first
/// file is read and asked after the last one.
class ReadGuard {
 public:
  /// A guard that finds no change, for files that nobody else can change.
  ReadGuard() = default;

  /// A guard of the files in a local directory, which must match their list of checksums if there
  /// is one. `accepted` has the marks with which a scan has accepted them; null if no scan did.
  /// INVALID_ARGUMENT if the files differ from their list.
  static base::Result<ReadGuard> Begin(const std::string& directory,
                                       std::shared_ptr<const TreeMarks> accepted);

  /// Returns the path of a file that was changed or deleted since, or with `with_additions` added;
  /// "" if there is none.
  std::string FindChange(bool with_additions) const;

 private:
  std::string directory_;
  std::shared_ptr<const TreeMarks> marks_;  // null: nothing is guarded
};

/// Waits until the files in a local directory have been still for the settle time, or can be
/// compared with a list of checksums, or `is_cancelled` returns true, which is called every 50 ms.
/// Returns false if it has.
bool WaitUntilStill(const std::string& directory, const SettleOptions& options,
                    const std::function<bool()>& is_cancelled);

}  // namespace nereid::repository
