// SPDX-License-Identifier: Apache-2.0
#include "base/log_entry.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "base/json_text.h"
#include "base/json_writer.h"

namespace nereid::base {
namespace {

constexpr size_t kMaxFileName = 60;

/// A character that could change the look of a log. `size` is its length in UTF-8.
struct Hidden {
  uint32_t code;  // 0: none
  size_t size;
};

/// Returns the hidden character at the beginning of `text`, which is UTF-8; {0, 1} if there is
/// none.
Hidden FindHidden(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  if (byte(0) == 0x7f) return {0x7f, 1};
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return {byte(1), 2};  // C1 controls
  uint32_t code = 0;
  if (byte(0) == 0xd8) code = (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
  if (code == 0x61c) return {code, 2};
  if (byte(0) != 0xe2) return {0, 1};
  code = (byte(0) & 0xfu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
  const bool is_mark = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069);
  if (is_mark) return {code, 3};
  return {0, 1};
}

std::string_view FileName(std::string_view file) {
  const size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return file.substr(0, kMaxFileName);
}

/// Returns a plug-in's file name for the text formats, which do not quote it.
std::string Printable(std::string_view file) {
  std::string text(file);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  return text;
}

std::string Prefix(const LogEntry& entry, LogFormat format, const LogOrigin& origin) {
  tm utc{};
  gmtime_r(&origin.time.tv_sec, &utc);
  constexpr char kLetters[] = {'I', 'W', 'E', 'I'};
  const char letter = kLetters[static_cast<int>(entry.level)];
  const std::string file = Printable(FileName(entry.file));
  char text[160];
  if (format == LogFormat::kIso8601) {
    std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ %c %d %s:%d] ",
                  utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                  utc.tm_sec, letter, origin.pid, file.c_str(), entry.line);
  } else {
    std::snprintf(text, sizeof(text), "%c%02d%02d %02d:%02d:%02d.%06ld %d %s:%d] ", letter,
                  utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                  origin.time.tv_nsec / 1000, origin.pid, file.c_str(), entry.line);
  }
  return text;
}

std::string JsonLine(const LogEntry& entry, const LogOrigin& origin) {
  constexpr std::string_view kLevels[] = {"INFO", "WARNING", "ERROR", "VERBOSE"};
  tm utc{};
  gmtime_r(&origin.time.tv_sec, &utc);
  char time[64];
  std::snprintf(time, sizeof(time), "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                origin.time.tv_nsec / 1000);
  std::string text;
  JsonWriter json(&text);
  const auto member = [&](std::string_view key, std::string_view value) {
    std::string quoted;
    AppendLogQuoted(value, &quoted);
    json.Key(key).Raw(quoted);
  };
  json.BeginObject().Key("time").String(time);
  json.Key("level").String(kLevels[static_cast<int>(entry.level)]);
  json.Key("pid").Integer(origin.pid);
  member("file", FileName(entry.file));
  json.Key("line").Integer(entry.line);
  if (entry.table.empty()) {
    member("message", entry.message);
  } else {
    member(
        "message",
        std::string(entry.message).append(entry.message.empty() ? "" : "\n").append(entry.table));
  }
  if (!entry.subject.model.empty()) member("model", entry.subject.model);
  if (!entry.subject.request_id.empty()) member("request_id", entry.subject.request_id);
  if (!entry.subject.trace_id.empty()) member("trace_id", entry.subject.trace_id);
  if (!entry.json_members.empty()) text.append(",").append(entry.json_members);
  text += "}\n";
  return text;
}

}  // namespace

void AppendLogQuoted(std::string_view text, std::string* out) {
  const bool is_ascii = std::all_of(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x7f; });
  if (is_ascii) return AppendJsonQuoted(text, out);
  const std::string quoted = JsonQuote(text);
  std::string_view rest = quoted;
  while (!rest.empty()) {
    const Hidden found = FindHidden(rest);
    if (found.code == 0) {
      *out += rest.front();
    } else {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04X", found.code);
      *out += escape;
    }
    rest.remove_prefix(found.size);
  }
}

std::string FormatLogEntry(const LogEntry& entry, LogFormat format, const LogOrigin& origin) {
  if (format == LogFormat::kJson) return JsonLine(entry, origin);
  std::string text = Prefix(entry, format, origin);
  if (origin.quote) {
    AppendLogQuoted(entry.message, &text);
  } else {
    text += entry.message;
  }
  text += '\n';
  if (entry.table.empty()) return text;
  text += entry.table;
  if (entry.table.back() != '\n') text += '\n';
  return text;
}

}  // namespace nereid::base
