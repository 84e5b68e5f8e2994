// SPDX-License-Identifier: Apache-2.0
#include "app/tables.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/terminal.h"

namespace nereid::app {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> Lines(std::string_view cell) {
  std::vector<std::string> lines(1);
  for (char c : cell) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      lines.back() += control ? '?' : c;
    }
  }
  return lines;
}

// One row of the table: its cells, each split into lines.
using Cells = std::vector<std::vector<std::string>>;

Cells CutRow(const Row& row, size_t columns) {
  Cells cells;
  for (size_t i = 0; i < columns; ++i) {
    cells.push_back(i < row.size() ? Lines(row[i]) : std::vector<std::string>(1));
  }
  return cells;
}

void AppendRow(const Cells& cells, const std::vector<size_t>& widths, std::string* out) {
  size_t height = 0;
  for (const auto& lines : cells) height = std::max(height, lines.size());
  for (size_t line = 0; line < height; ++line) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string_view text = line < cells[i].size() ? cells[i][line] : std::string_view();
      out->append("| ").append(text).append(widths[i] - base::CharacterCount(text) + 1, ' ');
    }
    out->append("|\n");
  }
}

void AppendBorder(const std::vector<size_t>& widths, std::string* out) {
  for (size_t width : widths) out->append("+").append(width + 2, '-');
  out->append("+\n");
}

std::string Indexed(std::string_view name, size_t index, const char* brackets) {
  std::string text(name);
  text += brackets[0];
  return text.append(std::to_string(index)) += brackets[1];
}

std::string OneDecimal(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.1f", value);
  return buffer;
}

std::string_view ControlModeName(ModelControlMode mode) {
  switch (mode) {
    case ModelControlMode::kNone:
      return "MODE_NONE";
    case ModelControlMode::kPoll:
      return "MODE_POLL";
    case ModelControlMode::kExplicit:
      return "MODE_EXPLICIT";
  }
  return "";
}

void AppendRepositoryRows(const RepositoryOptions& repository, std::vector<Row>& rows) {
  size_t index = 0;
  for (const std::string& path : repository.paths) {
    rows.push_back({Indexed("model_repository_path", index++, "[]"), path});
  }
  rows.push_back({"model_control_mode", std::string(ControlModeName(repository.control_mode))});
  index = 0;
  for (const std::string& model : repository.startup_models) {
    rows.push_back({"startup_models_" + std::to_string(index++), model});
  }
  rows.push_back({"strict_model_config", repository.strict_model_config ? "1" : "0"});
  rows.push_back({"model_config_name", repository.model_config_name});
}

Row GpuRow(const device::Gpu& gpu, const std::string& used) {
  const double gib = static_cast<double>(gpu.memory) / static_cast<double>(uint64_t{1} << 30);
  return {std::to_string(gpu.ordinal),
          gpu.name,
          std::to_string(gpu.major) + "." + std::to_string(gpu.minor),
          OneDecimal(gib) + " GiB",
          gpu.pci_id,
          gpu.uuid,
          used};
}

void AppendRateLimitRows(const RateLimitOptions& rate_limit, std::vector<Row>& rows) {
  rows.push_back({"rate_limit", rate_limit.mode == RateLimitMode::kOff ? "OFF" : "EXEC_COUNT"});
  size_t index = 0;
  for (const RateLimitResource& resource : rate_limit.resources) {
    std::string value = resource.name + ":" + std::to_string(resource.count);
    if (resource.device) value.append(":").append(std::to_string(*resource.device));
    rows.push_back({Indexed("rate_limit_resource", index++, "[]"), std::move(value)});
  }
}

}  // namespace

std::string RenderTable(const std::vector<std::string>& headers,
                        const std::vector<std::vector<std::string>>& rows) {
  std::vector<Cells> table = {CutRow(headers, headers.size())};
  for (const Row& row : rows) table.push_back(CutRow(row, headers.size()));
  std::vector<size_t> widths(headers.size(), 0);
  for (const Cells& cells : table) {
    for (size_t i = 0; i < cells.size(); ++i) {
      for (const std::string& line : cells[i]) {
        widths[i] = std::max(widths[i], base::CharacterCount(line));
      }
    }
  }
  std::string out;
  AppendBorder(widths, &out);
  AppendRow(table.front(), widths, &out);
  AppendBorder(widths, &out);
  for (size_t i = 1; i < table.size(); ++i) AppendRow(table[i], widths, &out);
  AppendBorder(widths, &out);
  return out;
}

std::string RepositoryAgentTable(const std::vector<RepositoryAgentRow>& agents) {
  std::vector<Row> rows;
  for (const RepositoryAgentRow& agent : agents) rows.push_back({agent.name, agent.path});
  return RenderTable({"Repository Agent", "Path"}, rows);
}

std::string BackendTable(const std::vector<BackendRow>& backends) {
  std::vector<Row> rows;
  for (const BackendRow& backend : backends) {
    rows.push_back({backend.name, backend.path, backend.config});
  }
  return RenderTable({"Backend", "Path", "Config"}, rows);
}

std::string ModelTable(const std::vector<ModelRow>& models, size_t max_columns) {
  size_t others = base::CharacterCount("Model") + base::CharacterCount("Version");
  for (const ModelRow& model : models) {
    others = std::max(
        others, std::max(base::CharacterCount("Model"), base::CharacterCount(model.model)) +
                    std::max(base::CharacterCount("Version"), base::CharacterCount(model.version)));
  }
  // The borders and blanks of three columns, and at least the word UNAVAILABLE.
  constexpr size_t kBorders = 10;
  constexpr size_t kMinStatus = 12;
  const size_t left = max_columns > others + kBorders ? max_columns - others - kBorders : 0;
  const size_t max_status = max_columns == 0 ? 0 : std::max(left, kMinStatus);
  std::vector<Row> rows;
  for (const ModelRow& model : models) {
    rows.push_back({model.model, model.version, base::CutTo(model.status, max_status)});
  }
  return RenderTable({"Model", "Version", "Status"}, rows);
}

std::string CpuPlanTable(const std::vector<CpuShareRow>& shares) {
  std::vector<Row> rows;
  for (const CpuShareRow& share : shares) {
    rows.push_back(
        {share.model, share.version, share.instances, share.threads, share.cpus, share.set_by});
  }
  return RenderTable({"Model", "Version", "CPU instances", "Threads each", "CPUs", "Set by"}, rows);
}

std::string GpuTable(const device::Gpus& gpus) {
  std::vector<Row> rows;
  for (const device::Gpu& gpu : gpus.used()) rows.push_back(GpuRow(gpu, "yes"));
  for (const device::Gpu& gpu : gpus.too_old()) rows.push_back(GpuRow(gpu, "no: too old"));
  return RenderTable({"GPU", "Name", "Compute capability", "Memory", "PCI id", "UUID", "Used"},
                     rows);
}

std::string SettingsTable(const ServerOptions& options, const ServerIdentity& identity) {
  std::string extensions;
  for (const std::string& extension : identity.extensions) {
    extensions.append(extensions.empty() ? "" : " ").append(extension);
  }
  std::vector<Row> rows = {{"server_id", options.id},
                           {"server_version", identity.version},
                           {"server_extensions", extensions}};
  AppendRepositoryRows(options.repository, rows);
  AppendRateLimitRows(options.rate_limit, rows);
  rows.push_back({"pinned_memory_pool_byte_size",
                  std::to_string(options.devices.pinned_memory_pool_byte_size)});
  for (const auto& [device, bytes] : options.devices.cuda_memory_pool_byte_size) {
    rows.push_back({Indexed("cuda_memory_pool_byte_size", static_cast<size_t>(device), "{}"),
                    std::to_string(bytes)});
  }
  rows.push_back({"min_supported_compute_capability",
                  OneDecimal(options.devices.min_supported_compute_capability)});
  rows.push_back({"strict_readiness", options.repository.strict_readiness ? "1" : "0"});
  rows.push_back({"exit_timeout", std::to_string(options.exit_timeout_secs)});
  rows.push_back({"cache_enabled", options.plugins.cache_name.empty() ? "0" : "1"});
  return RenderTable({"Option", "Value"}, rows);
}

}  // namespace nereid::app
