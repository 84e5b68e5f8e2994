// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::python {

/// The argument of the first call of a worker: what it needs to import the model, and the
/// configuration.
struct WorkerArgument {
  /// The `args` of initialize().
  std::vector<std::pair<std::string, std::string>> args;
  std::string name;
  std::string model_file;
  std::string module;
  std::string version_directory;
  /// The folders that are appended to sys.path, in this order.
  std::vector<std::string> search_path;
  bool decoupled = false;
  /// The outputs that are states: the worker sends them although no client requests them.
  std::vector<std::string> states;
  /// The CPUs on which the process may run; empty for no limit.
  std::vector<int> cpus;
  /// The largest data segment of the process in bytes; 0 for no limit.
  int64_t memory_limit = 0;
  /// The shared memory for outputs in bytes.
  uint64_t shared_memory_limit = 0;
  /// The UUIDs of the GPUs whose memory the server can share, in hexadecimal digits.
  std::vector<std::string> gpus;
};

/// Returns the argument as a JSON object.
std::string WriteWorkerArgument(const WorkerArgument& argument);

}  // namespace nereid::python
