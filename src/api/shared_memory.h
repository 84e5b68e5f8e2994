// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/shared/shared_regions.h"
#include "request/inference_request.h"

namespace nereid::api {

enum class SharedMemoryKind { kSystem, kCuda };

/// Which regions of system shared memory clients may register.
enum class AllowedRegions {
  kNone,
  kSent,  // of objects that they send over a Unix socket
  kAll,   // likewise, and of any object that they name
};

/// A region of GPU memory that a client asks to register.
struct CudaRegion {
  std::string name;
  std::string raw_handle;  // the bytes of a cudaIpcMemHandle_t
  int64_t device_id = 0;
  uint64_t byte_size = 0;
};

/// The operations of the shared-memory extensions, and what they do to a request. Thread-safe after
/// Allow().
class SharedMemory {
 public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Lets clients register regions, which they may not otherwise; `allowed` is not kNone. Also
  /// installs the process's guard against regions that shrink (memory::InstallBusGuard). Must be
  /// called before a front end serves.
  base::Status Allow(AllowedRegions allowed, const memory::SharedRegionLimits& limits);
  /// Returns UNSUPPORTED, with Triton's text, unless clients may register and unregister regions.
  base::Status CheckAllowed() const;

  // ---- For front ends. Register and unregister return the errors of CheckAllowed(); they open and
  // unmap files, so they should not be called on an event loop. ----

  base::Status RegisterSystem(memory::SharedRegion region);
  /// Registers a region of an object that the client has sent; the region's key is only a text.
  base::Status RegisterSent(memory::SharedRegion region, memory::SharedObject object);
  /// Returns INVALID_ARGUMENT: this server uses no GPU memory.
  base::Status RegisterCuda(const CudaRegion& region);
  /// Unregisters one region of this kind, or all if the name is empty. Unknown names are ignored.
  /// Requests in progress keep what they use.
  base::Status Unregister(SharedMemoryKind kind, const std::string& name);
  /// Returns one region, or all if the name is empty. Returns NOT_FOUND, with Triton's text, for a
  /// name that is not registered.
  base::Result<std::vector<memory::SharedRegion>> ListSystem(const std::string& name) const;
  /// Does the same for regions of GPU memory, of which there are none.
  base::Result<std::vector<CudaRegion>> ListCuda(const std::string& name) const;

  // ---- For the server ----

  /// Takes the request's shared_tensors, which is not null: gives its inputs their bytes and wraps
  /// its sink in a request::RegionSink. Reads no byte of a tensor. Returns NOT_FOUND for an unknown
  /// region and INVALID_ARGUMENT for a part that the region does not have; the request must then be
  /// refused.
  base::Status Attach(request::InferenceRequest& request) const;

 private:
  AllowedRegions allowed_ = AllowedRegions::kNone;
  std::unique_ptr<memory::SharedRegions> regions_;  // never null
};

/// Returns the number of bytes that OwnStrings() copies.
uint64_t SharedStringBytes(const request::InferenceRequest& request);

/// Copies the BYTES inputs of a request after SharedMemory::Attach() out of shared memory. Their
/// elements have lengths, which are checked before the model uses them: a client must not be able
/// to change them in between. Returns UNAVAILABLE if there is no memory.
base::Status OwnStrings(request::InferenceRequest& request);

}  // namespace nereid::api
