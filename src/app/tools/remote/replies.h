// SPDX-License-Identifier: Apache-2.0
// The documents of a v2 server that the tools read. A server may be another one than Nereid, and
// may be hostile: members of another type or beyond the limits are errors, unknown members are
// ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::app::tools {

struct IndexedModel {
  std::string name;
  std::string version = {};
  std::string state = {};  // empty: not loaded
  std::string reason = {};
};
base::Result<std::vector<IndexedModel>> DecodeIndex(std::string_view json);

struct ModelNumbers {
  std::string name;
  std::string version = {};
  std::optional<uint64_t> inferences = std::nullopt;
  std::optional<uint64_t> memory_bytes = std::nullopt;  // of all kinds of memory
};
base::Result<std::vector<ModelNumbers>> DecodeStatistics(std::string_view json);

struct ServerDescription {
  std::string name;
  std::string version;
  std::vector<std::string> extensions;
};
base::Result<ServerDescription> DecodeServer(std::string_view json);

/// A member of "reasons" in Nereid's documents about health.
struct HealthReason {
  std::string cause;
  std::string model = {};
  std::string version = {};
  std::string state = {};
  std::string text = {};
};
base::Result<std::vector<HealthReason>> DecodeReasons(std::string_view json);

/// Returns the text of {"error": text}; the beginning of the body itself if it is something else.
std::string ErrorText(std::string_view body);

}  // namespace nereid::app::tools
