// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "memory/host_buffer.h"

namespace nereid::server {

class InferenceServer;

/// Returns memory in which a model wants large inputs of a request, of `size` bytes in all; a
/// buffer without data if the caller is to take memory of its own. A version of -1 means that the
/// version policy decides. Other processes may read the bytes and write to them: see
/// api::MarkShared(). Thread-safe; does not block.
memory::HostBuffer TakeInputMemory(InferenceServer& server, const std::string& model,
                                   int64_t version, size_t size);

}  // namespace nereid::server
