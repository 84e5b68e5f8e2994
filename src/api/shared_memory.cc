// SPDX-License-Identifier: Apache-2.0
#include "api/shared_memory.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "device/cuda_driver.h"
#include "memory/gpu/copy.h"
#include "memory/host_buffer.h"
#include "memory/shared/bus_guard.h"
#include "memory/shared/region_range.h"
#include "request/region_sink.h"

namespace nereid::api {
namespace {

using base::Status;
using memory::CudaRegions;
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
  Resolver(const SharedRegions& regions, const CudaRegions& cuda_regions)
      : regions_(regions), cuda_regions_(cuda_regions) {}

  /// The memory of a part.
  struct Place {
    char* data = nullptr;
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
  };

  base::Result<Place> Find(const RegionPart& part, bool is_input) {
    auto used = Use(part.region);
    if (!used.ok() && used.status().code() == base::StatusCode::kNotFound) {
      if (const CudaRegions::Mapping cuda = UseCuda(part.region)) return FindOnGpu(part, *cuda);
    }
    NEREID_ASSIGN_OR_RETURN(const SharedRegions::Mapping mapping, std::move(used));
    NEREID_RETURN_IF_ERROR(memory::CheckRegionRange(part.region, mapping->region().byte_size,
                                                    part.offset, part.byte_size));
    if (is_input) NEREID_RETURN_IF_ERROR(mapping->CheckStored(part.byte_size));
    return Place{mapping->data() + part.offset};
  }

  bool uses_gpu() const { return !used_.cuda.empty(); }
  request::RegionSink::Regions TakeUsed() { return std::move(used_); }

 private:
  /// How many regions are compared by name before they are looked up: most requests use one region
  /// or two, each for several tensors.
  static constexpr size_t kRemembered = 8;

  static base::Result<Place> FindOnGpu(const RegionPart& part, const memory::CudaMapping& mapping) {
    const CudaRegion& region = mapping.region();
    NEREID_RETURN_IF_ERROR(
        memory::CheckRegionRange(part.region, region.byte_size, part.offset, part.byte_size));
    return Place{mapping.data() + part.offset, memory::MemoryType::kGpu, region.device_id};
  }

  /// Returns the region with this name among the last ones of `used`; null if it is not there.
  template <typename Mapping>
  static Mapping Remembered(const std::vector<Mapping>& used, const std::string& name) {
    for (size_t i = used.size(), end = i - std::min(i, kRemembered); i != end; --i) {
      if (used[i - 1]->region().name == name) return used[i - 1];
    }
    return nullptr;
  }

  base::Result<SharedRegions::Mapping> Use(const std::string& name) {
    if (SharedRegions::Mapping known = Remembered(used_.system, name)) return known;
    NEREID_ASSIGN_OR_RETURN(SharedRegions::Mapping mapping, regions_.Use(name));
    used_.system.push_back(mapping);
    return mapping;
  }

  CudaRegions::Mapping UseCuda(const std::string& name) {
    if (CudaRegions::Mapping known = Remembered(used_.cuda, name)) return known;
    CudaRegions::Mapping mapping = cuda_regions_.Find(name);
    if (mapping != nullptr) used_.cuda.push_back(mapping);
    return mapping;
  }

  const SharedRegions& regions_;
  const CudaRegions& cuda_regions_;
  request::RegionSink::Regions used_;
};

bool IsSharedString(const request::Input& input) {
  return input.type == tensor::DataType::kBytes && input.in_shared_memory;
}

}  // namespace

SharedMemory::SharedMemory()
    : regions_(std::make_unique<SharedRegions>()), cuda_regions_(std::make_unique<CudaRegions>()) {}
SharedMemory::~SharedMemory() = default;

Status SharedMemory::Allow(AllowedRegions allowed, const memory::SharedRegionLimits& limits) {
  const base::MutexLock lock(registering_);
  if (decided_) {
    if (allowed == allowed_) return Status::Ok();
    return Status::InvalidArgument(
        "--allow-client-shm differs from that of the front ends that this server started first; "
        "give all front ends of a server the same value");
  }
  if (allowed == AllowedRegions::kNone) {
    decided_ = true;
    return Status::Ok();
  }
  NEREID_RETURN_IF_ERROR(memory::InstallBusGuard());
  decided_ = true;
  regions_ = std::make_unique<SharedRegions>(limits);
  cuda_regions_ = std::make_unique<CudaRegions>(limits.regions);
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
  const base::MutexLock lock(registering_);
  NEREID_RETURN_IF_ERROR(CheckName(SharedMemoryKind::kCuda, region.name));
  return regions_->Register(std::move(region));
}

Status SharedMemory::RegisterSent(memory::SharedRegion region, memory::SharedObject object) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  const base::MutexLock lock(registering_);
  NEREID_RETURN_IF_ERROR(CheckName(SharedMemoryKind::kCuda, region.name));
  return regions_->Register(std::move(region), std::move(object));
}

Status SharedMemory::RegisterCuda(CudaRegion region) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  const base::MutexLock lock(registering_);
  NEREID_RETURN_IF_ERROR(CheckName(SharedMemoryKind::kSystem, region.name));
  if (const auto driver = device::CudaDriver::Get(); !driver.ok()) {
    LOG_VERBOSE(1) << driver.status().message();
    return Status::InvalidArgument("failed to register CUDA shared memory region: " +
                                   Quoted(region.name) + ", GPUs not supported");
  }
  if (allowed_ == AllowedRegions::kSent) {
    return Status::Unsupported(
        "CUDA shared memory cannot be registered: the server runs with '--allow-client-shm=sent'. "
        "Start it with '--allow-client-shm=true'");
  }
  return cuda_regions_->Register(std::move(region));
}

Status SharedMemory::CheckName(SharedMemoryKind kind, const std::string& name) const {
  const bool is_taken = kind == SharedMemoryKind::kCuda ? cuda_regions_->Find(name) != nullptr
                                                        : !regions_->List(name).empty();
  if (!is_taken) return Status::Ok();
  return Status::AlreadyExists("shared memory region " + Quoted(name) + " already in manager");
}

Status SharedMemory::Unregister(SharedMemoryKind kind, const std::string& name) {
  NEREID_RETURN_IF_ERROR(CheckAllowed());
  const auto unregister = [&name](auto& regions) {
    if (name.empty()) {
      regions.UnregisterAll();
    } else {
      regions.Unregister(name);
    }
  };
  if (kind == SharedMemoryKind::kCuda) {
    unregister(*cuda_regions_);
  } else {
    unregister(*regions_);
  }
  return Status::Ok();
}

base::Result<std::vector<memory::SharedRegion>> SharedMemory::ListSystem(
    const std::string& name) const {
  std::vector<memory::SharedRegion> list = name.empty() ? regions_->List() : regions_->List(name);
  if (name.empty() || !list.empty()) return list;
  if (cuda_regions_->Find(name) != nullptr) {
    return Status::NotFound("The region named " + Quoted(name) +
                            " is registered as CUDA shared memory, not system shared memory");
  }
  return Status::NotFound("Unable to find system shared memory region: " + Quoted(name));
}

base::Result<std::vector<CudaRegion>> SharedMemory::ListCuda(const std::string& name) const {
  if (name.empty()) return cuda_regions_->List();
  if (const CudaRegions::Mapping found = cuda_regions_->Find(name)) {
    return std::vector<CudaRegion>{
        {name, {}, found->region().device_id, found->region().byte_size}};
  }
  if (!regions_->List(name).empty()) {
    return Status::NotFound("The region named " + Quoted(name) +
                            " is registered as system shared memory, not CUDA shared memory");
  }
  return Status::NotFound("Unable to find cuda shared memory region: " + Quoted(name));
}

Status SharedMemory::Attach(InferenceRequest& request) const {
  const auto wanted = std::move(request.shared_tensors);
  Resolver resolver(*regions_, *cuda_regions_);
  uint64_t bytes = 0;
  for (const auto& [index, part] : wanted->inputs) {
    NEREID_ASSIGN_OR_RETURN(const Resolver::Place place, resolver.Find(part, /*is_input=*/true));
    request::Input& input = request.inputs()[index];
    input.Append(place.data, part.byte_size, place.type, place.id);
    input.in_shared_memory = true;
    bytes += part.byte_size;  // each part is mapped, so no attainable sum overflows
  }
  std::vector<request::OutputPlace> places;
  places.reserve(wanted->outputs.size());
  for (const auto& [name, part] : wanted->outputs) {
    NEREID_ASSIGN_OR_RETURN(const Resolver::Place place, resolver.Find(part, /*is_input=*/false));
    places.push_back({name, place.data, part.byte_size, place.type, place.id});
  }
  request.has_shared_memory = true;
  request.has_gpu_memory = resolver.uses_gpu();
  if (bytes > kMaxInlineBytes || request.has_gpu_memory) request.may_run_inline = false;
  request::RegionSink::Regions used = resolver.TakeUsed();
  if (request.has_gpu_memory) used.copying = &copying_;
  request.SetSink(
      std::make_shared<request::RegionSink>(request.sink(), std::move(used), std::move(places)));
  return Status::Ok();
}

SharedStrings FindSharedStrings(const InferenceRequest& request) {
  SharedStrings strings;
  for (const request::Input& input : request.inputs()) {
    if (!IsSharedString(input)) continue;
    strings.byte_size += input.ByteSize();
    for (const request::InputPiece& piece : input.pieces) {
      if (piece.memory_type == memory::MemoryType::kGpu) strings.on_gpu = true;
    }
  }
  return strings;
}

Status OwnStrings(InferenceRequest& request) {
  memory::CopyBatch batch;
  for (request::Input& input : request.inputs()) {
    if (!IsSharedString(input)) continue;
    for (request::InputPiece& piece : input.pieces) {
      if (piece.size == 0) continue;
      memory::HostBuffer copy = memory::HostBuffer::Allocate(piece.size);
      if (!copy) {
        return Status::Unavailable("out of memory: the copy of input '" + input.name + "' needs " +
                                   std::to_string(piece.size) + " bytes");
      }
      NEREID_RETURN_IF_ERROR(batch.Add(
          {copy.data()}, {piece.data, piece.memory_type, piece.memory_type_id}, piece.size));
      piece = {copy.data(), piece.size};
      request.Hold(std::move(copy));
    }
    input.in_shared_memory = false;
  }
  return batch.Wait();
}

Status MarkShared(std::string_view memory, InferenceRequest& request) {
  const std::less_equal<> before;
  for (request::Input& input : request.inputs()) {
    for (const request::InputPiece& piece : input.pieces) {
      const bool is_inside =
          before(memory.data(), piece.data) && before(piece.data, memory.data() + memory.size());
      if (is_inside && piece.size != 0) input.in_shared_memory = true;
    }
  }
  request.has_shared_memory = true;
  return OwnStrings(request);
}

}  // namespace nereid::api
