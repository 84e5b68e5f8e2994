// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace nereid::tracing {
namespace {

/// A file that is written at given offsets. After a failure errno holds the reason.
class File {
 public:
  File(const std::string& path, bool keep)
      : descriptor_(
            ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (keep ? 0 : O_CREAT | O_TRUNC), 0666)) {}
  File(const File&) = delete;
  ~File() {
    if (is_open()) ::close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  void Truncate(uint64_t size) const { (void)!::ftruncate(descriptor_, static_cast<off_t>(size)); }
  /// Returns whether all of `text` was written.
  bool Write(std::string_view text, uint64_t place) const {
    while (is_open() && !text.empty()) {
      const ssize_t n = ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(place));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
      place += static_cast<uint64_t>(n);
    }
    return is_open();
  }

 private:
  const int descriptor_;
};

}  // namespace

void TraceFile::Append(std::string entries) { Queue(std::move(entries), false); }

void TraceFile::WriteNumbered(std::string entries) { Queue(std::move(entries), true); }

void TraceFile::Queue(std::string entries, bool numbered) {
  const size_t size = entries.size();
  if (waiting_.fetch_add(size, std::memory_order_relaxed) + size > max_waiting_) {
    waiting_.fetch_sub(size, std::memory_order_relaxed);
    LogFailureOnce(path_, "the disk is too slow: " + std::to_string(max_waiting_) +
                              " bytes wait to be written");
    return;
  }
  // The text is shared, because std::function must be copyable.
  const auto text = std::make_shared<const std::string>(std::move(entries));
  const bool posted = writer_.Run([this, text, numbered] {
    Write(*text, numbered);
    waiting_.fetch_sub(text->size(), std::memory_order_release);
  });
  if (posted) return;
  waiting_.fetch_sub(size, std::memory_order_relaxed);
  LogFailureOnce(path_, "no thread can be started to write it");
}

void TraceFile::Write(const std::string& entries, bool numbered) {
  const std::string path = numbered ? path_ + "." + std::to_string(next_number_) : path_;
  const bool append = !numbered && good_size_ > 0;
  const uint64_t start = append ? good_size_ : 0;
  // A file is always "[" entries "]". To append, the final bracket is overwritten by a comma, in
  // one write together with the new entries and the new bracket.
  const std::string text = (append ? "," : "[") + entries + "]";
  const File file(path, append);
  if (file.Write(text, start - (append ? 1 : 0))) {
    if (numbered) ++next_number_;
    if (!numbered) good_size_ = start - (append ? 1 : 0) + text.size();
    return;
  }
  const std::string reason = std::strerror(errno);
  // The file may contain a part of the text. Restore the array that was there before.
  if (append && file.Write("]", start - 1)) {
    file.Truncate(start);
  } else if (file.is_open()) {
    file.Truncate(0);
    if (!append) ::unlink(path.c_str());
  }
  LogFailureOnce(path, reason);
}

void TraceFile::LogFailureOnce(const std::string& path, const std::string& reason) {
  if (failure_logged_.exchange(true, std::memory_order_relaxed)) return;
  LOG_ERROR << "traces cannot be written to '" << path << "' and are dropped: " << reason;
}

}  // namespace nereid::tracing
