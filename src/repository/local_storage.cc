// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/files.h"
#include "repository/config_file.h"
#include "repository/repository_storage.h"
#include "repository/settle/content_memory.h"

namespace nereid::repository {

using base::Status;

namespace {

class LocalDirectories final : public RepositoryStorage {
 public:
  explicit LocalDirectories(bool counts_change_times) : memory_(counts_change_times, HashContent) {}

  base::Result<std::vector<std::string>> ListModels(const std::string& repository) override {
    auto listed = base::ListSubdirectories(repository);
    if (listed.ok()) return listed;
    return Status::Internal(base::IsDirectory(repository) ? listed.status().message()
                                                          : "failed to stat file " + repository);
  }

  base::Result<bool> HasModel(const std::string& model) override {
    return base::IsDirectory(model);
  }

  base::Result<FileState> ReadState(const std::string& model) override {
    return ReadFileState(model, &memory_);
  }

  base::Result<std::optional<States>> ReadAllStates(const std::string&) override {
    return std::optional<States>();
  }

  base::Result<std::optional<ConfigText>> ReadConfig(const std::string& model,
                                                     const std::string& config_name) override {
    const std::string path = ConfigFilePath(model, config_name);
    auto text = base::ReadFile(path, kMaxConfigFileBytes);
    if (text.ok()) return std::optional(ConfigText{std::move(text).value(), path});
    if (base::PathExists(path)) return text.status();
    return std::optional<ConfigText>();
  }

  base::Result<LocalFiles> Fetch(const std::string& model) override {
    NEREID_ASSIGN_OR_RETURN(FileState state, ReadFileState(model, &memory_));
    return LocalFiles{model, std::move(state)};
  }

  std::string FetchProgress(const std::string&) const override { return ""; }

 private:
  ContentMemory memory_;
};

}  // namespace

std::shared_ptr<RepositoryStorage> LocalStorage(bool counts_change_times) {
  return std::make_shared<LocalDirectories>(counts_change_times);
}

bool IsUrl(const std::string& path) {
  const size_t end = path.find("://");
  return end != std::string::npos && end > 0 &&
         std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '+' || c == '-' || c == '.';
         });
}

void StateReader::Prepare(const std::string& repository) {
  if (states_.contains(repository)) return;
  states_.emplace(repository, storage_.ReadAllStates(repository));
}

base::Result<FileState> StateReader::Read(const std::string& repository,
                                          const std::string& model) const {
  const auto found = states_.find(repository);
  NEREID_RETURN_IF_ERROR(found->second.status());
  if (!found->second->has_value()) return storage_.ReadState(model);
  const RepositoryStorage::States& states = **found->second;
  const auto state = states.find(model);
  if (state != states.end()) return state->second;
  return Status::NotFound("there is no object of the model '" + model + "'");
}

}  // namespace nereid::repository
