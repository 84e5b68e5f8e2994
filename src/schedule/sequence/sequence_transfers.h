// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "config/model_config.h"
#include "request/correlation_id.h"
#include "schedule/sequence/sequence_lifecycle.h"
#include "schedule/sequence_port.h"

namespace nereid::schedule {

/// Returns whether the sequences of a model can be continued by another server: the server keeps
/// all of their states. UNSUPPORTED says why not.
base::Status CheckTransferable(const config::ModelConfig& config);

/// Takes sequences out of a SequenceLifecycle and puts them into it; see SequencePort. Not
/// thread-safe.
class SequenceTransfers {
 public:
  /// Both must outlive the object.
  SequenceTransfers(const config::ModelConfig& config, SequenceLifecycle& lifecycle)
      : config_(config), lifecycle_(lifecycle) {}

  bool Has(const request::CorrelationId& id) const { return lifecycle_.table().IsOpen(id); }
  base::Result<HeldSequence> Hold(const request::CorrelationId& id, uint64_t now_ns);
  /// `states` have values.
  base::Result<uint64_t> Adopt(const request::CorrelationId& id,
                               std::shared_ptr<request::SequenceStates> states, uint64_t idle_ns,
                               bool needs_slot, uint64_t now_ns);
  bool Settle(uint64_t handle, HoldEnd end, uint64_t now_ns);

 private:
  const config::ModelConfig& config_;
  SequenceLifecycle& lifecycle_;
};

}  // namespace nereid::schedule
