// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "device/stream.h"

namespace nereid::memory {

/// Takes a stream of a GPU from those that were given back, or creates one. Thread-safe. Returns
/// the errors of device::Stream::Create.
base::Result<device::Stream> TakeStream(int gpu);

/// Gives back a stream without unfinished work, for the next user. Thread-safe.
void ReturnStream(device::Stream stream);

}  // namespace nereid::memory
