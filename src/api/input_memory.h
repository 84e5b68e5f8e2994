// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "memory/host_buffer.h"

namespace nereid::api {

/// Returns memory for `size` bytes of inputs of a request for a model, or a buffer without data:
/// the caller then takes memory of its own. A version of -1 means that the version policy decides.
/// Other processes may read and write the memory that is returned. Must not block.
using InputMemorySource =
    std::function<memory::HostBuffer(const std::string& model, int64_t version, size_t size)>;

}  // namespace nereid::api
