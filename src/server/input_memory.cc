// SPDX-License-Identifier: Apache-2.0
#include "server/input_memory.h"

#include <utility>

#include "api/rollout_control.h"
#include "server/inference_server.h"
#include "server/repository_control.h"
#include "server/served_model.h"

namespace nereid::server {

// None with a rollout: a request may have a copy for another version, which must not see what the
// model's process writes to the inputs.
memory::HostBuffer TakeInputMemory(InferenceServer& server, const std::string& model,
                                   int64_t version, size_t size) {
  if (server.rollouts()->Has(model)) return {};
  auto found = server.repositories().lifecycle().Table()->Find(model, version);
  if (!found.ok()) return {};
  return ServedModel::From(std::move(found).value())->version().TakeInputMemory(size);
}

}  // namespace nereid::server
