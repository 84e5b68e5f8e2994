// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

namespace nereid::repository {

/// The identity of a model in a server. `space` is the path of the model's repository with
/// --model-namespacing, and empty without it.
struct ModelId {
  std::string name;
  std::string space = {};

  /// Compares by name first, so models of one name are adjacent in a map.
  auto operator<=>(const ModelId&) const = default;
};

/// Returns "name" or "space::name", the form of messages and of the log, as in Triton.
inline std::string ToText(const ModelId& id) {
  return id.space.empty() ? id.name : id.space + "::" + id.name;
}

/// Returns "name:version" with the name as above.
inline std::string VersionText(const ModelId& id, int64_t version) {
  return ToText(id) + ":" + std::to_string(version);
}

inline std::ostream& operator<<(std::ostream& out, const ModelId& id) { return out << ToText(id); }

}  // namespace nereid::repository
