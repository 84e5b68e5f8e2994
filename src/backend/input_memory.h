// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backend/backend_model.h"
#include "memory/host_buffer.h"

namespace nereid::backend {

/// Returns memory in which the backend wants `size` bytes of inputs of a request for this model
/// (nereid/backend/input_memory.h); a buffer without data if it has no wish. The buffer keeps the
/// backend loaded, but not the model.
memory::HostBuffer TakeInputMemory(BackendModel& model, size_t size);

}  // namespace nereid::backend
