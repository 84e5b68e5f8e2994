// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/blocking_workers.h"
#include "base/mutex.h"
#include "base/result.h"
#include "memory/shared/cuda_regions.h"
#include "memory/shared/shared_regions.h"
#include "request/inference_request.h"

namespace nereid::api {

enum class SharedMemoryKind { kSystem, kCuda };

/// Which regions of shared memory clients may register.
enum class AllowedRegions {
  kNone,
  kSent,  // of objects that they send over a Unix socket
  kAll,   // likewise, of any object that they name, and of GPU memory
};

using memory::CudaRegion;

/// The operations of the shared-memory extensions, and what they do to a request. Thread-safe after
/// Allow().
class SharedMemory {
 public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Decides which regions clients may register; without a decision they may register none. Every
  /// front end calls this before it serves, and the first call decides for the life of the object.
  /// Returns INVALID_ARGUMENT if another front end has decided otherwise. Unless `allowed` is
  /// kNone, installs the process's guard against regions that shrink (memory::InstallBusGuard).
  base::Status Allow(AllowedRegions allowed, const memory::SharedRegionLimits& limits);
  /// Returns UNSUPPORTED, with Triton's text, unless clients may register and unregister regions.
  base::Status CheckAllowed() const;

  // ---- For front ends. Register and unregister return the errors of CheckAllowed(); they open and
  // unmap files and wait for GPUs, so they must not be called on an event loop. ----

  base::Status RegisterSystem(memory::SharedRegion region);
  /// Registers a region of an object that the client has sent; the region's key is only a text.
  base::Status RegisterSent(memory::SharedRegion region, memory::SharedObject object);
  /// Registers a region of GPU memory, which shares the name space of the others. Returns
  /// INVALID_ARGUMENT, with Triton's text, on a machine without GPUs.
  base::Status RegisterCuda(CudaRegion region);
  /// Unregisters one region of this kind, or all if the name is empty. Unknown names are ignored.
  /// Requests in progress keep what they use.
  base::Status Unregister(SharedMemoryKind kind, const std::string& name);
  /// Returns one region, or all if the name is empty. Returns NOT_FOUND, with Triton's text, for a
  /// name that is not registered.
  base::Result<std::vector<memory::SharedRegion>> ListSystem(const std::string& name) const;
  /// Does the same for regions of GPU memory. Their handles are not part of the answer.
  base::Result<std::vector<CudaRegion>> ListCuda(const std::string& name) const;

  // ---- For the server ----

  /// Takes the request's shared_tensors, which is not null: gives its inputs their bytes and wraps
  /// its sink in a request::RegionSink. Reads no byte of a tensor. Returns NOT_FOUND for an unknown
  /// region and INVALID_ARGUMENT for a part that the region does not have; the request must then be
  /// refused.
  base::Status Attach(request::InferenceRequest& request) const;

 private:
  /// Returns ALREADY_EXISTS if a region of the kind has the name.
  base::Status CheckName(SharedMemoryKind kind, const std::string& name) const;

  bool decided_ = false;  // written by Allow() with registering_ held, and read by it alone
  AllowedRegions allowed_ = AllowedRegions::kNone;
  std::unique_ptr<memory::SharedRegions> regions_;     // never null
  std::unique_ptr<memory::CudaRegions> cuda_regions_;  // never null
  /// Copies outputs to GPU memory where an event loop would have to.
  mutable base::BlockingWorkers copying_{"cuda-outputs", 1};
  /// Held while a region is registered: a name must not be taken by both kinds. Held by Allow().
  base::Mutex registering_;  // guards no member
};

/// What OwnStrings() copies.
struct SharedStrings {
  uint64_t byte_size = 0;
  bool on_gpu = false;  // a part is in GPU memory, so OwnStrings() waits for the GPU
};
SharedStrings FindSharedStrings(const request::InferenceRequest& request);

/// Copies the BYTES inputs of a request after SharedMemory::Attach() out of shared memory, also of
/// GPU memory, to host memory. Their elements have lengths, which are checked before the model uses
/// them: a client must not be able to change them in between. Returns UNAVAILABLE if there is no
/// memory, and the driver's error if it cannot copy.
base::Status OwnStrings(request::InferenceRequest& request);

/// Marks the inputs of a request that are in `memory`, to which other processes can write, as those
/// in clients' shared memory are marked, and copies the BYTES inputs out of it. The errors are
/// those of OwnStrings().
base::Status MarkShared(std::string_view memory, request::InferenceRequest& request);

}  // namespace nereid::api
