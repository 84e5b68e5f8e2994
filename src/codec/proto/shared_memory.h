// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/shared_memory.h"

namespace inference {
class CudaSharedMemoryRegisterRequest;
class CudaSharedMemoryStatusResponse;
class SystemSharedMemoryRegisterRequest;
class SystemSharedMemoryStatusResponse;
}  // namespace inference

namespace nereid::codec::proto {

memory::SharedRegion DecodeSystemRegion(
    const inference::SystemSharedMemoryRegisterRequest& message);
api::CudaRegion DecodeCudaRegion(const inference::CudaSharedMemoryRegisterRequest& message);

/// Fill the responses of the status operations. Bytes of names and keys that are not UTF-8 are
/// replaced.
void EncodeSystemRegions(const std::vector<memory::SharedRegion>& regions,
                         inference::SystemSharedMemoryStatusResponse* message);
void EncodeCudaRegions(const std::vector<api::CudaRegion>& regions,
                       inference::CudaSharedMemoryStatusResponse* message);

}  // namespace nereid::codec::proto
