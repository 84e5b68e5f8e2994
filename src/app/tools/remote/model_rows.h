// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/replies.h"

namespace nereid::app::tools {

/// One version of a model with its numbers, if the server has told them.
struct ModelRow {
  IndexedModel model;
  std::optional<uint64_t> inferences = std::nullopt;
  std::optional<uint64_t> memory_bytes = std::nullopt;
};

/// Reads the index of a server, and its statistics if the server answers with them. The rows are in
/// the order of names and versions.
base::Result<std::vector<ModelRow>> ReadModelRows(RemoteServer& server);

/// Returns the rows of the models with these names; all rows if there are no names.
std::vector<ModelRow> RowsOf(std::vector<ModelRow> rows, const std::vector<std::string>& names);

/// Returns a table whose lines have at most `max_columns` characters; 0 is no limit.
std::string ModelRowsText(const std::vector<ModelRow>& rows, size_t max_columns);
/// Returns the rows of one model as text or JSON; empty if the server does not show them.
std::string ShowModel(RemoteServer& server, const std::string& model, bool json,
                      size_t max_columns);
std::string ModelRowsJson(const std::vector<ModelRow>& rows);

}  // namespace nereid::app::tools
