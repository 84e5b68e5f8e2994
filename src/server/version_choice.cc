// SPDX-License-Identifier: Apache-2.0
#include "server/version_choice.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rollout/split.h"
#include "server/served_model.h"

namespace nereid::server {
namespace {

using base::Status;
using repository::ModelId;
using repository::VersionRecords;
using repository::VersionState;
using request::RequestFields;
using rollout::Rollout;
using LoadedPtr = std::shared_ptr<repository::LoadedModel>;

/// The versions of a model with a rollout, as a request finds them.
class Versions {
 public:
  /// The arguments must outlive the object.
  Versions(const repository::ModelTable& table, const ModelId& id, const VersionRecords& records,
           const Rollout& rollout)
      : table_(table), id_(id), records_(records), rollout_(rollout) {}

  base::Result<LoadedPtr> Named(int64_t version) const { return table_.Find(id_, version); }

  /// Returns the version that has the request's open sequence, or null. `preferred` is the version
  /// of the request's label, or -1.
  base::Result<LoadedPtr> WithSequence(const RequestFields& request, int64_t preferred) const;
  /// Returns the version that the split gives; null if none of it can serve.
  LoadedPtr BySplit(const RequestFields& request) const;
  base::Result<LoadedPtr> Greatest() const;
  /// Returns the first version of the split that can serve, or null.
  LoadedPtr FirstOfSplit() const;

 private:
  /// Returns the version if it is ready, else null.
  const LoadedPtr& Ready(int64_t version) const {
    static const LoadedPtr kNone;
    const auto found = records_.find(version);
    return found == records_.end() ? kNone : found->second.model();
  }
  /// Returns the version if it may get requests that name none, else null.
  const LoadedPtr& Serving(int64_t version) const {
    static const LoadedPtr kNone;
    return rollout_.IsRolledBack(version) ? kNone : Ready(version);
  }
  Status SequenceEnded(const RequestFields& request, int64_t version) const;

  const repository::ModelTable& table_;
  const ModelId& id_;
  const VersionRecords& records_;
  const Rollout& rollout_;
};

bool HasSequenceId(const RequestFields& request) {
  const auto* const number = std::get_if<uint64_t>(&request.correlation_id);
  return number != nullptr ? *number != 0 : !std::get<std::string>(request.correlation_id).empty();
}

int64_t NumberOf(const LoadedPtr& loaded) {
  return static_cast<ServedModel&>(*loaded).identity().version;
}

/// Returns the version that has the request's open sequence: `loaded` or one that it has replaced;
/// null if there is none.
LoadedPtr OwnerAt(const LoadedPtr& loaded, const RequestFields& request) {
  if (loaded == nullptr || !loaded->config().sequence_batching().has_value()) return nullptr;
  ServedModel& served = static_cast<ServedModel&>(*loaded);
  if (served.version().HasSequence(request.correlation_id)) return loaded;
  return served.SequenceOwner(request, -1);
}

base::Result<LoadedPtr> Versions::WithSequence(const RequestFields& request,
                                               int64_t preferred) const {
  if (!HasSequenceId(request)) return LoadedPtr();
  const bool starts = (request.flags & request::kFlagSequenceStart) != 0;
  if (preferred >= 0) {
    if (LoadedPtr owner = OwnerAt(Ready(preferred), request)) return owner;
    if (starts) return LoadedPtr();
  }
  LoadedPtr rolled_back;
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    LoadedPtr owner = OwnerAt(it->second.model(), request);
    if (owner == nullptr) continue;
    if (!rollout_.IsRolledBack(NumberOf(owner))) return owner;
    rolled_back = std::move(owner);
  }
  if (rolled_back == nullptr || starts) return LoadedPtr();
  if (!rollout_.plan().rollback->ends_sequences) return rolled_back;
  return SequenceEnded(request, NumberOf(rolled_back));
}

Status Versions::SequenceEnded(const RequestFields& request, int64_t version) const {
  return Status::Unavailable(
      request.LogPrefix() + "sequence " + request::CorrelationIdText(request.correlation_id) +
      " has ended, because version " + std::to_string(version) + " of model '" + id_.name +
      "' was rolled back; begin it again with the START flag");
}

LoadedPtr Versions::FirstOfSplit() const {
  const auto& split = rollout_.plan().split;
  if (!split) return nullptr;
  for (const rollout::Weight& weight : split->weights) {
    if (weight.parts == 0) continue;
    if (const LoadedPtr& serving = Serving(weight.target.version)) return serving;
  }
  return nullptr;
}

LoadedPtr Versions::BySplit(const RequestFields& request) const {
  const LoadedPtr first = FirstOfSplit();
  if (first == nullptr) return nullptr;
  // The sequences of an ensemble are those of its members, which alone know them.
  if (HasSequenceId(request) && first->config().is_ensemble() &&
      static_cast<ServedModel&>(*first).version().HasSequences()) {
    return nullptr;
  }
  const rollout::Split& split = *rollout_.plan().split;
  std::vector<rollout::Candidate> candidates;
  candidates.reserve(split.weights.size());
  for (const rollout::Weight& weight : split.weights) {
    const LoadedPtr& serving = Serving(weight.target.version);
    candidates.push_back({weight.parts, serving != nullptr && serving->config().decoupled() ==
                                                                  first->config().decoupled()});
  }
  const uint64_t point = rollout::PointOf(split, request, rollout::RandomPoint());
  const auto chosen = rollout::Choose(candidates, point);
  return chosen ? Ready(split.weights[*chosen].target.version) : nullptr;
}

base::Result<LoadedPtr> Versions::Greatest() const {
  int64_t rolled_back = -1;
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    if (it->second.state() != VersionState::kReady) continue;
    if (!rollout_.IsRolledBack(it->first)) return it->second.model();
    rolled_back = it->first;
  }
  if (rolled_back < 0) return table_.Find(id_, -1);
  return Status::Unavailable("no version of model '" + id_.name + "' can serve: version " +
                             std::to_string(rolled_back) +
                             " was rolled back, and no other version is ready");
}

/// Calls `choose` with the versions of the rollout's model.
template <typename Choose>
base::Result<LoadedPtr> WithVersions(const repository::ModelTable& table, const Rollout& rollout,
                                     const Choose& choose) {
  NEREID_ASSIGN_OR_RETURN(const ModelId id, table.Resolve(rollout.model()));
  const VersionRecords* const records = table.FindVersions(id);
  if (records == nullptr) return table.Find(id, -1);
  return choose(Versions(table, id, *records, rollout));
}

}  // namespace

base::Result<LoadedPtr> ChooseVersion(const repository::ModelTable& table, const Rollout& rollout,
                                      const RequestFields& request) {
  return WithVersions(table, rollout, [&](const Versions& versions) -> base::Result<LoadedPtr> {
    int64_t wanted = request.model_version;
    if (!request.model_label.empty()) {
      // A plan that was changed meanwhile may lack the label, which led to the number before.
      wanted = rollout::FindLabel(rollout.plan(), request.model_label).value_or(wanted);
      if (wanted >= 0 && rollout.IsRolledBack(wanted) &&
          rollout.plan().rollback->redirects_labels) {
        wanted = -1;
      }
    } else if (wanted >= 0) {
      return versions.Named(wanted);
    }
    NEREID_ASSIGN_OR_RETURN(LoadedPtr chosen, versions.WithSequence(request, wanted));
    if (chosen != nullptr) return chosen;
    if (wanted >= 0) return versions.Named(wanted);
    chosen = versions.BySplit(request);
    return chosen != nullptr ? std::move(chosen) : versions.Greatest();
  });
}

base::Result<LoadedPtr> TypicalVersion(const repository::ModelTable& table,
                                       const Rollout& rollout) {
  return WithVersions(table, rollout, [](const Versions& versions) -> base::Result<LoadedPtr> {
    LoadedPtr first = versions.FirstOfSplit();
    return first != nullptr ? std::move(first) : versions.Greatest();
  });
}

}  // namespace nereid::server
