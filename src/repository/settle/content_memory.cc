// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/content_memory.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "repository/settle/mix.h"

namespace nereid::repository {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
/// Local file systems take times from a clock that ticks every 10 ms at most.
constexpr int64_t kTickNs = 20'000'000;
/// File systems that store whole seconds may store even ones only.
constexpr int64_t kCoarseTickNs = 2 * kSecondNs;

/// Beyond, the memory starts anew: models may be loaded again once.
constexpr size_t kMaxRecords = size_t{1} << 20;

bool HaveSameBasics(const FileStamps& a, const FileStamps& b) {
  return a.modified_ns == b.modified_ns && a.size == b.size && a.inode == b.inode;
}

}  // namespace

bool MayKeepStamps(const FileStamps& stamps, int64_t looked_ns) {
  const bool is_coarse = stamps.changed_ns % kSecondNs == 0;
  return looked_ns - stamps.changed_ns < (is_coarse ? kCoarseTickNs : kTickNs);
}

ContentMemory::ContentMemory(bool counts_change_times, ReadContent read)
    : counts_change_times_(counts_change_times), read_(std::move(read)) {}

bool ContentMemory::MustRead(const Record& before, const FileStamps& stamps) const {
  if (before.may_keep_stamps) return true;
  return counts_change_times_ && before.stamps.changed_ns != stamps.changed_ns;
}

uint64_t ContentMemory::NumberOf(const std::string& path, const FileStamps& stamps,
                                 int64_t looked_ns) {
  Record now{stamps, MayKeepStamps(stamps, looked_ns)};
  std::optional<Record> before;
  {
    base::MutexLock lock(mutex_);
    const auto found = records_.find(path);
    if (found != records_.end() && HaveSameBasics(found->second.stamps, stamps)) {
      before = found->second;
    }
  }
  if (before && !MustRead(*before, stamps)) return before->number;
  if (before || now.may_keep_stamps) now.content = read_(path);
  if (before) {
    // A file whose content was not known before counts as changed, once.
    const bool is_same = before->content && now.content == before->content;
    now.number = is_same ? before->number : Mix(before->number, now.content.value_or(0));
  }
  base::MutexLock lock(mutex_);
  if (records_.size() >= kMaxRecords) records_.clear();
  records_[path] = now;
  return now.number;
}

std::optional<uint64_t> HashContent(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> buffer(size_t{64} << 10);
  uint64_t hash = 0;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<size_t>(file.gcount());
    for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, buffer.data() + at, std::min(sizeof(word), count - at));
      hash = Mix(hash, word);
    }
    hash = Mix(hash, count);
  }
  if (file.bad()) return std::nullopt;
  return hash;
}

}  // namespace nereid::repository
