// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <sstream>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::base {

enum class LogLevel { kInfo = 0, kWarning = 1, kError = 2, kVerbose = 3 };
enum class LogFormat { kDefault = 0, kIso8601 = 1 };

/// The log of the process, in Triton's line formats. All functions may be called from any thread.
/// Lines from different threads are not interleaved.
///
/// Default format: `I1121 10:56:01.123456 4711 file.cc:12] "message"` (UTC, process id)
///
/// ISO8601 format: `2026-11-21T10:56:01Z I 4711 file.cc:12] "message"`
///
/// The message is written as a JSON string unless TRITON_SERVER_ESCAPE_LOG_MESSAGES=0. INFO and
/// VERBOSE lines go to stdout, WARNING and ERROR lines to stderr. If a log file is set, all lines
/// go to the file instead.
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

  /// Writes one line. `raw_tail` is written after it as it is, without quotes (for tables).
  /// A line for which there is no memory is lost.
  void Write(LogLevel level, std::string_view file, int line, std::string_view message,
             std::string_view raw_tail = {}) noexcept;

 private:
  Log();
  std::atomic<bool> enabled_[3] = {true, true, true};
  std::atomic<int> verbose_level_{0};
  std::atomic<LogFormat> format_{LogFormat::kDefault};
  bool escape_ = true;
};

/// Collects a message and writes it to the log when the object is destroyed.
class LogLine {
 public:
  LogLine(LogLevel level, const char* file, int line) : level_(level), file_(file), line_(line) {}
  ~LogLine() { Log::Instance().Write(level_, file_, line_, stream_.view()); }
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};

}  // namespace nereid::base

// A `for` that runs at most once: with an `if`, `if (x) LOG_INFO << …; else …` would be ambiguous.
#define NEREID_LOG_IF(enabled, level)                                              \
  for (bool nereid_log_once = (enabled); nereid_log_once; nereid_log_once = false) \
  ::nereid::base::LogLine(::nereid::base::LogLevel::level, __FILE__, __LINE__).stream()
#define NEREID_LOG(level) \
  NEREID_LOG_IF(::nereid::base::Log::Instance().IsEnabled(::nereid::base::LogLevel::level), level)
#define LOG_INFO NEREID_LOG(kInfo)
#define LOG_WARNING NEREID_LOG(kWarning)
#define LOG_ERROR NEREID_LOG(kError)
#define LOG_VERBOSE(n)                                                                    \
  NEREID_LOG_IF(                                                                          \
      ::nereid::base::Log::Instance().IsEnabled(::nereid::base::LogLevel::kVerbose, (n)), \
      kVerbose)
