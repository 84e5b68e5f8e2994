// SPDX-License-Identifier: Apache-2.0
#include "api/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/host_buffer.h"
#include "memory/shared/bus_guard.h"
#include "memory/shared/region_range.h"
#include "request/region_sink.h"

namespace nereid::api {
namespace {

using base::Status;
using memory::SharedRegions;
using request::InferenceRequest;
using request::RegionPart;

/// A request with more bytes in regions than this does not run on an event loop, however short the
/// usual executions of its model are.
constexpr uint64_t kMaxInlineBytes = uint64_t{4} << 20;

std::string Quoted(const std::string& name) { return "'" + name + "'"; }

/// Finds the parts of regions that one request uses.
class Resolver {
 public:
  explicit Resolver(const SharedRegions& regions) : regions_(regions) {}

  base::Result<char*> Find(const RegionPart& part, bool is_input) {
    NEREID_ASSIGN_OR_RETURN(const SharedRegions::Mapping mapping, Use(part.region));
    NEREID_RETURN_IF_ERROR(memory::CheckRegionRange(part.region, mapping->region().byte_size,
                                                    part.offset, part.byte_size));
    if (is_input) NEREID_RETURN_IF_ERROR(mapping->CheckStored(part.byte_size));
    return mapping->data() + part.offset;
  }

  std::vector<SharedRegions::Mapping> TakeUsed() { return std::move(used_); }

 private:
  /// Most requests use one region or two, each for several tensors.
  base::Result<SharedRegions::Mapping> Use(const std::string& name) {
    constexpr size_t kRemembered = 8;
    for (size_t i = used_.size(), end = i - std::min(i, kRemembered); i != end; --i) {
      if (used_[i - 1]->region().name == name) return used_[i - 1];
    }
    NEREID_ASSIGN_OR_RETURN(SharedRegions::Mapping mapping, regions_.Use(name));
    used_.push_back(mapping);
    return mapping;
  }

  const SharedRegions& regions_;
  std::vector<SharedRegions::Mapping> used_;
};

bool IsSharedString(const request::Input& input) {
  return input.type == tensor::DataType::kBytes && input.in_shared_memory;
}

}  // namespace

SharedMemory::SharedMemory() : regions_(std::make_unique<SharedRegions>()) {}
SharedMemory::~SharedMemory() = default;

Status SharedMemory::Allow(AllowedRegions allowed, const memory::SharedRegionLimits& limits) {
  NEREID_RETURN_IF_ERROR(memory::InstallBusGuard());
  regions_ = std::make_unique<SharedRegions>(limits);
  allowed_ = allowed;
  return Status::Ok();
}

Status SharedMemory::CheckAllowed() const {
  if (allowed_ != AllowedRegions::kNone) return Status::Ok();
  return Status::Unsupported(
      "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to "
      "enable.");
}

Status SharedMemory::RegisterSystem(memory::SharedRegion region) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  if (allowed_ == AllowedRegions::kSent) {
    return Status::Unsupported(
        "shared memory cannot be registered by its key: the server runs with "
        "'--allow-client-shm=sent'. Send the descriptor of the object with the request over a Unix "
        "socket");
  }
  return regions_->Register(std::move(region));
}

Status SharedMemory::RegisterSent(memory::SharedRegion region, memory::SharedObject object) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  return regions_->Register(std::move(region), std::move(object));
}

Status SharedMemory::RegisterCuda(const CudaRegion& region) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  // Both kinds share one name space.
  if (!regions_->List(region.name).empty()) {
    return Status::AlreadyExists("shared memory region " + Quoted(region.name) +
                                 " already in manager");
  }
  return Status::InvalidArgument("failed to register CUDA shared memory region: " +
                                 Quoted(region.name) + ", GPUs not supported");
}

Status SharedMemory::Unregister(SharedMemoryKind kind, const std::string& name) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  if (kind == SharedMemoryKind::kCuda) return Status::Ok();
  if (name.empty()) {
    regions_->UnregisterAll();
  } else {
    regions_->Unregister(name);
  }
  return Status::Ok();
}

base::Result<std::vector<memory::SharedRegion>> SharedMemory::ListSystem(
    const std::string& name) const {
  std::vector<memory::SharedRegion> list = name.empty() ? regions_->List() : regions_->List(name);
  if (name.empty() || !list.empty()) return list;
  return Status::NotFound("Unable to find system shared memory region: " + Quoted(name));
}

base::Result<std::vector<CudaRegion>> SharedMemory::ListCuda(const std::string& name) const {
  if (name.empty()) return std::vector<CudaRegion>();
  if (!regions_->List(name).empty()) {
    return Status::NotFound("The region named " + Quoted(name) +
                            " is registered as system shared memory, not CUDA shared memory");
  }
  return Status::NotFound("Unable to find cuda shared memory region: " + Quoted(name));
}

Status SharedMemory::Attach(InferenceRequest& request) const {
  const auto wanted = std::move(request.shared_tensors);
  Resolver resolver(*regions_);
  uint64_t bytes = 0;
  for (const auto& [index, part] : wanted->inputs) {
    NEREID_ASSIGN_OR_RETURN(const char* const data, resolver.Find(part, /*is_input=*/true));
    request::Input& input = request.inputs()[index];
    input.Append(data, part.byte_size);
    input.in_shared_memory = true;
    bytes += part.byte_size;  // each part is mapped, so no attainable sum overflows
  }
  std::vector<request::OutputPlace> places;
  places.reserve(wanted->outputs.size());
  for (const auto& [name, part] : wanted->outputs) {
    NEREID_ASSIGN_OR_RETURN(char* const data, resolver.Find(part, /*is_input=*/false));
    places.push_back({name, data, part.byte_size});
  }
  request.has_shared_memory = true;
  if (bytes > kMaxInlineBytes) request.may_run_inline = false;
  request.SetSink(std::make_shared<request::RegionSink>(request.sink(), resolver.TakeUsed(),
                                                        std::move(places)));
  return Status::Ok();
}

uint64_t SharedStringBytes(const InferenceRequest& request) {
  uint64_t size = 0;
  for (const request::Input& input : request.inputs()) {
    if (IsSharedString(input)) size += input.ByteSize();
  }
  return size;
}

Status OwnStrings(InferenceRequest& request) {
  for (request::Input& input : request.inputs()) {
    if (!IsSharedString(input)) continue;
    for (request::InputPiece& piece : input.pieces) {
      if (piece.size == 0) continue;
      memory::HostBuffer copy = memory::HostBuffer::Allocate(piece.size);
      if (!copy) {
        return Status::Unavailable("out of memory: the copy of input '" + input.name + "' needs " +
                                   std::to_string(piece.size) + " bytes");
      }
      std::memcpy(copy.data(), piece.data, piece.size);
      piece.data = copy.data();
      request.Hold(std::move(copy));
    }
    input.in_shared_memory = false;
  }
  return Status::Ok();
}

}  // namespace nereid::api
