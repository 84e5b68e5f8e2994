// SPDX-License-Identifier: Apache-2.0
#include "abi/plugin_library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "base/elf_file.h"
#include "base/files.h"
#include "base/log.h"
#include "base/temporary_directory.h"

namespace nereid::abi {
namespace {

constexpr const char* kEngine = "libtritonserver.so";

/// Loads a library called `name` that forwards to `targets`.
base::Result<std::unique_ptr<base::SharedLibrary>> OpenForwarder(
    const std::string& name, const std::vector<std::string>& targets) {
  NEREID_ASSIGN_OR_RETURN(const auto folder, base::TemporaryDirectory::Create());
  const std::string path = base::JoinPath(folder->path(), name);
  std::ofstream file(path, std::ios::binary);
  file << base::ForwardingLibrary(name, targets);
  file.close();
  if (!file) return base::Status::Internal("cannot write " + path);
  return base::SharedLibrary::Open(path);
}

/// Loads a library called `name` that forwards to the engine, for the life of the process.
base::Status NameEngine(const std::string& name) {
  NEREID_ASSIGN_OR_RETURN(const auto library, OpenForwarder(name, {kEngine}));
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
  bool names_engine = true;
  if (const auto file = base::ReadFile(path); file.ok()) {
    // What cannot be read is the loader's to complain of.
    if (const auto needed = base::NeededLibraries(*file); needed.ok()) {
      names_engine = std::find(needed->begin(), needed->end(), kEngine) != needed->end();
      for (const std::string& name : *needed) {
        if (!IsRenamedEngine(name)) continue;
        NameEngineOnce(name);
        names_engine = true;
      }
    }
  }
  auto library = base::SharedLibrary::Open(path);
  if (library.ok() || names_engine) return library;
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failure);
  if (failure) return library;
  auto beside = OpenForwarder("beside-the-engine.so", {absolute.string(), kEngine});
  // Where it is not the engine that the file lacks, its own error says what is.
  return beside.ok() ? std::move(beside) : std::move(library);
}

}  // namespace nereid::abi
