// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "device/cuda_api.h"

namespace nereid::python {

/// A GPU whose memory server and workers can share.
struct SharedGpu {
  /// Its number in the server. A worker may number the GPUs differently.
  int ordinal = 0;
  device::CuUuid uuid = {};
};

/// Returns the GPUs whose memory can be passed between processes, by ordinal. Empty without a
/// driver, and if TRITON_SERVER_CPU_ONLY is set. The driver is asked once; that call may block for
/// a second. Thread-safe.
const std::vector<SharedGpu>& SharedGpus();

/// Returns the GPU with this ordinal; null if its memory cannot be shared.
const SharedGpu* FindSharedGpu(int ordinal);
/// Returns the ordinal of the GPU with this UUID; -1 if its memory cannot be shared.
int FindSharedGpu(const device::CuUuid& uuid);

/// Returns the 32 hexadecimal digits of a UUID.
std::string HexText(const device::CuUuid& uuid);

}  // namespace nereid::python
