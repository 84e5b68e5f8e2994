// SPDX-License-Identifier: Apache-2.0
#include "base/log_tail.h"

#include <algorithm>
#include <utility>

namespace nereid::base {
namespace {

std::string_view WithoutDirectory(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string CutOff(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  return std::string(text.substr(0, limit)) + " … (" + std::to_string(text.size() - limit) +
         " bytes left out)";
}

}  // namespace

void LogTail::Add(const LogEntry& entry, uint64_t time_ms) {
  constexpr size_t kMaxSubject = 256;
  TailLine line;
  line.time_ms = time_ms;
  line.level = entry.level;
  line.file = CutOff(WithoutDirectory(entry.file), kMaxSubject);
  line.line = entry.line;
  line.message = CutOff(entry.message, limits_.line_bytes);
  if (!entry.table.empty()) {
    if (!line.message.empty()) line.message += '\n';
    line.message += CutOff(entry.table, limits_.line_bytes);
  }
  line.model = CutOff(entry.subject.model, kMaxSubject);
  line.request_id = CutOff(entry.subject.request_id, kMaxSubject);
  line.trace_id = CutOff(entry.subject.trace_id, kMaxSubject);
  const size_t size = line.size();
  const MutexLock lock(mutex_);
  line.number = last_ + 1;
  lines_.push_back(std::move(line));
  ++last_;
  bytes_ += size;
  while (lines_.size() > limits_.lines || (bytes_ > limits_.bytes && lines_.size() > 1)) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

std::vector<TailLine> LogTail::After(uint64_t after, size_t most) const {
  const MutexLock lock(mutex_);
  const uint64_t dropped = last_ - lines_.size();
  const uint64_t known = std::min(std::max(after, dropped), last_);
  const size_t count = std::min<uint64_t>(last_ - known, most);
  return {lines_.end() - static_cast<std::ptrdiff_t>(count), lines_.end()};
}

uint64_t LogTail::last() const {
  const MutexLock lock(mutex_);
  return last_;
}

}  // namespace nereid::base
