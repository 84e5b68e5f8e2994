// SPDX-License-Identifier: Apache-2.0
#include "app/options/default_directories.h"

#include <filesystem>
#include <system_error>

#include "base/files.h"

namespace nereid::app {

std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable,
                                   const std::function<bool(const std::string&)>& is_directory) {
  const std::string triton = base::JoinPath("/opt/tritonserver", kind);
  if (is_directory(triton) || executable.empty()) return triton;
  const std::filesystem::path prefix =
      std::filesystem::path(executable).parent_path().parent_path();
  for (const std::filesystem::path& folder : {prefix, prefix / "lib" / "nereid"}) {
    const std::string candidate = (folder / kind).string();
    if (is_directory(candidate)) return candidate;
  }
  return triton;
}

std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable) {
  return DefaultPluginDirectory(kind, executable, base::IsDirectory);
}

std::string ExecutablePath() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

}  // namespace nereid::app
