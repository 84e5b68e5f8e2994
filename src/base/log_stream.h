// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace nereid::base {

/// One place that the log's lines go to: a file, or a standard stream of the process. Whoever
/// writes is never held up by a reader that does not read: what a pipe, a socket or a terminal
/// does not take at once is kept, up to kMostKept bytes, and written by a thread of its own when
/// there is room. What comes beyond is dropped, and a line says how many were when the kept ones
/// are out. The order of lines is kept. Thread-safe.
///
/// A regular file takes everything at once, as far as anybody can tell beforehand.
class LogStream {
 public:
  static constexpr size_t kMostKept = size_t{1} << 20;

  /// Makes the line that tells of dropped lines.
  using Notice = std::function<std::string(uint64_t dropped)>;

  /// For a standard stream, which stays open; it may be redirected, which is seen some lines later.
  LogStream(int descriptor, Notice notice);
  /// Opens `path` for appending. INTERNAL with the reason.
  static Result<std::unique_ptr<LogStream>> Open(const std::string& path, Notice notice);
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;
  /// Gives up what has not been written.
  ~LogStream();

  int descriptor() const { return descriptor_; }

  /// Writes whole lines. What the stream refuses for good (a full disk, a reader that has gone) is
  /// lost: a log that cannot be written must not stop the server.
  void Write(std::string_view lines);

  /// Opens `path`, which may be another file by now, and goes on there.
  Status Reopen(const std::string& path);

  /// Waits until everything is written, as long as something is within `patience`, and at most
  /// `limit`. Whether it is.
  bool Flush(std::chrono::milliseconds patience, std::chrono::milliseconds limit);

 private:
  enum class Kind {
    kUnknown,
    kDirect,       // write(2) does not wait for a reader
    kNonBlocking,  // write(2) to an open file description of our own
    kSocket,       // send(2) that does not wait
    kBlocking,     // nothing of that can be had: the thread alone writes
  };

  /// Takes `descriptor` over.
  LogStream(int descriptor, bool owned, Notice notice);
  /// Finds out how to write without waiting, if that is not known or the stream was redirected.
  void Inspect();
  /// Writes what is taken at once; -1 where the rest is lost. Never waits.
  ssize_t WriteNow(std::string_view text);
  void KeepLocked(std::string_view rest, bool begun);
  void StartThreadLocked();
  void Run();
  /// Writes all of it, however long that takes. For the thread.
  void WriteAll(std::string_view text, std::unique_lock<std::mutex>& lock);

  const int descriptor_;
  const bool owned_;
  const Notice notice_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t lines_ = 0;  // guarded by mutex_, as all that follows
  Kind kind_ = Kind::kUnknown;
  uint64_t device_ = 0, inode_ = 0;  // of what the descriptor was when it was inspected
  int writable_ = -1;                // of kNonBlocking; else the descriptor
  std::string kept_;                 // in order, not yet with the thread
  uint64_t dropped_ = 0;             // lines; while not 0 nothing more is kept
  size_t taken_ = 0;                 // bytes that the thread has and has not written
  bool closing_ = false;
  std::thread thread_;  // started when something has to wait
};

}  // namespace nereid::base
