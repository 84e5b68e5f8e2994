// SPDX-License-Identifier: Apache-2.0
#include "server/residency/memory_meter.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "memory/process_heap.h"

namespace nereid::server {
namespace {

/// Returns the text of a file of /proc, which shows no size; "" if it cannot be read.
std::string ReadProcText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Returns the kibibytes of a line such as "RssAnon:     1234 kB", in bytes; 0 without the line.
uint64_t BytesOf(std::string_view status, std::string_view name) {
  const size_t line = status.find(name);
  if (line == std::string_view::npos) return 0;
  const size_t digits = status.find_first_of("0123456789", line + name.size());
  if (digits == std::string_view::npos) return 0;
  uint64_t kib = 0;
  (void)std::from_chars(status.data() + digits, status.data() + status.size(), kib);
  return kib * 1024;
}

/// Returns the processes that the threads of a process have started.
std::vector<int> ChildrenOf(int pid) {
  std::vector<int> children;
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  std::error_code error;
  for (std::filesystem::directory_iterator it(threads, error), end; !error && it != end;
       it.increment(error)) {
    const std::string text = ReadProcText((it->path() / "children").string());
    const char* at = text.data();
    const char* const text_end = at + text.size();
    while (at < text_end) {
      int child = 0;
      const auto parsed = std::from_chars(at, text_end, child);
      if (parsed.ec == std::errc()) children.push_back(child);
      at = std::max(parsed.ptr, at) + 1;
    }
  }
  return children;
}

}  // namespace

uint64_t ParseOwnMemory(std::string_view status, bool shared) {
  return BytesOf(status, "RssAnon:") + (shared ? BytesOf(status, "RssShmem:") : 0);
}

uint64_t OwnMemory() {
  const int self = getpid();
  uint64_t bytes = 0;
  std::set<int> seen = {self};
  std::vector<int> left = {self};
  while (!left.empty()) {
    const int pid = left.back();
    left.pop_back();
    const std::string status = ReadProcText("/proc/" + std::to_string(pid) + "/status");
    // Memory that another process shares with this one is counted once.
    bytes += ParseOwnMemory(status, pid == self);
    for (const int child : ChildrenOf(pid)) {
      if (seen.insert(child).second) left.push_back(child);
    }
  }
  return bytes;
}

bool MemoryMeter::Begin() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  base::MutexLock lock(mutex_);
  while (is_measuring_) {
    if (!ended_.WaitUntil(lock, end)) return false;
  }
  is_measuring_ = true;
  return true;
}

uint64_t MemoryMeter::Measure(const std::function<void()>& load) {
  const bool is_alone = Begin();
  const auto end = [this, is_alone](const char*) {
    if (!is_alone) return;
    const base::MutexLock lock(mutex_);
    is_measuring_ = false;
    ended_.NotifyOne();
  };
  // Also if the load throws.
  const std::unique_ptr<const char, decltype(end)> ended("", end);
  // A load that finds free memory in the heap would seem smaller than it is.
  if (!read_) memory::ReturnFreeMemory();
  const uint64_t before = read_ ? read_() : OwnMemory();
  load();
  const uint64_t after = read_ ? read_() : OwnMemory();
  return after - std::min(after, before);
}

void SizeEstimate::Add(uint64_t measured) {
  last_.push_back(measured);
  if (last_.size() > kMost) last_.pop_front();
}

uint64_t SizeEstimate::Median() const {
  if (last_.empty()) return 0;
  std::vector<uint64_t> sorted(last_.begin(), last_.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace nereid::server
