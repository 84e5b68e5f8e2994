// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <cstdlib>

#include "abi/error.h"
#include "abi/tensor_types.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "config/backend_library.h"
#include "memory/gpu/gpu_pools.h"

namespace nereid::backend {
namespace {

using memory::GpuPools;

constexpr const char* kBatchSizeSetting = "default-max-batch-size";
constexpr const char* kDefaultBatchSize = "4";

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

base::Status MemoryAllocator::Allocate(void** buffer, TRITONSERVER_MemoryType type, int64_t id,
                                       uint64_t size) {
  // Only a GPU driver can pin memory. A backend that asks for pinned memory falls back to plain
  // memory when it gets this error.
  if (type != TRITONSERVER_MEMORY_CPU) {
    if (!abi::IsMemoryType(type) || !GpuPools::HasDriver()) {
      return base::Status::Unsupported("memory of type " +
                                       std::string(TRITONSERVER_MemoryTypeString(type)) +
                                       " is not available on this machine");
    }
    GpuPools& pools = GpuPools::Get();
    NEREID_ASSIGN_OR_RETURN(*buffer, type == TRITONSERVER_MEMORY_GPU ? pools.TakeGpu(id, size)
                                                                     : pools.TakePinned(size));
    return base::Status::Ok();
  }
  *buffer = std::malloc(size == 0 ? 1 : size);
  if (*buffer == nullptr) {
    return base::Status::Unavailable("out of memory: " + std::to_string(size) + " bytes");
  }
  return base::Status::Ok();
}

base::Status MemoryAllocator::Free(void* buffer, TRITONSERVER_MemoryType type, int64_t id) {
  if (type == TRITONSERVER_MEMORY_CPU) {
    std::free(buffer);
    return base::Status::Ok();
  }
  GpuPools& pools = GpuPools::Get();
  const bool is_given = type == TRITONSERVER_MEMORY_GPU          ? pools.GiveGpu(id, buffer)
                        : type == TRITONSERVER_MEMORY_CPU_PINNED ? pools.GivePinned(buffer)
                                                                 : false;
  if (is_given) return base::Status::Ok();
  return base::Status::InvalidArgument("the memory was not allocated with this type");
}

Backend::Backend(std::string name, std::unique_ptr<BackendLibrary> library, std::string config_json,
                 std::string directory)
    : name_(std::move(name)),
      directory_(directory.empty() ? DirectoryOf(library->path()) : std::move(directory)),
      library_(std::move(library)),
      config_(std::move(config_json)) {}

base::Result<std::shared_ptr<Backend>> Backend::Create(std::string name,
                                                       std::unique_ptr<BackendLibrary> library,
                                                       std::string config_json,
                                                       std::string directory) {
  std::shared_ptr<Backend> backend(new Backend(std::move(name), std::move(library),
                                               std::move(config_json), std::move(directory)));
  const BackendEntryPoints& entry = backend->entry_points();
  if (entry.initialize != nullptr) {
    NEREID_RETURN_IF_ERROR(abi::TakeStatus(entry.initialize(backend->handle())));
  }
  backend->initialized_ = true;
  if (entry.attribute != nullptr) {
    NEREID_RETURN_IF_ERROR(abi::TakeStatus(
        entry.attribute(backend->handle(),
                        reinterpret_cast<TRITONBACKEND_BackendAttribute*>(&backend->attributes_))));
  }
  return backend;
}

Backend::~Backend() {
  if (!initialized_ || entry_points().finalize == nullptr) return;
  const base::Status status = abi::TakeStatus(entry_points().finalize(handle()));
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing backend '" << name_ << "': " << status.message();
  }
}

std::string BackendRegistry::ConfigJson(const std::string& name) const {
  // In order: the defaults, settings for all backends, settings for this one. The last value of a
  // key wins, as on the command line.
  std::map<std::string, std::string> values = {
      {"auto-complete-config", settings_.auto_complete ? "true" : "false"},
      {"backend-directory", settings_.directory},
      {kBatchSizeSetting, kDefaultBatchSize},
      {"min-compute-capability", std::to_string(settings_.min_compute_capability)},
  };
  for (const std::string& group : {std::string(), name}) {
    const auto found = settings_.config.find(group);
    if (found == settings_.config.end()) continue;
    for (const auto& [key, value] : found->second) values[key] = value;
  }
  std::string json;
  base::JsonWriter(&json).BeginObject().Key("cmdline").StringMap(values).EndObject();
  return json;
}

// Logs the default for every model, as Triton does.
void BackendRegistry::LogDefaults(const std::string& name) const {
  for (const std::string& group : {std::string(), name}) {
    const auto found = settings_.config.find(group);
    if (found == settings_.config.end()) continue;
    for (const auto& [key, value] : found->second) {
      if (key == kBatchSizeSetting) return;
    }
  }
  LOG_VERBOSE(1) << "Adding default backend config setting: " << kBatchSizeSetting << ","
                 << kDefaultBatchSize;
}

base::Result<std::shared_ptr<Backend>> BackendRegistry::Get(
    const config::BackendLibrarySearch& search) {
  const std::string& name = search.backend;
  NEREID_ASSIGN_OR_RETURN(const auto places,
                          config::BackendLibraryPlaces(search, settings_.directory));
  {
    const base::MutexLock lock(mutex_);
    if (const auto found = built_in_.find(name); found != built_in_.end()) return found->second;
  }
  for (const std::string& path : places) {
    if (base::PathExists(path)) return Open(name, path, "");
  }
  if (const std::string path = config::PythonBackendLibrary(search, settings_.directory);
      !path.empty()) {
    return Open(name, path, base::JoinPath(settings_.directory, name));
  }
  return base::Status::InvalidArgument(config::NoBackendLibraryText(search, settings_.directory));
}

base::Result<std::shared_ptr<Backend>> BackendRegistry::Open(const std::string& name,
                                                             const std::string& path,
                                                             const std::string& directory) {
  const base::MutexLock lock(mutex_);
  auto& slot = backends_[{path, name}];
  LogDefaults(name);
  // A failure leaves the slot empty, so the next load of a model tries again.
  if (slot == nullptr) {
    NEREID_ASSIGN_OR_RETURN(auto library, BackendLibrary::Open(path));
    NEREID_ASSIGN_OR_RETURN(slot,
                            Backend::Create(name, std::move(library), ConfigJson(name), directory));
  }
  return slot;
}

base::Status BackendRegistry::AddBuiltIn(const std::string& name,
                                         std::unique_ptr<BackendLibrary> library) {
  const base::MutexLock lock(mutex_);
  NEREID_ASSIGN_OR_RETURN(built_in_[name],
                          Backend::Create(name, std::move(library), ConfigJson(name)));
  return base::Status::Ok();
}

std::vector<std::shared_ptr<Backend>> BackendRegistry::Loaded() {
  const base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Backend>> backends;
  for (const auto& [key, backend] : backends_) {
    if (backend != nullptr) backends.push_back(backend);
  }
  return backends;
}

}  // namespace nereid::backend
