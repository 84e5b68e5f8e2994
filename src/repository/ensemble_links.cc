// SPDX-License-Identifier: Apache-2.0
#include "repository/ensemble_links.h"

#include <map>
#include <memory>

#include "config/rules/ensemble_members.h"
#include "model_config.pb.h"

namespace nereid::repository {

using base::Status;
using config::EnsembleMember;

namespace {

/// The models that serve, as the rules want to see them.
class Members {
 public:
  Members(const ModelTable& table,
          const std::function<config::ModelConfigPtr(const std::string&)>& configs)
      : table_(table), configs_(configs) {}

  const EnsembleMember* Find(const std::string& name) {
    const auto known = members_.find(name);
    if (known != members_.end()) return &known->second;
    EnsembleMember member;
    if (const VersionRecords* versions = table_.FindVersions(name)) {
      for (const auto& [version, record] : *versions) {
        if (record.state != VersionState::kReady) continue;
        member.versions.push_back(version);
        held_.push_back(record.model);
        member.config = &record.model->config();
      }
    }
    if (member.config == nullptr) {
      // Known, but not served: the rules say so before they ask for more.
      config::ModelConfigPtr config = configs_(name);
      if (config == nullptr) return nullptr;
      member.config = config.get();
      member.incomplete = true;
      held_.push_back(std::move(config));
    }
    return &members_.emplace(name, std::move(member)).first->second;
  }

 private:
  const ModelTable& table_;
  const std::function<config::ModelConfigPtr(const std::string&)>& configs_;
  std::map<std::string, EnsembleMember> members_;
  std::vector<std::shared_ptr<const void>> held_;
};

}  // namespace

std::set<std::string> MembersOf(const config::ModelConfig& config) {
  std::set<std::string> members;
  for (const auto& step : config.proto().ensemble_scheduling().step()) {
    members.insert(step.model_name());
  }
  return members;
}

base::Result<config::ModelConfigPtr> LinkEnsemble(
    const config::ModelConfig& ensemble, const ModelTable& table, const FailureOf& failure_of,
    const std::function<config::ModelConfigPtr(const std::string& name)>& configs) {
  Members members(table, configs);
  const auto problems = config::FindMemberProblems(
      ensemble, [&](const std::string& name) { return members.Find(name); });
  for (const config::Problem& problem : problems) {
    if (problem.severity != config::Severity::kError) continue;
    std::string text = problem.message;
    if (problem.rule == "members.version") {
      // Which member it is stands in the message; why it does not serve, its own load has said.
      for (const std::string& name : MembersOf(ensemble)) {
        const Status failure = failure_of(name);
        if (failure.ok() || text.find("depends on '" + name + "'") == std::string::npos) continue;
        text += " Model '" + name + "' loading failed with error: " + failure.message();
      }
    }
    return Status::InvalidArgument(std::move(text));
  }
  bool decoupled = false;
  for (const std::string& name : MembersOf(ensemble)) {
    decoupled = decoupled || members.Find(name)->config->decoupled();
  }
  return WithDecoupled(ensemble, decoupled);
}

base::Result<config::ModelConfigPtr> WithDecoupled(const config::ModelConfig& ensemble,
                                                   bool decoupled) {
  inference::ModelConfig proto = ensemble.proto();
  proto.mutable_model_transaction_policy()->set_decoupled(decoupled);
  return config::ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::repository
