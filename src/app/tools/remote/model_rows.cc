// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/model_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "app/tools/remote/terminal_text.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr size_t kMaxCell = 120;  // characters; a long name must not widen each row

/// Orders versions by their number: "2" before "10".
bool Before(const ModelRow& a, const ModelRow& b) {
  if (a.model.name != b.model.name) return a.model.name < b.model.name;
  const std::string &x = a.model.version, &y = b.model.version;
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

void AddNumbers(const std::vector<ModelNumbers>& numbers, std::vector<ModelRow>* rows) {
  std::map<std::pair<std::string, std::string>, const ModelNumbers*> by_version;
  for (const ModelNumbers& of : numbers) by_version[{of.name, of.version}] = &of;
  for (ModelRow& row : *rows) {
    const auto found = by_version.find({row.model.name, row.model.version});
    if (found == by_version.end()) continue;
    row.inferences = found->second->inferences;
    row.memory_bytes = found->second->memory_bytes;
  }
}

void WriteText(std::string_view key, const std::string& text, base::JsonWriter* json) {
  json->Key(key).String(text);
}

}  // namespace

base::Result<std::vector<ModelRow>> ReadModelRows(RemoteServer& server) {
  NEREID_ASSIGN_OR_RETURN(std::vector<IndexedModel> models, server.Index());
  std::vector<ModelRow> rows;
  for (IndexedModel& model : models) rows.push_back({std::move(model)});
  std::stable_sort(rows.begin(), rows.end(), Before);
  // A server without statistics, or a caller who may not read them, still has a list.
  const auto reply = server.Get("/v2/models/stats");
  if (!reply.ok() || !reply->ok()) return rows;
  if (const auto numbers = DecodeStatistics(reply->body); numbers.ok()) AddNumbers(*numbers, &rows);
  return rows;
}

std::vector<ModelRow> RowsOf(std::vector<ModelRow> rows, const std::vector<std::string>& names) {
  if (names.empty()) return rows;
  std::erase_if(rows, [&](const ModelRow& row) {
    return std::find(names.begin(), names.end(), row.model.name) == names.end();
  });
  return rows;
}

std::string ShowModel(RemoteServer& server, const std::string& model, bool json,
                      size_t max_columns) {
  auto rows = ReadModelRows(server);
  if (!rows.ok()) return "";
  const std::vector<ModelRow> shown = RowsOf(std::move(rows).value(), {model});
  return json ? ModelRowsJson(shown) : ModelRowsText(shown, max_columns);
}

std::string ModelRowsText(const std::vector<ModelRow>& rows, size_t max_columns) {
  const auto has = [&](auto member) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ModelRow& row) { return (row.*member).has_value(); });
  };
  const bool memory = has(&ModelRow::memory_bytes), inferences = has(&ModelRow::inferences);
  std::vector<std::string> head = {"MODEL", "VERSION", "STATE"};
  if (memory) head.push_back("MEMORY");
  if (inferences) head.push_back("INFERENCES");
  head.push_back("REASON");
  std::vector<std::vector<std::string>> table = {std::move(head)};
  for (const ModelRow& row : rows) {
    const IndexedModel& model = row.model;
    auto& cells = table.emplace_back();
    cells.push_back(TerminalText(model.name, kMaxCell));
    cells.push_back(model.version.empty() ? "-" : TerminalText(model.version, kMaxCell));
    cells.push_back(model.state.empty() ? "not loaded" : TerminalText(model.state, kMaxCell));
    if (memory) cells.push_back(row.memory_bytes ? ByteText(*row.memory_bytes) : "-");
    if (inferences) cells.push_back(row.inferences ? std::to_string(*row.inferences) : "-");
    cells.push_back(TerminalText(model.reason));
  }
  return Columns(table, max_columns);
}

std::string ModelRowsJson(const std::vector<ModelRow>& rows) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginArray();
  for (const ModelRow& row : rows) {
    json.NewLine().BeginObject();
    WriteText("name", row.model.name, &json);
    WriteText("version", row.model.version, &json);
    WriteText("state", row.model.state, &json);
    WriteText("reason", row.model.reason, &json);
    if (row.memory_bytes) json.Key("memory_bytes").Integer(*row.memory_bytes);
    if (row.inferences) json.Key("inferences").Integer(*row.inferences);
    json.EndObject();
  }
  json.NewLine().EndArray();
  return text + "\n";
}

}  // namespace nereid::app::tools
