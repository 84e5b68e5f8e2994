// SPDX-License-Identifier: Apache-2.0
#include "app/tools/top/top_frame.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "app/tools/remote/terminal_text.h"
#include "app/tools/report_text.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr size_t kMaxNameCharacters = 60;

using Key = std::pair<std::string, std::string>;  // model and version

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

/// Returns a number for people, "-" for none.
std::string OrDash(double value, int digits) { return value == 0 ? "-" : Fixed(value, digits); }

void SetNumbers(const ModelCounters& before, const ModelCounters& after, double seconds,
                TopRow* row) {
  row->memory_bytes = after.memory_bytes;
  if (seconds <= 0) return;
  const ModelCounters grown = Difference(before, after);
  const auto per_second = [&](uint64_t count) { return static_cast<double>(count) / seconds; };
  row->requests_per_second = per_second(grown.success.count);
  row->failures_per_second = per_second(grown.fail.count);
  row->inferences_per_second = per_second(grown.inferences);
  if (grown.success.count > 0) {
    const auto requests = static_cast<double>(grown.success.count);
    row->latency_ms = static_cast<double>(grown.success.ns) / 1e6 / requests;
    row->queue_ms = static_cast<double>(grown.queue.ns) / 1e6 / requests;
  }
  if (grown.executions > 0) {
    row->batch = static_cast<double>(grown.inferences) / static_cast<double>(grown.executions);
  }
  double busy_ns = 0;
  for (const BatchCounter& batch : grown.batches) busy_ns += static_cast<double>(batch.ns);
  row->busy = busy_ns / 1e9 / seconds;
}

/// Returns the first `columns` characters of UTF-8 text.
std::string Cut(const std::string& text, size_t columns) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u) continue;
    if (count++ == columns) return text.substr(0, i);
  }
  return text;
}

std::vector<std::string> Cells(const TopRow& row) {
  return {TerminalText(row.model, kMaxNameCharacters),
          TerminalText(row.version, 20),
          row.state.empty() ? "-" : TerminalText(row.state, 20),
          OrDash(row.requests_per_second, 1),
          OrDash(row.failures_per_second, 1),
          OrDash(row.inferences_per_second, 1),
          OrDash(row.latency_ms, 3),
          OrDash(row.queue_ms, 3),
          OrDash(row.batch, 2),
          OrDash(row.busy, 2),
          row.memory_bytes == 0 ? "-" : ByteText(row.memory_bytes)};
}

std::string Head(const std::vector<TopRow>& rows, const TopView& view) {
  double requests = 0, busy = 0;
  for (const TopRow& row : rows) {
    requests += row.requests_per_second;
    busy += row.busy;
  }
  return TerminalText(view.url, 200) + "  " + Fixed(requests, 1) + " requests/s, " +
         Fixed(busy, 2) + " busy, over " + Fixed(view.seconds, 1) + " s";
}

}  // namespace

std::vector<TopRow> TopRows(const TopSample& before, const TopSample& after) {
  std::map<Key, TopRow> rows;
  for (const IndexedModel& model : after.index) {
    rows[{model.name, model.version}] = {model.name, model.version,
                                         model.state.empty() ? "not loaded" : model.state};
  }
  std::map<Key, const ModelCounters*> old;
  for (const ModelCounters& model : before.counters) old[{model.name, model.version}] = &model;
  const double seconds = before.time_ns == 0 || after.time_ns <= before.time_ns
                             ? 0
                             : static_cast<double>(after.time_ns - before.time_ns) / 1e9;
  for (const ModelCounters& model : after.counters) {
    TopRow& row = rows[{model.name, model.version}];
    row.model = model.name;
    row.version = model.version;
    const auto found = old.find({model.name, model.version});
    // What a model that is new has counted was counted since the last sample.
    SetNumbers(found == old.end() ? ModelCounters() : *found->second, model, seconds, &row);
  }
  std::vector<TopRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const TopRow& a, const TopRow& b) {
    return a.requests_per_second > b.requests_per_second;
  });
  return sorted;
}

std::string TopText(const std::vector<TopRow>& rows, const TopView& view) {
  constexpr size_t kFixedLines = 3;  // the head, an empty line or the problem, the names of columns
  std::vector<std::vector<std::string>> table = {{"MODEL", "VERSION", "STATE", "REQ/S", "FAIL/S",
                                                  "INFER/S", "MEAN ms", "QUEUE ms", "BATCH", "BUSY",
                                                  "MEMORY"}};
  size_t shown = rows.size();
  if (view.lines != 0 && rows.size() + kFixedLines + 1 > view.lines) {
    shown = view.lines > kFixedLines + 2 ? view.lines - kFixedLines - 2 : 0;
    shown = std::min(shown, rows.size());
  }
  for (size_t i = 0; i < shown; ++i) table.push_back(Cells(rows[i]));
  std::string text =
      Head(rows, view) + "\n" + TerminalText(view.problem, 300) + "\n" + Columns(table);
  if (shown < rows.size()) text += "and " + std::to_string(rows.size() - shown) + " more\n";
  std::istringstream lines(text);
  std::string result;
  size_t index = 0;
  for (std::string line; std::getline(lines, line); ++index) {
    if (view.columns != 0) line = Cut(line, view.columns);
    const char* const code = index == 0                            ? "1"
                             : index == 1 && !view.problem.empty() ? "31"
                             : index == 2                          ? "7"
                                                                   : nullptr;
    if (view.color && code != nullptr) line = std::string("\x1b[") + code + "m" + line + "\x1b[0m";
    result += line + "\n";
  }
  return result;
}

std::string TopJson(const std::vector<TopRow>& rows) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginArray();
  for (const TopRow& row : rows) {
    json.BeginObject();
    WriteMember("name", row.model, &json);
    WriteMember("version", row.version, &json);
    WriteMember("state", row.state, &json);
    json.Key("requests_per_second").Raw(Fixed(row.requests_per_second, 3));
    json.Key("failures_per_second").Raw(Fixed(row.failures_per_second, 3));
    json.Key("inferences_per_second").Raw(Fixed(row.inferences_per_second, 3));
    json.Key("latency_ms").Raw(Fixed(row.latency_ms, 6));
    json.Key("queue_ms").Raw(Fixed(row.queue_ms, 6)).Key("batch").Raw(Fixed(row.batch, 3));
    json.Key("busy").Raw(Fixed(row.busy, 6)).Key("memory_bytes").Integer(row.memory_bytes);
    json.EndObject();
  }
  json.EndArray();
  return text + "\n";
}

}  // namespace nereid::app::tools
