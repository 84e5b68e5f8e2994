// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/metadata.h"
#include "api/statistics.h"
#include "base/result.h"
#include "repository/model_table.h"

namespace nereid::server {

/// Returns the metadata of a version (-1: of the latest ready one, with all ready versions listed).
/// NOT_FOUND or UNAVAILABLE, with Triton's text, for a model that cannot be asked.
base::Result<api::ModelMetadata> DescribeModel(const repository::ModelTable& table,
                                               const std::string& name, int64_t version);

/// Returns the metadata of a model by its configuration.
api::ModelMetadata DescribeConfig(const config::ModelConfig& config, const std::string& name,
                                  const std::vector<int64_t>& versions);

/// Returns the statistics of the ready versions: of all models where `name` is empty, of all
/// versions where `version` is negative. INVALID_ARGUMENT, with Triton's text, where there is none.
base::Result<std::vector<api::ModelStatistics>> CollectStatistics(
    const repository::ModelTable& table, const std::string& name, int64_t version);

}  // namespace nereid::server
