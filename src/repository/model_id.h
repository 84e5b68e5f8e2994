// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

namespace nereid::repository {

/// What tells the models of a server apart. `space` is the path of the model's repository where the
/// server tells repositories apart (--model-namespacing), and empty where names alone must do.
struct ModelId {
  std::string name;
  std::string space = {};

  /// By name first: the models of one name lie beside each other.
  auto operator<=>(const ModelId&) const = default;
};

/// "name", or "space::name": what messages and the log say, as Triton's do.
inline std::string ToText(const ModelId& id) {
  return id.space.empty() ? id.name : id.space + "::" + id.name;
}

/// "name:version" with the name as above.
inline std::string VersionText(const ModelId& id, int64_t version) {
  return ToText(id) + ":" + std::to_string(version);
}

inline std::ostream& operator<<(std::ostream& out, const ModelId& id) { return out << ToText(id); }

}  // namespace nereid::repository
