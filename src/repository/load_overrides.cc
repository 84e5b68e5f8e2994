// SPDX-License-Identifier: Apache-2.0
#include "repository/load_overrides.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/checked_math.h"
#include "base/files.h"
#include "config/load_parameter.h"

namespace nereid::repository {

using base::Status;
namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxFiles = 10'000;
constexpr uint64_t kMaxTotalBytes = uint64_t{16} << 30;

/// Returns the path below the model's directory. INVALID_ARGUMENT if it leads out of it.
base::Result<fs::path> RelativePath(const std::string& given) {
  const fs::path normal = (fs::path("/") / fs::path(given).relative_path()).lexically_normal();
  const fs::path inside = fs::path(given).relative_path().lexically_normal();
  if (inside.empty() || !normal.has_filename() || *inside.begin() == ".." ||
      given.find('\0') != std::string::npos) {
    return Status::InvalidArgument("Invalid file parameter 'file:" + given +
                                   "' with normalized path '" + normal.string() +
                                   "' must stay within model directory.");
  }
  return inside;
}

Status WriteFile(const fs::path& path, const std::string& content) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    return Status::Internal("failed to make the directory " + path.parent_path().string() + ": " +
                            error.message());
  }
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (out) return Status::Ok();
  return Status::Internal("failed to open binary file for write " + path.string() + ": " +
                          std::strerror(errno));
}

}  // namespace

base::Result<LoadOverrides> ParseLoadParameters(
    std::vector<std::pair<std::string, std::string>> parameters) {
  LoadOverrides overrides;
  uint64_t total = 0;
  for (auto& [name, value] : parameters) {
    const config::LoadParameterKind kind = config::KindOfLoadParameter(name);
    if (kind == config::LoadParameterKind::kConfig) {
      overrides.config = std::move(value);
      continue;
    }
    if (kind == config::LoadParameterKind::kUnknown) {
      return Status::InvalidArgument("Unrecognized load parameter '" + name + "'");
    }
    total = base::CheckedAdd<uint64_t>(total, value.size()).value_or(UINT64_MAX);
    const std::string path = name.substr(config::kLoadFilePrefix.size());
    std::erase_if(overrides.files, [&](const auto& file) { return file.path == path; });
    overrides.files.push_back({path, std::move(value)});
    if (overrides.files.size() > kMaxFiles || total > kMaxTotalBytes) {
      return Status::InvalidArgument("the files of a load are limited to " +
                                     std::to_string(kMaxFiles) + " files and " +
                                     std::to_string(kMaxTotalBytes) + " bytes in all");
    }
  }
  return overrides;
}

base::Result<std::unique_ptr<base::TemporaryDirectory>> StageFiles(const LoadOverrides& overrides) {
  if (!overrides.config) {
    return Status::InvalidArgument(
        "Load parameter 'config' must be specified for model file override");
  }
  NEREID_ASSIGN_OR_RETURN(auto directory, base::TemporaryDirectory::Create());
  for (const LoadOverrides::File& file : overrides.files) {
    NEREID_ASSIGN_OR_RETURN(const fs::path path, RelativePath(file.path));
    NEREID_RETURN_IF_ERROR(WriteFile(fs::path(directory->path()) / path, file.content));
  }
  return directory;
}

}  // namespace nereid::repository
