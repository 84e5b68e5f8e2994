// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <sstream>
#include <string>
#include <string_view>

#include "base/log_entry.h"
#include "base/log_tail.h"
#include "base/status.h"

namespace nereid::base {

/// The log of the process, in Triton's line formats or as JSON lines; see FormatLogEntry. All
/// functions may be called from any thread. Lines from different threads are not interleaved.
///
/// In Triton's formats the message is written as a JSON string unless
/// TRITON_SERVER_ESCAPE_LOG_MESSAGES=0. INFO and VERBOSE lines go to stdout, WARNING and ERROR
/// lines to stderr. If a log file is set, all lines go to the file instead.
class Log {
 public:
  static Log& Instance();

  bool IsEnabled(LogLevel level, int verbose = 1) const {
    return level == LogLevel::kVerbose
               ? verbose_level_.load(std::memory_order_relaxed) >= verbose
               : enabled_[static_cast<int>(level)].load(std::memory_order_relaxed);
  }
  void SetEnabled(LogLevel level, bool enabled);  // kInfo, kWarning or kError; kVerbose is ignored
  void SetVerboseLevel(int level);
  int verbose_level() const { return verbose_level_.load(std::memory_order_relaxed); }
  void SetFormat(LogFormat format) { format_.store(format, std::memory_order_relaxed); }
  LogFormat format() const { return format_.load(std::memory_order_relaxed); }

  /// Opens `path` for appending and writes all further lines to it. An empty path returns to stdout
  /// and stderr. INTERNAL if the file cannot be opened.
  Status SetFile(const std::string& path);
  std::string file() const;

  /// Keeps the last lines from here on, for tail(). They stay until the process ends. A second call
  /// does nothing.
  void KeepTail();
  /// Returns the last lines; null before KeepTail().
  const LogTail* tail() const { return tail_.load(std::memory_order_acquire); }

  /// Writes an entry, whether or not its level is enabled. An entry for which there is no memory
  /// is lost.
  void Write(const LogEntry& entry) noexcept;

 private:
  Log() = default;
  std::atomic<bool> enabled_[3] = {true, true, true};
  std::atomic<int> verbose_level_{0};
  std::atomic<LogFormat> format_{LogFormat::kDefault};
  std::atomic<LogTail*> tail_{nullptr};  // never destroyed, because threads may log until the end
};

/// Collects a message and writes it to the log when the object is destroyed.
class LogLine {
 public:
  LogLine(LogLevel level, const char* file, int line, const LogSubject& subject = {})
      : level_(level), file_(file), line_(line), subject_(subject) {}
  ~LogLine();
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  LogSubject subject_;
  std::ostringstream stream_;
};

}  // namespace nereid::base

// A `for` that runs at most once: with an `if`, `if (x) LOG_INFO << …; else …` would be ambiguous.
// The arguments behind `level` are the members of a LogSubject.
#define NEREID_LOG_IF(enabled, level, ...)                                         \
  for (bool nereid_log_once = (enabled); nereid_log_once; nereid_log_once = false) \
  ::nereid::base::LogLine(::nereid::base::LogLevel::level, __FILE__, __LINE__,     \
                          ::nereid::base::LogSubject{__VA_ARGS__})                 \
      .stream()
#define NEREID_LOG(level, ...)                                                              \
  NEREID_LOG_IF(::nereid::base::Log::Instance().IsEnabled(::nereid::base::LogLevel::level), \
                level __VA_OPT__(, ) __VA_ARGS__)
#define LOG_INFO NEREID_LOG(kInfo)
#define LOG_WARNING NEREID_LOG(kWarning)
#define LOG_ERROR NEREID_LOG(kError)
// Lines that concern a model, a request or a trace: LOG_ERROR_OF(.model = name) << "text". The
// texts must live until the end of the statement.
#define LOG_INFO_OF(...) NEREID_LOG(kInfo, __VA_ARGS__)
#define LOG_WARNING_OF(...) NEREID_LOG(kWarning, __VA_ARGS__)
#define LOG_ERROR_OF(...) NEREID_LOG(kError, __VA_ARGS__)
#define LOG_VERBOSE(n)                                                                    \
  NEREID_LOG_IF(                                                                          \
      ::nereid::base::Log::Instance().IsEnabled(::nereid::base::LogLevel::kVerbose, (n)), \
      kVerbose)
