// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"

namespace nereid::base {

/// One destination of log lines: a file or a standard stream. Writers never wait for a reader. What
/// a pipe, socket or terminal does not accept at once is kept, up to kMaxKept bytes, and a
/// separate thread writes it later. Further lines are dropped, and a line with their number follows
/// the kept ones. The order of lines is preserved. Thread-safe.
///
/// Regular files are written directly: there is no way to learn beforehand whether a write to one
/// blocks.
class LogStream {
 public:
  static constexpr size_t kMaxKept = size_t{1} << 20;

  /// Returns the line that reports `dropped` lines.
  using Notice = std::function<std::string(uint64_t dropped)>;

  /// For a standard stream, which is not closed at the end. The stream may be redirected with dup2;
  /// that is noticed some lines later.
  LogStream(int descriptor, Notice notice);
  /// Opens `path` for appending. INTERNAL with the reason if that fails.
  static Result<std::unique_ptr<LogStream>> Open(const std::string& path, Notice notice);
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;
  /// Discards what has not been written.
  ~LogStream();

  int descriptor() const { return descriptor_; }

  /// Writes whole lines. Lines that the stream refuses (full disk, closed reader) are lost: a log
  /// that cannot be written must not stop the server.
  void Write(std::string_view lines);

  /// Opens `path`, which may name a different file by this time, and continues there. INTERNAL with
  /// the reason if that fails; the old file stays in use.
  Status Reopen(const std::string& path);

  /// Waits until everything is written. Gives up when nothing was written for `patience`, and after
  /// `limit` in any case. Returns whether everything is written.
  bool Flush(std::chrono::milliseconds patience, std::chrono::milliseconds limit);

 private:
  enum class Kind {
    kUnknown,
    kDirect,       // write(2) does not wait for a reader
    kNonBlocking,  // write(2) to a nonblocking open file description that only this process has
    kSocket,       // send(2) with MSG_DONTWAIT
    kBlocking,     // no nonblocking write is possible: only the thread writes
  };

  /// Takes ownership of `descriptor` if `owned` is true.
  LogStream(int descriptor, bool owned, Notice notice);
  /// Determines how to write without waiting, if this is unknown or the stream was redirected.
  void Inspect() NEREID_REQUIRES(mutex_);
  /// Writes as much as the stream accepts at once and returns the number of bytes; -1 if the rest
  /// is lost. Never waits.
  ssize_t WriteNow(std::string_view text) NEREID_REQUIRES(mutex_);
  void KeepLocked(std::string_view rest, bool begun) NEREID_REQUIRES(mutex_);
  void StartThreadLocked() NEREID_REQUIRES(mutex_);
  bool IsEmpty() const NEREID_REQUIRES(mutex_) {
    return kept_.empty() && taken_ == 0 && dropped_ == 0;
  }
  void Run();
  /// Writes all of `text`, however long that takes; releases mutex_ while it waits. Called by the
  /// thread only.
  void WriteAll(std::string_view text) NEREID_REQUIRES(mutex_);

  const int descriptor_;
  const bool owned_;
  const Notice notice_;
  Mutex mutex_;
  ConditionVariable changed_;
  uint32_t lines_ NEREID_GUARDED_BY(mutex_) = 0;
  Kind kind_ NEREID_GUARDED_BY(mutex_) = Kind::kUnknown;
  // Identify the file that was inspected.
  uint64_t device_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t inode_ NEREID_GUARDED_BY(mutex_) = 0;
  // The descriptor to write to; a second one for kNonBlocking standard streams.
  int writable_ NEREID_GUARDED_BY(mutex_) = -1;
  // The bytes that wait for the thread, in order.
  std::string kept_ NEREID_GUARDED_BY(mutex_);
  // Number of lines. While it is not 0, no more lines are kept.
  uint64_t dropped_ NEREID_GUARDED_BY(mutex_) = 0;
  // The bytes that the thread has taken but not written.
  size_t taken_ NEREID_GUARDED_BY(mutex_) = 0;
  bool closing_ NEREID_GUARDED_BY(mutex_) = false;
  // Started when bytes have to wait for the first time.
  std::thread thread_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::base
