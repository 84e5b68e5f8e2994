// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"
#include "python/backend_state.h"
#include "python/executing_batch.h"
#include "python/input_arena.h"
#include "python/requirements.h"
#include "python/supervisor.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// A version of a Python model. Immutable after Load, except for the memory of inputs, so instances
/// share it without a lock.
class PythonModel {
 public:
  explicit PythonModel(PythonBackend* backend) : backend_(*backend) {}

  /// Reads the configuration, has the model complete it if the server asks for that, and finds the
  /// environment of the workers.
  backend::Error Load(TRITONBACKEND_Model* model);

  /// Returns the settings of the worker of an instance, whose `args` are those of initialize().
  backend::Error InstanceSettings(TRITONBACKEND_ModelInstance* instance,
                                  SupervisorSettings* settings) const;

  const backend::ModelConfig& config() const { return config_; }
  const ExecutingBatch::ModelTraits& traits() const { return traits_; }
  int64_t max_concurrent_batches() const { return max_concurrent_batches_; }
  /// Whether the worker of an instance may have more than one batch (Pipeline). Only batches that
  /// could not wait elsewhere may be sent ahead: the model has one instance, and no queue with
  /// priorities, timeouts, an order or permits.
  bool pipelined() const { return pipelined_; }
  /// Whether the model takes inputs in GPU memory (FORCE_CPU_ONLY_INPUT_TENSORS).
  bool gpu_inputs() const { return gpu_inputs_; }
  /// 0 for no limit.
  std::chrono::milliseconds execution_limit() const { return supervisor_.loop.execution_limit; }
  Spawner& spawner() const { return backend_.spawner(); }
  TRITONSERVER_Server* server() const { return server_; }

  /// Provides memory for large inputs of a request (nereid/backend/input_memory.h). Thread-safe.
  bool TakeInputMemory(size_t size, void** base, void** memory) noexcept NEREID_EXCLUDES(mutex_);
  static size_t PrepareInputMemory(void* memory, size_t begin, size_t end) noexcept;
  static void FreeInputMemory(void* memory) noexcept;
  /// Returns the memory of such inputs; null while there was none.
  std::shared_ptr<InputArena> input_arena() const NEREID_EXCLUDES(mutex_);

 private:
  backend::Error Read(TRITONBACKEND_Model* model);
  backend::Error ReadParameters();
  backend::Error FindModelFile();
  backend::Error PrepareCommand();
  /// Installs the requirements.txt of the model, and makes `*python` the interpreter that has them.
  backend::Error PrepareRequirements(std::string* python);
  backend::Error Complete(TRITONBACKEND_Model* model);

  PythonBackend& backend_;
  TRITONSERVER_Server* server_ = nullptr;
  backend::ModelConfig config_;
  ExecutingBatch::ModelTraits traits_;
  /// The configuration as JSON text.
  std::string config_text_;
  /// The file with the class, and the name under which its module is imported.
  std::string model_file_;
  std::string module_;
  std::string version_directory_;
  std::vector<std::string> search_path_;
  Command command_;
  RequirementsEnvironment requirements_;
  SupervisorSettings supervisor_;
  int64_t max_concurrent_batches_ = 64;
  bool pipelined_ = false;
  bool gpu_inputs_ = false;
  /// Whether the inputs of a request may be passed to a worker as they were received. A request
  /// that is executed again needs inputs that the model has not changed.
  bool shares_inputs_ = false;
  mutable base::Mutex mutex_;
  /// Null until the first large input, and if the system does not provide it.
  std::shared_ptr<InputArena> input_arena_ NEREID_GUARDED_BY(mutex_);
  bool has_no_arena_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::python
