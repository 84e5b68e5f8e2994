// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace nereid::base {

enum class LogLevel { kInfo = 0, kWarning = 1, kError = 2, kVerbose = 3 };
enum class LogFormat { kDefault = 0, kIso8601 = 1, kJson = 2 };

/// What a line of the log is about. A JSON line has a member for each text that is not empty. The
/// other formats show only the message.
struct LogSubject {
  std::string_view model = {};
  std::string_view request_id = {};
  std::string_view trace_id = {};
};

/// One line of the log.
struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  std::string_view file = {};  // with or without its directory
  int line = 0;
  std::string_view message = {};
  /// Text that follows as it is, on lines of its own, for a table. A part of a JSON line's message.
  std::string_view table = {};
  LogSubject subject = {};
  /// Further members of a JSON line, such as `"status":200,"ms":0.4`. The other formats omit them.
  std::string_view json_members = {};
};

/// What every line shows about the process and the time.
struct LogOrigin {
  timespec time = {};  // since the epoch
  int pid = 0;
  /// Whether the default and ISO8601 formats write the message as a JSON string. Without that a
  /// message is written as it is, and may contain line breaks.
  bool quote = true;
};

/// Appends `text` as a JSON string that shows each character that could change the look of a log:
/// besides RFC 8259's escapes, \u007F to \u009F, line and paragraph separators, and marks that
/// change the direction of writing. A byte that is not UTF-8 becomes U+FFFD.
void AppendLogQuoted(std::string_view text, std::string* out);

/// Returns the text of an entry, with its line break. Formats:
///
///   default: `I1121 10:56:01.123456 4711 file.cc:12] "message"` (UTC, process id)
///   ISO8601: `2026-11-21T10:56:01Z I 4711 file.cc:12] "message"`
///   JSON:    `{"time":"2026-11-21T10:56:01.123456Z","level":"INFO","pid":4711,"file":"file.cc",
///            "line":12,"message":"message"}` and further members, without white space
///
/// No text of an entry but `table`, or a message that is not quoted, can add a line.
std::string FormatLogEntry(const LogEntry& entry, LogFormat format, const LogOrigin& origin);

}  // namespace nereid::base
