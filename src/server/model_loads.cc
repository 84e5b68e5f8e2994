// SPDX-License-Identifier: Apache-2.0
#include "server/model_loads.h"

#include "base/log.h"

namespace nereid::server {

using base::Status;
using repository::LoadRecord;

namespace {

constexpr uint64_t kMsNs = 1'000'000;

std::string WithoutLineEnds(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

api::ModelLoads::Current CurrentOf(const LoadRecord::Current& current) {
  const repository::LoadPosition& position = current.position;
  return {.stage = repository::LoadStageName(position.stage),
          .elapsed_ms = current.elapsed_ns / kMsNs,
          .version = position.version,
          .versions_done = position.versions_done,
          .versions = position.versions,
          .attempt = position.attempt};
}

}  // namespace

base::Result<api::ModelLoads> ModelLoads::Get(const std::string& model) const {
  const auto records = lifecycle_.board().Find(model);
  api::ModelLoads loads{.model = model, .waiting = lifecycle_.requests().CountWaiting(model)};
  if (records.empty() && loads.waiting == 0) {
    return Status::NotFound("model '" + model + "' has not been loaded");
  }
  const LoadRecord* shown = nullptr;
  for (const auto& [id, record] : records) {
    if (shown == nullptr || (record.current && !shown->current)) shown = &record;
  }
  if (shown == nullptr) return loads;
  if (shown->current) {
    loads.current = CurrentOf(*shown->current);
    loads.current->progress = lifecycle_.FetchProgress(shown->current->position.path);
  }
  if (shown->last) {
    loads.last = {.error = WithoutLineEnds(shown->last->status.message()),
                  .duration_ms = shown->last->duration_ns / kMsNs,
                  .wall_ms = shown->last->wall_ms};
  }
  loads.successes = shown->successes;
  loads.failures = shown->failures;
  return loads;
}

Status ModelLoads::Cancel(const std::string& model) {
  if (lifecycle_.CancelLoads(model) == 0) {
    return Status::NotFound("model '" + model + "' is not being loaded");
  }
  LOG_INFO_OF(.model = model) << "a client has cancelled the load of '" << model << "'";
  return Status::Ok();
}

}  // namespace nereid::server
