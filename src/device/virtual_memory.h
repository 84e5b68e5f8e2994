// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "device/cuda_driver.h"

namespace nereid::device {

// The steps that GPU memory needs whose addresses and physical memory are made apart
// (cuMemAddressReserve, cuMemCreate, cuMemMap). In all of them `ordinal` names the GPU, and `what`
// completes the error "cannot <what>: ...".

/// Describes physical memory of a GPU. `handle_types` is 0, or kCudaHandleFile for memory that
/// other processes can open.
CuMemoryProperties PhysicalMemoryOf(int ordinal, int handle_types = 0);

/// Returns the unit of sizes and addresses in bytes, 2 MiB on all present GPUs. Returns the errors
/// of the driver.
base::Result<size_t> MemoryUnit(const CudaDriver& driver, int ordinal, const std::string& what);

/// Maps the whole of a piece of physical memory, `size` bytes, to reserved addresses, and permits
/// the GPU to read and write there. Returns the driver's error, and maps nothing then.
base::Status MapMemory(const CudaDriver& driver, CuPointer address, size_t size,
                       CuMemoryHandle handle, int ordinal, const std::string& what);

}  // namespace nereid::device
