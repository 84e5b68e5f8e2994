// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "schedule/sequence/sequence_notice.h"

namespace nereid::schedule {

using base::Status;

namespace {

std::string Named(const config::ModelConfig& config, const request::CorrelationId& id) {
  return "sequence " + request::CorrelationIdText(id) + " of model '" + config.name() + "'";
}

}  // namespace

Status CheckTransferable(const config::ModelConfig& config) {
  const auto& options = config.sequence_batching();
  const auto refuse = [&config](const char* why) {
    return Status::Unsupported("sequences of model '" + config.name() +
                               "' cannot be handed over: " + why);
  };
  if (!options) return refuse("it has no sequence_batching");
  if (options->states.empty()) {
    return refuse("it keeps their states itself, because its configuration has no 'state'");
  }
  if (options->iterative) return refuse("it has iterative_sequence");
  const auto notices = WantsSequenceEndNotice(config);
  if (!notices.ok() || *notices) {
    return refuse("it keeps something for each of them itself, because it has sequence_end_notice");
  }
  return Status::Ok();
}

base::Result<HeldSequence> SequenceTransfers::Hold(const request::CorrelationId& id,
                                                   uint64_t now_ns) {
  SequenceTable& table = lifecycle_.table();
  Sequence* const sequence = table.FindOpen(id);
  if (sequence == nullptr) {
    if (table.IsLive(id)) {
      return Status::Unavailable(Named(config_, id) + " is being handed over or is ending");
    }
    return Status::NotFound(Named(config_, id) + " is not known");
  }
  NEREID_RETURN_IF_ERROR(CheckTransferable(config_));
  if (sequence->phase != SequencePhase::kIdle) {
    return Status::Unavailable(Named(config_, id) + " has requests that are not completed");
  }
  if (sequence->states == nullptr || !sequence->states->is_set()) {
    return Status::NotFound(Named(config_, id) + " has no states yet");
  }
  sequence->held = true;
  return HeldSequence{sequence->handle, sequence->states,
                      now_ns - std::min(now_ns, sequence->touched_ns)};
}

base::Result<uint64_t> SequenceTransfers::Adopt(const request::CorrelationId& id,
                                                std::shared_ptr<request::SequenceStates> states,
                                                uint64_t idle_ns, bool needs_slot,
                                                uint64_t now_ns) {
  NEREID_RETURN_IF_ERROR(CheckTransferable(config_));
  SequenceTable& table = lifecycle_.table();
  if (table.IsOpen(id)) return Status::AlreadyExists(Named(config_, id) + " is here already");
  if (table.slots() == 0) {
    return Status::Unavailable("model '" + config_.name() + "' has only passive instances");
  }
  if (needs_slot && table.free_slots() == 0) {
    return Status::Unavailable("model '" + config_.name() + "' has no free slot for a sequence");
  }
  Sequence& sequence = table.Begin(id, /*internal=*/false, now_ns);
  sequence.held = true;
  sequence.states = std::move(states);
  sequence.touched_ns = now_ns - std::min(now_ns, idle_ns);
  sequence.queued_ns = sequence.touched_ns;
  if (sequence.has_slot()) table.Move(sequence, SequencePhase::kIdle);
  return sequence.handle;
}

bool SequenceTransfers::Settle(uint64_t handle, HoldEnd end, uint64_t now_ns) {
  Sequence* const sequence = lifecycle_.table().Find(handle);
  if (sequence == nullptr || !sequence->held) return false;
  sequence->held = false;
  // A sequence that was begun with the same id meanwhile takes the place of this one.
  const bool is_replaced = sequence->successor != nullptr;
  if (end == HoldEnd::kServe && !is_replaced) return true;
  lifecycle_.Abort(*sequence, end == HoldEnd::kServe ? SequenceEnd::kEnd : SequenceEnd::kHandover,
                   RefusalCause::kCancelled, now_ns);
  return end == HoldEnd::kLeave;
}

}  // namespace nereid::schedule
