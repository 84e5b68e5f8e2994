// SPDX-License-Identifier: Apache-2.0
#include "api/access_record.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/log.h"

namespace nereid::api {
namespace {

std::string Cut(std::string_view text) {
  return std::string(text.substr(0, AccessRecord::kMaxTextSize));
}

/// Returns whether a value of the text formats needs no quotes.
bool IsPlain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '=';
  });
}

/// Collects the properties of a request in both forms: as members of a JSON object, and as
/// `name=value` with a blank between the pairs, with quotes where a value is not plain.
class Properties {
 public:
  void Text(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    std::string quoted;
    base::AppendLogQuoted(value, &quoted);
    Add(name, quoted, IsPlain(value) ? value : quoted);
  }
  void Number(std::string_view name, std::string_view value) { Add(name, value, value); }
  void Number(std::string_view name, uint64_t value) { Number(name, std::to_string(value)); }

  const std::string& json() const { return json_; }
  const std::string& text() const { return text_; }

 private:
  void Add(std::string_view name, std::string_view json, std::string_view text) {
    json_.append(json_.empty() ? "\"" : ",\"").append(name).append("\":").append(json);
    text_.append(text_.empty() ? "" : " ").append(name).append("=").append(text);
  }

  std::string json_, text_;
};

std::string Milliseconds(uint64_t ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1'000'000, ns / 1'000 % 1'000);
  return text;
}

}  // namespace

AccessRecord::AccessRecord(Request request)
    : protocol_(request.protocol),
      method_(Cut(request.method)),
      path_(Cut(request.path)),
      peer_(std::move(request.peer)),
      start_ns_(request.start_ns) {}

void AccessRecord::SetTarget(std::string_view model, std::string_view request_id) {
  const base::MutexLock lock(mutex_);
  model_ = Cut(model);
  request_id_ = Cut(request_id);
}

void AccessRecord::SetTrace(std::string_view trace_id) {
  const base::MutexLock lock(mutex_);
  trace_id_ = Cut(trace_id);
}

void AccessRecord::Write(int status, uint64_t end_ns) noexcept {
  try {
    WriteLine(status, end_ns);
  } catch (const std::exception&) {
    // There may be memory for the next line.
  }
}

void AccessRecord::WriteLine(int status, uint64_t end_ns) {
  const base::MutexLock lock(mutex_);
  Properties properties;
  properties.Text("protocol", protocol_);
  properties.Text("method", method_);
  properties.Text("path", path_);
  properties.Number("status", static_cast<uint64_t>(std::max(status, 0)));
  properties.Number("bytes_in", received_.load(std::memory_order_relaxed));
  properties.Number("bytes_out", sent_.load(std::memory_order_relaxed));
  properties.Number("ms", Milliseconds(end_ns > start_ns_ ? end_ns - start_ns_ : 0));
  properties.Text("peer", peer_);
  base::Log& log = base::Log::Instance();
  base::LogEntry entry{.file = "access_log", .message = "request"};
  entry.subject = {.model = model_, .request_id = request_id_, .trace_id = trace_id_};
  entry.json_members = properties.json();
  if (log.format() == base::LogFormat::kJson) return log.Write(entry);
  // The other formats show only the message.
  properties.Text("model", model_);
  properties.Text("request_id", request_id_);
  properties.Text("trace_id", trace_id_);
  entry.message = properties.text();
  log.Write(entry);
}

}  // namespace nereid::api
