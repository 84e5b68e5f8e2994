// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/message.h"
#include "backend/backend_library.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/backend_library.h"

namespace nereid::backend {

/// Allocates scratch memory for plug-ins (TRITONBACKEND_MemoryManager): host memory by malloc,
/// pinned memory and GPU memory from the process's pools. Thread-safe.
class MemoryAllocator {
 public:
  /// `id` is the GPU, for GPU memory. Returns UNSUPPORTED if the machine can never have such
  /// memory, and UNAVAILABLE if there is none at present.
  base::Status Allocate(void** buffer, TRITONSERVER_MemoryType type, int64_t id, uint64_t size);
  /// Returns INVALID_ARGUMENT if the memory was not allocated with this type and GPU.
  base::Status Free(void* buffer, TRITONSERVER_MemoryType type, int64_t id);
};

/// An instance group that a backend prefers for models without one.
struct PreferredInstanceGroup {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  uint64_t count = 0;
  std::vector<uint64_t> device_ids;
};

/// The attributes that a backend sets (TRITONBACKEND_BackendAttribute).
struct BackendAttributes {
  std::vector<PreferredInstanceGroup> preferred_groups;
  bool parallel_instance_loading = false;
};

/// A loaded backend (TRITONBACKEND_Backend). Initialized once per library and name; finalized when
/// the last reference is dropped. Name, paths and configuration are constant; the state pointer
/// belongs to the plug-in.
class Backend {
 public:
  /// Creates the backend and calls the library's Initialize. `config_json` is {"cmdline":{...}}.
  static base::Result<std::shared_ptr<Backend>> Create(std::string name,
                                                       std::unique_ptr<BackendLibrary> library,
                                                       std::string config_json,
                                                       std::string directory = "");
  ~Backend();

  const std::string& name() const { return name_; }
  const std::string& directory() const { return directory_; }
  const std::string& library_path() const { return library_->path(); }
  const BackendEntryPoints& entry_points() const { return library_->entry_points(); }
  const BackendAttributes& attributes() const { return attributes_; }
  TRITONSERVER_Message& config() { return config_; }
  MemoryAllocator& memory_allocator() { return memory_allocator_; }

  TRITONBACKEND_ExecutionPolicy execution_policy = TRITONBACKEND_EXECUTION_BLOCKING;
  void* state = nullptr;

  TRITONBACKEND_Backend* handle() { return reinterpret_cast<TRITONBACKEND_Backend*>(this); }
  static Backend* From(TRITONBACKEND_Backend* handle) { return reinterpret_cast<Backend*>(handle); }

 private:
  Backend(std::string name, std::unique_ptr<BackendLibrary> library, std::string config_json,
          std::string directory);

  const std::string name_;
  const std::string directory_;
  std::unique_ptr<BackendLibrary> library_;
  TRITONSERVER_Message config_;
  BackendAttributes attributes_;
  MemoryAllocator memory_allocator_;
  bool initialized_ = false;
};

/// Finds backend libraries and keeps each one loaded until the server ends. Thread-safe. Loading a
/// library blocks.
class BackendRegistry {
 public:
  struct Settings {
    std::string directory;  // contains one folder per backend
    bool auto_complete = true;
    double min_compute_capability = 0;
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> config;
  };
  explicit BackendRegistry(Settings settings) : settings_(std::move(settings)) {}

  /// Returns the backend of a model version and loads it if necessary. Returns INVALID_ARGUMENT if
  /// no library is found.
  base::Result<std::shared_ptr<Backend>> Get(const config::BackendLibrarySearch& search);

  /// Adds a backend that is linked into the program. Its name is found before any file is searched.
  base::Status AddBuiltIn(const std::string& name, std::unique_ptr<BackendLibrary> library);

  /// Returns the loaded backends, sorted by path.
  std::vector<std::shared_ptr<Backend>> Loaded();

 private:
  base::Result<std::shared_ptr<Backend>> Open(const std::string& name, const std::string& path,
                                              const std::string& directory) NEREID_EXCLUDES(mutex_);
  std::string ConfigJson(const std::string& name) const;
  void LogDefaults(const std::string& name) const;

  const Settings settings_;
  base::Mutex mutex_;
  // By library path and name. The lock is held while a library initializes, because two models must
  // not initialize one library twice.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Backend>> backends_
      NEREID_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Backend>> built_in_ NEREID_GUARDED_BY(mutex_);  // by name
};

}  // namespace nereid::backend
