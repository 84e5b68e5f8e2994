// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "api/access/access_policy.h"
#include "base/file_version.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/shared_snapshot.h"

namespace nereid::api {

/// The policy of a file that may be replaced while the server runs. Thread-safe.
class AccessFile {
 public:
  /// Reads the file. Returns an error that names the file, and the line if one is wrong. A file
  /// that every user of the machine may write to is refused.
  static base::Result<std::unique_ptr<AccessFile>> Open(std::string path);
  ~AccessFile();
  AccessFile(const AccessFile&) = delete;
  AccessFile& operator=(const AccessFile&) = delete;

  /// Returns the current policy.
  std::shared_ptr<const AccessPolicy> policy() const { return policy_.Load(); }

  /// Reads the file again if it has changed. If its new content is wrong, or the file is gone, the
  /// policy stays as it is, and the log says why, once for each change. One thread at a time.
  void Refresh();

  /// Starts a thread that calls Refresh() in this interval, until the destructor. Once.
  base::Status StartWatching(std::chrono::milliseconds interval);

 private:
  explicit AccessFile(std::string path) : path_(std::move(path)) {}
  base::Result<std::shared_ptr<const AccessPolicy>> Read() const;
  void Watch(std::chrono::milliseconds interval);

  const std::string path_;
  base::SharedSnapshot<AccessPolicy> policy_{nullptr};
  base::FileVersion version_;  // the one that was read last; only the thread of Refresh()

  std::thread watcher_;
  base::Mutex mutex_;
  base::ConditionVariable stopped_;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::api
