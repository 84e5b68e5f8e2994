// SPDX-License-Identifier: Apache-2.0
// Answers about models that are not in memory and can be loaded for a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/inference_service.h"
#include "base/result.h"
#include "repository/model_table.h"
#include "server/residency/model_residency.h"

namespace nereid::server {

/// Returns whether a model that is not ready can be loaded for a request to this version (-1: to
/// any). Returns false for a model whose last load has failed.
bool CanLoad(const ModelResidency& residency, const repository::ModelTable& table,
             const std::string& name, int64_t version);

/// Returns what the configuration of a known model says; `unknown` for another model.
base::Result<api::ModelTraits> TraitsOfKnown(const ModelResidency& residency,
                                             const std::string& name, int64_t version,
                                             base::Status unknown);

/// Return the metadata or the configuration of a known model as of its last time in memory. A model
/// that was not in memory before is loaded first, on a thread that may block; on another thread its
/// written configuration counts. Other models have the errors of DescribeModel and
/// ModelTable::Find.
base::Result<api::ModelMetadata> DescribeKnown(ModelResidency& residency,
                                               const repository::ModelLifecycle& lifecycle,
                                               const std::string& name, int64_t version);
base::Result<config::ModelConfigPtr> ConfigOfKnown(ModelResidency& residency,
                                                   const repository::ModelLifecycle& lifecycle,
                                                   const std::string& name, int64_t version);

/// Returns statistics without a count for each version of a known model; `unknown` for another
/// model.
base::Result<std::vector<api::ModelStatistics>> StatisticsOfKnown(const ModelResidency& residency,
                                                                  const std::string& name,
                                                                  int64_t version,
                                                                  base::Status unknown);

/// Adds the reason to the entries of known models that are not in memory.
void ExplainKnown(const ModelResidency& residency, std::vector<api::RepositoryIndexEntry>* index);

}  // namespace nereid::server
