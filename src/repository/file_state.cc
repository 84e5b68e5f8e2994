// SPDX-License-Identifier: Apache-2.0
#include "repository/file_state.h"

#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "config/version_policy.h"

namespace nereid::repository {
namespace {

namespace fs = std::filesystem;

/// The finaliser of SplitMix64: each bit of the result depends on each bit of the argument.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

uint64_t HashOf(const std::string& name, const std::string& path) {
  struct stat info {};
  uint64_t hash = Mix(std::hash<std::string>{}(name));
  if (::stat(path.c_str(), &info) != 0) return hash;
  for (const uint64_t part :
       {static_cast<uint64_t>(info.st_mtim.tv_sec), static_cast<uint64_t>(info.st_mtim.tv_nsec),
        static_cast<uint64_t>(info.st_size), static_cast<uint64_t>(info.st_ino)}) {
    hash = Mix(hash + part + 0x9e3779b97f4a7c15ULL);
  }
  return hash;
}

/// A sum, because directories come in no order.
uint64_t HashOfTree(const std::string& name, const std::string& path) {
  uint64_t sum = HashOf(name, path);
  std::error_code error;
  if (!fs::is_directory(path, error)) return sum;
  fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string below = it->path().string();
    sum += HashOf(below.substr(path.size()), below);
  }
  return sum;
}

/// An entry that only one version has to do with.
bool IsVersionEntry(const std::string& name) {
  const auto version = config::ParseVersionDirectory(name);
  return version && std::to_string(*version) == name;
}

}  // namespace

FileState ReadFileState(const std::string& directory) {
  FileState state;
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    state.entries[name] = HashOfTree(name, it->path().string());
  }
  return state;
}

bool IsConfigEntry(const std::string& name) { return name == "config.pbtxt" || name == "configs"; }

bool VersionUnchanged(const FileState& before, const FileState& now, int64_t version) {
  const std::string own = std::to_string(version);
  const auto relevant = [&](const FileState& state) {
    FileState filtered;
    for (const auto& [name, hash] : state.entries) {
      if (name != own && (IsConfigEntry(name) || IsVersionEntry(name))) continue;
      filtered.entries[name] = hash;
    }
    return filtered;
  };
  return relevant(before) == relevant(now);
}

}  // namespace nereid::repository
