// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/read_guard.h"

#include <chrono>
#include <thread>
#include <utility>

#include "repository/settle/checksum_list.h"

namespace nereid::repository {

base::Result<ReadGuard> ReadGuard::Begin(const std::string& directory,
                                         std::shared_ptr<const TreeMarks> accepted) {
  ReadGuard guard;
  guard.directory_ = directory;
  guard.marks_ = std::move(accepted);
  // Files that a scan has accepted were compared with their list at that scan.
  if (guard.marks_ != nullptr) return guard;
  NEREID_ASSIGN_OR_RETURN(TreeMarks marks, ReadTreeMarks(directory));
  NEREID_RETURN_IF_ERROR(CheckAgainstList(directory, marks));
  guard.marks_ = std::make_shared<const TreeMarks>(std::move(marks));
  return guard;
}

std::string ReadGuard::FindChange(bool with_additions) const {
  if (marks_ == nullptr) return "";
  const auto now = ReadTreeMarks(directory_);
  if (now.ok()) return repository::FindChange(*marks_, *now, with_additions);
  // A file system that does not answer says nothing about the files.
  return now.status().code() == base::StatusCode::kNotFound ? "." : "";
}

bool WaitUntilStill(const std::string& directory, const SettleOptions& options,
                    const std::function<bool()>& is_cancelled) {
  constexpr std::chrono::milliseconds kPause{50};
  if (options.settle_ns == 0) return true;
  SettleWatch watch(options);
  const ModelId id{directory};
  while (!is_cancelled()) {
    const ScanMoment moment = watch.BeginScan();
    SnapshotReading reading;
    auto state = ReadFileState(directory);
    if (!state.ok()) return true;  // the load reports the error
    reading.snapshot.models[id] = {directory, std::move(state).value()};
    const auto difference = watch.Hold(moment, {}, &reading);
    // The guard refuses files that differ from their list.
    if (!difference.added.empty() || !watch.IncompleteModels().empty()) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace nereid::repository
