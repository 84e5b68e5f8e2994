// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::memory {

/// Lets a GPU access the memory of another one directly, if both can and GpuMemorySettings allows
/// it. Copies between the two take the short way then; otherwise the driver leads them through the
/// host. Does its work once for each pair. Thread-safe.
void EnablePeerAccess(int gpu, int peer);

}  // namespace nereid::memory
