// SPDX-License-Identifier: Apache-2.0
#include "abi/plugin_library.h"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>

#include "base/elf_file.h"
#include "base/files.h"
#include "base/log.h"
#include "base/temporary_directory.h"

namespace nereid::abi {
namespace {

constexpr const char* kEngine = "libtritonserver.so";

/// Loads a library called `name` that forwards to the engine, for the life of the process.
base::Status NameEngine(const std::string& name) {
  NEREID_ASSIGN_OR_RETURN(const auto folder, base::TemporaryDirectory::Create());
  const std::string path = base::JoinPath(folder->path(), name);
  std::ofstream file(path, std::ios::binary);
  file << base::ForwardingLibrary(name, kEngine);
  file.close();
  if (!file) return base::Status::Internal("cannot write " + path);
  NEREID_ASSIGN_OR_RETURN(const auto library, base::SharedLibrary::Open(path));
  library->Leak();
  return base::Status::Ok();
}

/// Once per name. Where it fails, opening the plug-in will say what is missing.
void NameEngineOnce(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;  // guarded by mutex
  std::lock_guard lock(mutex);
  if (!names.insert(name).second) return;
  if (const base::Status status = NameEngine(name); !status.ok()) {
    LOG_WARNING << "the engine cannot be called '" << name << "': " << status.message();
  }
}

}  // namespace

bool IsRenamedEngine(const std::string& library) {
  constexpr std::string_view kBegin = "libtritonserver-", kEnd = ".so";
  constexpr size_t kDigits = 8;
  return library.size() == kBegin.size() + kDigits + kEnd.size() && library.starts_with(kBegin) &&
         library.ends_with(kEnd) &&
         std::all_of(library.begin() + kBegin.size(), library.end() - kEnd.size(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

base::Result<std::unique_ptr<base::SharedLibrary>> OpenPlugin(const std::string& path) {
  if (const auto file = base::ReadFile(path); file.ok()) {
    // What cannot be read is the loader's to complain of.
    const auto needed = base::NeededLibraries(*file);
    for (const std::string& name : needed.ok() ? *needed : std::vector<std::string>()) {
      if (IsRenamedEngine(name)) NameEngineOnce(name);
    }
  }
  return base::SharedLibrary::Open(path);
}

}  // namespace nereid::abi
