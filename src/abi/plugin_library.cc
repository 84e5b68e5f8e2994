// SPDX-License-Identifier: Apache-2.0
#include "abi/plugin_library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <vector>

#include "base/elf_file.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/temporary_directory.h"

namespace nereid::abi {
namespace {

constexpr const char* kEngine = "libtritonserver.so";

/// Loads an empty library called `name` that depends on `targets`. Its temporary file is deleted
/// again, because the loader has mapped it.
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

/// Makes the engine known to the loader under the library name `name`, until the process ends.
base::Status NameEngine(const std::string& name) {
  NEREID_ASSIGN_OR_RETURN(const auto library, OpenForwarder(name, {kEngine}));
  library->Leak();
  return base::Status::Ok();
}

/// Calls NameEngine once for each name. A failure is only logged: the open of the plug-in then
/// reports the missing library.
void NameEngineOnce(const std::string& name) {
  static base::Mutex mutex;
  static std::set<std::string> names NEREID_GUARDED_BY(mutex);
  const base::MutexLock lock(mutex);
  if (!names.insert(name).second) return;
  if (const base::Status status = NameEngine(name); !status.ok()) {
    LOG_WARNING << "the engine cannot be made known as '" << name << "': " << status.message();
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
    // If the file cannot be read or parsed, the dynamic loader reports the error.
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
  // The plug-in may leave the engine's functions undefined without naming a library for them. The
  // loader resolves the symbols of a library in the order of its dependencies, so a library that
  // depends on the plug-in and then on the engine lets the plug-in find the engine's functions.
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failure);
  if (failure) return library;
  auto beside = OpenForwarder("beside-the-engine.so", {absolute.string(), kEngine});
  // If that fails too, the plug-in lacks something other than the engine, which the first error
  // names.
  return beside.ok() ? std::move(beside) : std::move(library);
}

}  // namespace nereid::abi
