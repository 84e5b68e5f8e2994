// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_file.h"

#include <sys/stat.h>

#include <exception>
#include <utility>

#include "api/access/parse_access.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::api {
namespace {

using base::Status;

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20;

std::string Summary(const AccessPolicy& policy) {
  const AccessPolicy::Grants& grants = policy.grants();
  return std::to_string(grants.tokens.size()) + " tokens, " +
         std::to_string(grants.subjects.size()) + " subjects, " +
         std::to_string(grants.uids.size() + grants.gids.size()) + " users and groups";
}

}  // namespace

base::Result<std::unique_ptr<AccessFile>> AccessFile::Open(std::string path) {
  std::unique_ptr<AccessFile> file(new AccessFile(std::move(path)));
  file->version_ = base::FileVersionOf(file->path_);
  NEREID_ASSIGN_OR_RETURN(auto policy, file->Read());
  LOG_INFO << "Access is limited by '" << file->path_ << "': " << Summary(*policy);
  file->policy_.Store(std::move(policy));
  return file;
}

AccessFile::~AccessFile() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  if (watcher_.joinable()) watcher_.join();
}

base::Result<std::shared_ptr<const AccessPolicy>> AccessFile::Read() const {
  const std::string prefix = "the access file '" + path_ + "': ";
  struct stat facts = {};
  if (stat(path_.c_str(), &facts) == 0 && (facts.st_mode & S_IWOTH) != 0) {
    return Status::InvalidArgument(prefix +
                                   "every user of the machine may write to it. Use chmod o-w");
  }
  const base::Result<std::string> text = base::ReadFile(path_, kMaxFileBytes);
  if (!text.ok()) return text.status().WithPrefix(prefix);
  auto policy = ParseAccess(*text);
  if (!policy.ok()) return policy.status().WithPrefix(prefix);
  return policy;
}

void AccessFile::Refresh() {
  // Before the content is read: a change in between is found the next time.
  const base::FileVersion version = base::FileVersionOf(path_);
  if (version == version_) return;
  version_ = version;
  auto policy = Read();
  if (!policy.ok()) {
    LOG_ERROR << policy.status().message() << ". What it said before stays valid";
    return;
  }
  LOG_INFO << "Read '" << path_ << "' again: " << Summary(**policy);
  policy_.Store(std::move(policy).value());
}

Status AccessFile::StartWatching(std::chrono::milliseconds interval) {
  NEREID_ASSIGN_OR_RETURN(watcher_,
                          base::StartThread("access-file", [this, interval] { Watch(interval); }));
  return Status::Ok();
}

void AccessFile::Watch(std::chrono::milliseconds interval) {
  base::MutexLock lock(mutex_);
  while (!stop_) {
    const auto next = std::chrono::steady_clock::now() + interval;
    while (!stop_ && stopped_.WaitUntil(lock, next)) {
    }
    if (stop_) return;
    lock.Unlock();
    try {
      Refresh();
    } catch (const std::exception&) {  // no memory: the next turn tries again
      version_ = {};
    }
    lock.Lock();
  }
}

}  // namespace nereid::api
