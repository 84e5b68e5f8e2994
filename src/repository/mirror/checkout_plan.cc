// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/checkout_plan.h"

#include <map>
#include <set>
#include <string_view>

#include "base/checked_math.h"

namespace nereid::repository::mirror {

using base::Status;
using storage::ObjectInfo;

namespace {

constexpr size_t kMaxNameBytes = 255;   // NAME_MAX of Linux's file systems
constexpr size_t kMaxPathBytes = 2048;  // leaves half of PATH_MAX to the cache's own directory
constexpr size_t kMaxObjects = 100'000;

/// Returns what is wrong with a relative path; empty for a good one.
std::string WhyNoPath(std::string_view path) {
  if (path.size() > kMaxPathBytes) {
    return "is longer than the " + std::to_string(kMaxPathBytes) + " bytes of a path";
  }
  if (path.find('\0') != std::string_view::npos) return "contains a zero byte";
  while (true) {
    const size_t end = path.find('/');
    const std::string_view name = path.substr(0, end);
    if (name.empty()) return "contains an empty name between two '/'";
    if (name == "." || name == "..") return "contains the name '" + std::string(name) + "'";
    if (name.size() > kMaxNameBytes) {
      return "contains a name that is longer than " + std::to_string(kMaxNameBytes) + " bytes";
    }
    if (end == std::string_view::npos) return "";
    path.remove_prefix(end + 1);
  }
}

/// Adds the directories above a path.
void AddParents(const std::string& path, std::set<std::string>* directories) {
  for (size_t end = path.rfind('/'); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    if (!directories->insert(path.substr(0, end)).second) return;
  }
}

Status Refused(const std::string& model, const std::string& key, const std::string& reason) {
  return Status::InvalidArgument("model '" + model + "': the object '" + key + "' " + reason +
                                 "; rename or delete the object");
}

}  // namespace

base::Result<CheckoutPlan> PlanCheckout(const std::string& model, const std::string& prefix,
                                        const std::vector<ObjectInfo>& objects) {
  if (objects.size() > kMaxObjects) {
    return Status::InvalidArgument("model '" + model + "' has " + std::to_string(objects.size()) +
                                   " objects; at most " + std::to_string(kMaxObjects) +
                                   " are allowed");
  }
  std::set<std::string> directories;
  std::map<std::string, const ObjectInfo*> files;
  CheckoutPlan plan;
  for (const ObjectInfo& object : objects) {
    std::string path = object.key.substr(prefix.size());
    if (path.empty()) continue;  // the model's directory itself
    const bool is_directory = path.back() == '/';
    if (is_directory) path.pop_back();
    const std::string reason = WhyNoPath(path);
    if (!reason.empty()) return Refused(model, object.key, reason);
    AddParents(path, &directories);
    if (is_directory) {
      directories.insert(path);
      continue;
    }
    if (!files.emplace(path, &object).second) return Refused(model, object.key, "is listed twice");
    const auto sum = base::CheckedAdd<uint64_t>(plan.bytes, object.size);
    if (!sum) return Refused(model, object.key, "makes the model larger than 2^64 bytes");
    plan.bytes = *sum;
  }
  for (const auto& [path, object] : files) {
    if (directories.contains(path)) {
      return Refused(model, object->key,
                     "is a file, and other objects use its name as a directory");
    }
    plan.files.push_back({path, *object});
  }
  plan.directories.assign(directories.begin(), directories.end());
  return plan;
}

}  // namespace nereid::repository::mirror
