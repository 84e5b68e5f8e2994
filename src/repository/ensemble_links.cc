// SPDX-License-Identifier: Apache-2.0
#include "repository/ensemble_links.h"

#include <map>
#include <memory>
#include <set>

#include "config/rules/ensemble_members.h"
#include "model_config.pb.h"

namespace nereid::repository {

using base::Status;
using config::EnsembleMember;

namespace {

/// The models that an ensemble can reach, in the form that the rules take: by a text that
/// identifies the model, which the messages contain. Without namespaces this is the name.
class Members {
 public:
  explicit Members(const EnsembleSurroundings& surroundings) : around_(surroundings) {}

  /// The configuration with these texts instead of the names.
  config::ModelConfigPtr Rename(const ModelId& id, const config::ModelConfig& config) {
    inference::ModelConfig proto = config.proto();
    proto.set_name(ToText(id));
    for (auto& step : *proto.mutable_ensemble_scheduling()->mutable_step()) {
      const auto member = around_.resolve(id, step.model_name());
      if (!member) continue;
      step.set_model_name(ToText(*member));
      ids_[step.model_name()] = *member;
    }
    return config::ModelConfig::Create(std::move(proto));
  }

  const EnsembleMember* Find(const std::string& text) {
    const auto known = members_.find(text);
    if (known != members_.end()) return &known->second;
    const auto named = ids_.find(text);
    if (named == ids_.end() || absent_.contains(text)) return nullptr;
    const ModelId id = named->second;
    EnsembleMember member;
    if (const VersionRecords* versions = around_.table.FindVersions(id)) {
      for (const auto& [version, record] : *versions) {
        if (record.state() != VersionState::kReady) continue;
        member.versions.push_back(version);
        held_.push_back(record.model());
        member.config = &record.model()->config();
      }
    }
    if (member.config == nullptr) {
      // Known but not served: the rules report that first.
      config::ModelConfigPtr config = around_.config_of(id);
      if (config == nullptr) {
        absent_.insert(text);
        return nullptr;
      }
      member.config = config.get();
      member.incomplete = true;
      held_.push_back(std::move(config));
    }
    if (member.config->is_ensemble()) {
      config::ModelConfigPtr renamed = Rename(id, *member.config);
      member.config = renamed.get();
      held_.push_back(std::move(renamed));
    }
    return &members_.emplace(text, std::move(member)).first->second;
  }

 private:
  const EnsembleSurroundings& around_;
  std::map<std::string, ModelId> ids_;
  std::map<std::string, EnsembleMember> members_;
  std::set<std::string> absent_;  // every rule asks for each member
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

base::Result<config::ModelConfigPtr> LinkEnsemble(const ModelId& id,
                                                  const config::ModelConfig& ensemble,
                                                  const EnsembleSurroundings& surroundings) {
  Members members(surroundings);
  const config::ModelConfigPtr renamed = members.Rename(id, ensemble);
  const auto problems = config::FindMemberProblems(
      *renamed, [&](const std::string& text) { return members.Find(text); });
  for (const config::Problem& problem : problems) {
    if (problem.severity != config::Severity::kError) continue;
    std::string text = problem.message;
    if (problem.rule == "members.version") {
      // The message names the member. The load of the member has logged why it does not serve.
      for (const std::string& name : MembersOf(ensemble)) {
        const auto member = surroundings.resolve(id, name);
        const Status failure = member ? surroundings.failure_of(*member) : Status::Ok();
        const std::string quoted = "'" + (member ? ToText(*member) : name) + "'";
        if (failure.ok() || text.find("depends on " + quoted) == std::string::npos) continue;
        text += " Model " + quoted + " loading failed with error: " + failure.message();
      }
    }
    return Status::InvalidArgument(std::move(text));
  }
  bool decoupled = false;
  inference::ModelConfig proto = ensemble.proto();
  for (auto& step : *proto.mutable_ensemble_scheduling()->mutable_step()) {
    const ModelId member =
        *surroundings.resolve(id, step.model_name());  // the rules have checked it
    step.set_model_namespace(member.space);
    decoupled = decoupled || members.Find(ToText(member))->config->decoupled();
  }
  proto.mutable_model_transaction_policy()->set_decoupled(decoupled);
  return config::ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::repository
