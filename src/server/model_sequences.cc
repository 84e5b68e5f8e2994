// SPDX-License-Identifier: Apache-2.0
#include "server/model_sequences.h"

#include <utility>

#include "base/parse_number.h"
#include "schedule/sequence/sequence_transfers.h"

namespace nereid::server {

using base::Status;
using handover::SequenceKey;

namespace {

/// A sequence that is held in its scheduler.
class ScheduledHold final : public handover::Hold {
 public:
  /// `otherwise` is what becomes of the sequence if Settle() is not called.
  ScheduledHold(std::shared_ptr<ServedModel> served, uint64_t handle, schedule::HoldEnd otherwise)
      : served_(std::move(served)), handle_(handle), otherwise_(otherwise) {}
  ScheduledHold(const ScheduledHold&) = delete;
  ScheduledHold& operator=(const ScheduledHold&) = delete;
  ~ScheduledHold() override {
    if (!is_settled_) served_->version().sequence_port()->Settle(handle_, otherwise_);
  }

  bool Settle(bool serves) override {
    is_settled_ = true;
    return served_->version().sequence_port()->Settle(
        handle_, serves ? schedule::HoldEnd::kServe : schedule::HoldEnd::kLeave);
  }

 private:
  const std::shared_ptr<ServedModel> served_;
  const uint64_t handle_;
  const schedule::HoldEnd otherwise_;
  bool is_settled_ = false;
};

/// Returns the error for a sequence that continues in `wanted` and is in another version.
Status OtherVersion(const SequenceKey& key, int64_t version) {
  return Status::InvalidArgument(
      handover::Named(key) + " cannot be handed over: it was begun in version " +
      std::to_string(version) + " of the model at its replica, and version " +
      std::to_string(key.version) + " would continue it");
}

}  // namespace

std::vector<std::shared_ptr<ServedModel>> ModelSequences::VersionsOf(
    const std::string& model) const {
  const auto table = table_();
  const auto id = table->Resolve(model);
  const auto* const versions = id.ok() ? table->FindVersions(*id) : nullptr;
  std::vector<std::shared_ptr<ServedModel>> found;
  if (versions == nullptr) return found;
  for (const auto& [version, record] : *versions) {
    auto loaded = table->Find(*id, version);
    if (!loaded.ok()) continue;
    auto served = ServedModel::From(std::move(loaded).value());
    for (auto& predecessor : served->Replaced()) found.push_back(std::move(predecessor));
    found.push_back(std::move(served));
  }
  return found;
}

base::Result<handover::LocalSequences::Held> ModelSequences::Take(const SequenceKey& key) {
  Status status = Status::NotFound(handover::Named(key) + " is not known");
  for (const auto& served : VersionsOf(key.model)) {
    model::ModelVersion& version = served->version();
    if (version.identity().version != key.version) {
      if (version.HasSequence(key.id)) status = OtherVersion(key, version.identity().version);
      continue;
    }
    if (version.sequence_port() == nullptr) continue;
    auto held = version.sequence_port()->Hold(key.id);
    if (held.status().code() == base::StatusCode::kNotFound) continue;
    if (!held.ok()) return held.status();
    Held taken;
    taken.hold = std::make_unique<ScheduledHold>(served, held->handle, schedule::HoldEnd::kServe);
    taken.idle_ns = held->idle_ns;
    NEREID_ASSIGN_OR_RETURN(taken.states, held->states->Save());
    return taken;
  }
  return status;
}

base::Result<std::unique_ptr<handover::Hold>> ModelSequences::Put(
    const handover::SequenceMessage& sequence, bool needs_slot) {
  const SequenceKey& key = sequence.key;
  NEREID_ASSIGN_OR_RETURN(auto loaded, table_()->Find(key.model, key.version));
  auto served = ServedModel::From(std::move(loaded));
  NEREID_RETURN_IF_ERROR(schedule::CheckTransferable(served->config()));
  NEREID_ASSIGN_OR_RETURN(const uint64_t handle,
                          served->version().sequence_port()->Adopt(key.id, sequence.states,
                                                                   sequence.idle_ns, needs_slot));
  return std::unique_ptr<handover::Hold>(
      std::make_unique<ScheduledHold>(std::move(served), handle, schedule::HoldEnd::kLeave));
}

bool ModelSequences::Serves(const SequenceKey& key) const {
  const auto loaded = table_()->Find(key.model, key.version);
  return loaded.ok() && ServedModel::From(*loaded)->version().HasSequence(key.id);
}

std::vector<SequenceKey> ModelSequences::List(size_t limit) const {
  std::vector<SequenceKey> keys;
  const auto table = table_();
  for (const auto& [id, versions] : table->models()) {
    for (const auto& served : VersionsOf(id.name)) {
      model::ModelVersion& version = served->version();
      if (!schedule::CheckTransferable(version.config()).ok()) continue;
      for (telemetry::SequenceInfo& info : version.ListSequences(limit - keys.size()).sequences) {
        if (!info.open) continue;
        request::CorrelationId name = std::move(info.id);
        if (!info.text_id) {
          name = base::ParseWhole<uint64_t>(std::get<std::string>(name)).value_or(0);
        }
        keys.push_back({id.name, version.identity().version, std::move(name)});
      }
      if (keys.size() >= limit) return keys;
    }
  }
  return keys;
}

}  // namespace nereid::server
