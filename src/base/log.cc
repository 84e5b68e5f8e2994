// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

namespace nereid::base {
namespace {

std::mutex file_mutex;  // guards file_path and the exchange of descriptors
std::string file_path;  // NOLINT: guarded by file_mutex

void WriteAll(int descriptor, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(descriptor, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a log that cannot be written must not stop the server
    written += static_cast<size_t>(n);
  }
}

std::string Prefix(LogFormat format, LogLevel level, std::string_view file, int line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  constexpr char kLetters[] = {'I', 'W', 'E', 'I'};
  const char letter = kLetters[static_cast<int>(level)];
  const size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  char text[160];
  if (format == LogFormat::kIso8601) {
    std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ %c %d %.*s:%d] ",
                  utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                  utc.tm_sec, letter, static_cast<int>(getpid()),
                  static_cast<int>(std::min<size_t>(file.size(), 60)), file.data(), line);
  } else {
    std::snprintf(text, sizeof(text), "%c%02d%02d %02d:%02d:%02d.%06ld %d %.*s:%d] ", letter,
                  utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                  now.tv_nsec / 1000, static_cast<int>(getpid()),
                  static_cast<int>(std::min<size_t>(file.size(), 60)), file.data(), line);
  }
  return text;
}

}  // namespace

Log& Log::Instance() {
  static Log* const log = new Log();  // never destroyed: threads may log until the very end
  return *log;
}

Log::Log() {
  const char* escape = std::getenv("TRITON_SERVER_ESCAPE_LOG_MESSAGES");
  escape_ = escape == nullptr || std::strcmp(escape, "0") != 0;
}

void Log::SetEnabled(LogLevel level, bool enabled) {
  if (level == LogLevel::kVerbose) return;
  enabled_[static_cast<int>(level)].store(enabled, std::memory_order_relaxed);
}

void Log::SetVerboseLevel(int level) {
  verbose_level_.store(level < 0 ? 0 : level, std::memory_order_relaxed);
}

Status Log::SetFile(const std::string& path) {
  std::lock_guard lock(file_mutex);
  int descriptor = -1;
  if (!path.empty()) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      return Status::Internal("failed to open log file '" + path + "': " + std::strerror(errno));
    }
  }
  // The old descriptor stays open: another thread may be writing to it this very moment.
  file_descriptor_.store(descriptor, std::memory_order_release);
  file_path = path;
  return Status::Ok();
}

std::string Log::file() const {
  std::lock_guard lock(file_mutex);
  return file_path;
}

void Log::Write(LogLevel level, std::string_view file, int line, std::string_view message,
                std::string_view raw_tail) {
  std::string text = Prefix(format(), level, file, line);
  text += escape_ ? JsonQuote(message) : std::string(message);
  text += '\n';
  if (!raw_tail.empty()) {
    text.append(raw_tail);
    if (raw_tail.back() != '\n') text += '\n';
  }
  int descriptor = file_descriptor_.load(std::memory_order_acquire);
  if (descriptor < 0) {
    descriptor = level == LogLevel::kWarning || level == LogLevel::kError ? 2 : 1;
  }
  WriteAll(descriptor, text);
}

std::string JsonQuote(std::string_view s) {
  std::string out;
  out.reserve(s.size() + 2);
  out += '"';
  for (const char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escaped[8];
          std::snprintf(escaped, sizeof(escaped), "\\u%04X", static_cast<unsigned char>(c));
          out += escaped;
        } else {
          out += c;
        }
    }
  }
  out += '"';
  return out;
}

}  // namespace nereid::base
