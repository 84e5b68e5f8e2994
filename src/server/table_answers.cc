// SPDX-License-Identifier: Apache-2.0
#include "server/table_answers.h"

#include <memory>
#include <utility>

#include "server/served_model.h"

namespace nereid::server {

using base::Status;
using repository::VersionState;

namespace {

std::vector<api::TensorMetadata> Describe(const config::ModelConfig& config,
                                          const std::vector<config::TensorSpec>& tensors) {
  std::vector<api::TensorMetadata> described;
  for (const config::TensorSpec& spec : tensors) {
    described.push_back(
        {spec.name, std::string(tensor::DataTypeName(spec.data_type)), config.FullShape(spec)});
  }
  return described;
}

}  // namespace

api::ModelMetadata DescribeConfig(const config::ModelConfig& config, const std::string& name,
                                  const std::vector<int64_t>& versions) {
  api::ModelMetadata metadata;
  metadata.name = name;
  for (const int64_t version : versions) metadata.versions.push_back(std::to_string(version));
  metadata.platform = config.platform().empty() ? config.backend() : config.platform();
  metadata.inputs = Describe(config, config.inputs());
  metadata.outputs = Describe(config, config.outputs());
  return metadata;
}

base::Result<api::ModelMetadata> DescribeModel(const repository::ModelTable& table,
                                               const std::string& name, int64_t version) {
  NEREID_ASSIGN_OR_RETURN(const repository::ModelId id, table.Resolve(name));
  NEREID_ASSIGN_OR_RETURN(auto loaded, table.Find(id, version));
  std::vector<int64_t> versions;
  if (version >= 0) {
    versions.push_back(version);
  } else if (const auto* records = table.FindVersions(id)) {
    for (const auto& [number, record] : *records) {
      if (record.state() == VersionState::kReady) versions.push_back(number);
    }
  }
  return DescribeConfig(ServedModel::From(std::move(loaded))->config(), name, versions);
}

base::Result<std::vector<api::ModelStatistics>> CollectStatistics(
    const repository::ModelTable& table, const std::string& name, int64_t version) {
  std::vector<api::ModelStatistics> statistics;
  bool known = name.empty();
  const auto asked = table.Resolve(name);
  if (!known && !asked.ok()) {
    return Status::InvalidArgument("requested model '" + name +
                                   "' is not available: " + asked.status().message());
  }
  for (const auto& [id, versions] : table.models()) {
    if (!name.empty() && id != *asked) continue;
    for (const auto& [number, record] : versions) {
      if (record.state() != VersionState::kReady) continue;
      known = true;
      if (!name.empty() && version >= 0 && number != version) continue;
      statistics.push_back(ServedModel::Of(record).Statistics());
    }
  }
  if (!known) {
    return Status::InvalidArgument("requested model '" + name + "' is not available");
  }
  if (statistics.empty() && !name.empty()) {
    return Status::InvalidArgument("requested model version is not available for model '" + name +
                                   "'");
  }
  return statistics;
}

}  // namespace nereid::server
