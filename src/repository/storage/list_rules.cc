// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/list_rules.h"

#include <algorithm>

#include "base/log.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr size_t kMaxKey = 1024;    // bytes, of all three services
constexpr size_t kMaxToken = 4096;  // bytes, of the token of a page

}  // namespace

bool IsFileKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxKey) return false;
  const bool has_control = std::any_of(key.begin(), key.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (has_control) return false;
  if (key.back() == '/') key.remove_suffix(1);
  while (true) {
    const size_t end = std::min(key.find('/'), key.size());
    const std::string_view component = key.substr(0, end);
    if (component.empty() || component == "." || component == "..") return false;
    if (end == key.size()) return true;
    key.remove_prefix(end + 1);
  }
}

Status CheckPage(const std::string& prefix, const std::string& page, ObjectPage* result) {
  const auto bad = [](const std::string& reason) {
    return Status::Internal("the store's list is not valid: " + reason);
  };
  if (result->objects.size() + result->directories.size() > kMaxPageEntries) {
    return bad("a page has more than " + std::to_string(kMaxPageEntries) + " entries");
  }
  if (result->next_page.size() > kMaxToken) return bad("the token of the next page is too long");
  if (!page.empty() && result->next_page == page) return bad("a page follows itself");
  for (const ObjectInfo& object : result->objects) {
    if (!object.key.starts_with(prefix)) return bad("a key does not begin with the prefix");
    if (object.version.empty()) return bad("an object has no version");
  }
  for (const std::string& directory : result->directories) {
    if (!directory.starts_with(prefix) || !directory.ends_with('/')) {
      return bad("a directory does not begin with the prefix or does not end with '/'");
    }
  }
  const size_t removed =
      std::erase_if(result->objects, [](const ObjectInfo& o) { return !IsFileKey(o.key); }) +
      std::erase_if(result->directories, [](const std::string& d) { return !IsFileKey(d); });
  if (removed > 0) {
    LOG_VERBOSE(1) << removed << " objects below '" << prefix
                   << "' have names that no file can have; they are ignored";
  }
  return {};
}

}  // namespace nereid::repository::storage
