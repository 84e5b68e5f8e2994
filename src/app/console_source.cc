// SPDX-License-Identifier: Apache-2.0
#include "app/console_source.h"

#include <utility>
#include <vector>

#include "app/tools/explanation.h"
#include "base/cpus.h"
#include "base/files.h"
#include "server/inference_server.h"
#include "server/model_runtime.h"
#include "server/repository_control.h"

namespace nereid::app {
namespace {

std::vector<console::CoreShare> CoreSharesOf(const server::InferenceServer& server) {
  std::vector<console::CoreShare> shares;
  for (const model::CpuShare& share : server.runtime().CpuShares()) {
    shares.push_back({share.model, share.version, share.instances, share.threads,
                      share.cpus.empty() ? "" : base::FormatCpuList(share.cpus), share.set_by});
  }
  return shares;
}

base::Result<std::string> ExplainLoaded(server::InferenceServer& server,
                                        const std::string& config_name, const std::string& model) {
  NEREID_ASSIGN_OR_RETURN(config::ModelConfigPtr config, server.GetModelConfig(model, -1));
  NEREID_ASSIGN_OR_RETURN(const auto directories,
                          server.repositories().lifecycle().FindDirectories(model));
  if (directories.size() != 1 || !base::IsDirectory(directories.front().path)) {
    return base::Status::Unsupported(
        "the values of the model '" + model +
        "' cannot be explained: only those of a model in one local directory can. Its " +
        "configuration without the origins is at v2/models/" + model + "/config");
  }
  const std::string& path = directories.front().path;
  NEREID_ASSIGN_OR_RETURN(const tools::Explanation before, tools::ExplainModel(path, config_name));
  NEREID_ASSIGN_OR_RETURN(tools::Explanation explanation,
                          tools::ExplainModel(path, config_name, [&](const std::string&) {
                            return base::Result<config::ModelConfigPtr>(config);
                          }));
  tools::MarkLoadedValues(before, &explanation);
  return tools::ExplanationJson(explanation);
}

}  // namespace

console::ConsoleSource ConsoleSourceFrom(server::InferenceServer& server, std::string config_name) {
  return {.core_shares = [&server] { return CoreSharesOf(server); },
          .explain =
              [&server, config_name = std::move(config_name)](const std::string& model) {
                return ExplainLoaded(server, config_name, model);
              }};
}

}  // namespace nereid::app
