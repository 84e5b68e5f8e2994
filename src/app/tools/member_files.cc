// SPDX-License-Identifier: Apache-2.0
#include "app/tools/member_files.h"

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "config/text/read_text.h"
#include "model_config.pb.h"
#include "repository/config_file.h"
#include "repository/ensemble_links.h"

namespace nereid::app::tools {
namespace {

/// Returns whether `name` is a plain directory name, so that no path leaves the repository.
bool IsDirectoryName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

/// Returns the configuration of the file config.pbtxt, or null if it cannot be read.
config::ModelConfigPtr ReadMember(const std::filesystem::path& repository,
                                  const std::string& name) {
  if (!IsDirectoryName(name)) return nullptr;
  const auto text =
      base::ReadFile(repository::ConfigFilePath((repository / name).string(), /*config_name=*/""),
                     repository::kMaxConfigFileBytes);
  if (!text.ok()) return nullptr;
  const auto reading = config::ReadModelConfigText(*text, 1);
  return reading.problems.empty() ? reading.config : nullptr;
}

}  // namespace

bool HasDecoupledMember(const std::string& model_directory, const config::ModelConfig& ensemble) {
  std::error_code error;
  const auto absolute = std::filesystem::weakly_canonical(model_directory, error);
  if (error) return false;
  std::set<std::string> known = repository::MembersOf(ensemble);
  std::vector<std::string> open(known.begin(), known.end());
  while (!open.empty()) {
    const config::ModelConfigPtr member = ReadMember(absolute.parent_path(), open.back());
    open.pop_back();
    if (member == nullptr) continue;
    const std::set<std::string> below = repository::MembersOf(*member);
    // The field of an ensemble's own file is ignored; only its members decide.
    if (below.empty() && member->decoupled()) return true;
    for (const std::string& name : below) {
      if (known.insert(name).second) open.push_back(name);
    }
  }
  return false;
}

base::Result<config::ModelConfigPtr> WithDecoupledOfMembers(const std::string& model_directory,
                                                            const config::ModelConfig& ensemble) {
  inference::ModelConfig proto = ensemble.proto();
  proto.mutable_model_transaction_policy()->set_decoupled(
      HasDecoupledMember(model_directory, ensemble));
  return config::ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::app::tools
