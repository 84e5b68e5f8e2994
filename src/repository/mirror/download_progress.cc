// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/download_progress.h"

#include <iterator>
#include <utility>

namespace nereid::repository::mirror {

void DownloadProgress::Begin(uint64_t objects, uint64_t bytes) {
  objects_ = 0;
  bytes_ = 0;
  all_objects_ = objects;
  all_bytes_ = bytes;
}

DownloadProgress::Numbers DownloadProgress::numbers() const {
  return {objects_, all_objects_, bytes_, all_bytes_};
}

std::string DownloadProgress::Text() const {
  const Numbers now = numbers();
  return std::to_string(now.objects) + " of " + std::to_string(now.all_objects) + " objects, " +
         std::to_string(now.bytes) + " of " + std::to_string(now.all_bytes) + " bytes";
}

bool DownloadProgress::IsLogDue(uint64_t now_ns) {
  uint64_t next = next_log_ns_.load(std::memory_order_relaxed);
  return now_ns >= next && next_log_ns_.compare_exchange_strong(next, now_ns + kLogPeriodNs,
                                                                std::memory_order_relaxed);
}

DownloadBoard::Entry::Entry(DownloadBoard& board, std::string model, uint64_t now_ns)
    : board_(board),
      model_(std::move(model)),
      progress_(std::make_shared<DownloadProgress>(now_ns)) {
  base::MutexLock lock(board_.mutex_);
  board_.downloads_.emplace(model_, progress_);
}

DownloadBoard::Entry::~Entry() {
  base::MutexLock lock(board_.mutex_);
  const auto [begin, end] = board_.downloads_.equal_range(model_);
  for (auto it = begin; it != end; ++it) {
    if (it->second != progress_) continue;
    board_.downloads_.erase(it);
    return;
  }
}

std::shared_ptr<const DownloadProgress> DownloadBoard::Find(const std::string& model) const {
  base::MutexLock lock(mutex_);
  const auto [begin, end] = downloads_.equal_range(model);
  return begin == end ? nullptr : std::prev(end)->second;
}

}  // namespace nereid::repository::mirror
