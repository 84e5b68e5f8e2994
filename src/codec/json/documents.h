// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/metadata.h"
#include "api/statistics.h"

namespace nereid::codec::json {

// The response bodies of the management endpoints. The order of the members is Triton's.
std::string EncodeError(std::string_view message);
std::string EncodeServerMetadata(const api::ServerMetadata& metadata);
std::string EncodeModelMetadata(const api::ModelMetadata& metadata);
std::string EncodeStatistics(const std::vector<api::ModelStatistics>& statistics);
std::string EncodeSequences(const api::SequenceList& list);
std::string EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries);

}  // namespace nereid::codec::json
