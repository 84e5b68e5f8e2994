// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/log_output.h"
#include "base/mutex.h"

namespace nereid::base {
namespace {

// The environment is read once, when the log is first used.
bool QuotesMessages() {
  static const bool quotes = [] {
    const char* const escape = std::getenv("TRITON_SERVER_ESCAPE_LOG_MESSAGES");
    return escape == nullptr || std::strcmp(escape, "0") != 0;
  }();
  return quotes;
}

LogOrigin OriginNow() {
  LogOrigin origin{.pid = static_cast<int>(getpid()), .quote = QuotesMessages()};
  clock_gettime(CLOCK_REALTIME, &origin.time);
  return origin;
}

// Changes of the file hold the mutex. Writers do not: they read file_stream, an atomic pointer to a
// stream that is never destroyed, so that a line costs no lock of its own here.
Mutex file_mutex;
std::string file_path NEREID_GUARDED_BY(file_mutex);  // NOLINT
std::atomic<LogStream*> file_stream{nullptr};

bool IsSameFile(int a, int b) {
  struct stat one {
  }, other{};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

std::string DroppedLine(uint64_t lines) {
  const std::string message =
      std::to_string(lines) + " log lines were dropped because they were not read";
  return FormatLogEntry(
      {.level = LogLevel::kWarning, .file = __FILE__, .line = __LINE__, .message = message},
      Log::Instance().format(), OriginNow());
}

}  // namespace

// Never destroyed, because threads may log until the process ends.
LogStream& StandardOutput() {
  static LogStream* const stream = new LogStream(STDOUT_FILENO, DroppedLine);
  return *stream;
}

LogStream& StandardErrors() {
  static LogStream* const stream = IsSameFile(STDOUT_FILENO, STDERR_FILENO)
                                       ? &StandardOutput()
                                       : new LogStream(STDERR_FILENO, DroppedLine);
  return *stream;
}

Log& Log::Instance() {
  // Never destroyed, because threads may log until the process ends.
  static Log* const log = new Log();
  return *log;
}

void Log::SetEnabled(LogLevel level, bool enabled) {
  if (level == LogLevel::kVerbose) return;
  enabled_[static_cast<int>(level)].store(enabled, std::memory_order_relaxed);
}

void Log::SetVerboseLevel(int level) {
  verbose_level_.store(level < 0 ? 0 : level, std::memory_order_relaxed);
}

Status Log::SetFile(const std::string& path) {
  const MutexLock lock(file_mutex);
  LogStream* stream = nullptr;
  if (!path.empty()) {
    // Streams of earlier files are kept, because another thread may still write to one of them.
    static auto* const opened = new std::vector<std::unique_ptr<LogStream>>();
    opened->reserve(opened->size() + 1);
    NEREID_ASSIGN_OR_RETURN(auto fresh, LogStream::Open(path, DroppedLine));
    stream = fresh.get();
    opened->push_back(std::move(fresh));
  }
  file_stream.store(stream, std::memory_order_release);
  file_path = path;
  return Status::Ok();
}

std::string Log::file() const {
  const MutexLock lock(file_mutex);
  return file_path;
}

Status ReopenLogFile() {
  const MutexLock lock(file_mutex);
  LogStream* const stream = file_stream.load(std::memory_order_acquire);
  return stream == nullptr ? Status::Ok() : stream->Reopen(file_path);
}

bool FlushLog() {
  constexpr std::chrono::milliseconds kPatience{500}, kLimit{2000};
  bool flushed = true;
  for (LogStream* const stream :
       {&StandardOutput(), &StandardErrors(), file_stream.load(std::memory_order_acquire)}) {
    if (stream != nullptr) flushed = stream->Flush(kPatience, kLimit) && flushed;
  }
  return flushed;
}

void Log::KeepTail() {
  auto made = std::make_unique<LogTail>();
  LogTail* none = nullptr;
  if (tail_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    (void)made.release();
  }
}

void Log::Write(const LogEntry& entry) noexcept {
  try {
    const LogOrigin origin = OriginNow();
    if (LogTail* const tail = tail_.load(std::memory_order_acquire)) {
      tail->Add(entry, static_cast<uint64_t>(origin.time.tv_sec) * 1000 +
                           static_cast<uint64_t>(origin.time.tv_nsec) / 1'000'000);
    }
    const std::string text = FormatLogEntry(entry, format(), origin);
    const bool error = entry.level == LogLevel::kWarning || entry.level == LogLevel::kError;
    LogStream* const file_or_none = file_stream.load(std::memory_order_acquire);
    LogStream& standard = error ? StandardErrors() : StandardOutput();
    (file_or_none != nullptr ? *file_or_none : standard).Write(text);
  } catch (const std::exception&) {
    // There may be memory for the next line.
  }
}

LogLine::~LogLine() {
  Log::Instance().Write({.level = level_,
                         .file = file_,
                         .line = line_,
                         .message = stream_.view(),
                         .subject = subject_});
}

}  // namespace nereid::base
