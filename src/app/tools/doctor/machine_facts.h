// SPDX-License-Identifier: Apache-2.0
// What a server's machine is like, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpus.h"

namespace nereid::app::tools {

/// A limit of the process; nothing: no limit.
using Limit = std::optional<uint64_t>;

struct PortFacts {
  int port = 0;
  std::string purpose;  // "HTTP"
  std::string flag;     // "--http-port"
  std::string problem;  // why a server could not listen there; empty: it could
};

struct PluginFacts {
  std::string name;     // "onnxruntime"
  std::string problem;  // why it does not load; empty: it loads
  /// Whether its Debian package says which framework nereid-framework brings.
  bool has_framework_command = false;
};

struct RepositoryFacts {
  std::string path;
  std::string problem;      // why it cannot be read; empty: it can
  std::string file_system;  // "ext4", "nfs"; empty: unknown
  uint64_t free_bytes = 0;
};

struct LibraryFacts {
  std::string library;  // "libcurl.so.4"
  std::string package;  // of Debian
  std::string purpose;
  bool is_there = false;
};

struct MachineFacts {
  std::string kernel;        // "Linux 6.1.0"
  std::string architecture;  // "x86_64"
  std::string cpu_model;
  std::vector<std::string> cpu_flags;  // as /proc/cpuinfo has them
  int cpus = 0;                        // of the machine
  int permitted_cpus = 0;              // of this process's affinity
  std::optional<double> cpu_quota;     // of the control group

  uint64_t memory_bytes = 0;                   // of the machine
  uint64_t available_memory_bytes = 0;         // as the kernel estimates
  uint64_t usable_memory_bytes = 0;            // the smallest limit of the control groups, or all
  std::string transparent_huge_pages;          // "always", "madvise", "never"; empty: unknown
  uint64_t huge_pages = 0;                     // reserved ones
  uint64_t shm_bytes = 0, shm_free_bytes = 0;  // of /dev/shm
  bool has_shm = false;

  Limit open_files;     // the hard limit, to which the server raises its own
  Limit threads;        // RLIMIT_NPROC
  Limit group_threads;  // pids.max of the control group
  Limit locked_bytes;   // RLIMIT_MEMLOCK

  std::string clock_source;                // "tsc"; empty: unknown
  std::optional<bool> clock_synchronized;  // by NTP or the like; nothing: unknown

  std::vector<PortFacts> ports;
  std::string plugin_directory;
  std::vector<PluginFacts> plugins;
  std::vector<LibraryFacts> libraries;
  std::vector<RepositoryFacts> repositories;
  device::Gpus gpus;
};

/// What GatherMachineFacts asks beside the kernel's files.
struct MachineQuestions {
  std::vector<PortFacts> ports;  // without problems, which are found
  std::string plugin_directory;
  std::vector<std::string> repositories;
  /// Returns why a backend does not load; OK if it does. May be empty.
  std::function<base::Status(const std::string& directory, const std::string& backend)> probe;
  std::function<device::Gpus(double min_capability)> find_gpus;
};

/// Reads the facts of this machine. A fact that cannot be read stays empty. Blocks: each plug-in is
/// loaded.
MachineFacts GatherMachineFacts(const MachineQuestions& questions);

/// Return the value behind "name" and a colon in a text of /proc; "" if there is none.
std::string ProcValue(const std::string& text, const std::string& name);
/// Returns the word in brackets: "always [madvise] never" gives "madvise".
std::string BracketedWord(const std::string& text);
/// Returns the name of a file system by its number in statfs(2); "" for an unknown one.
std::string FileSystemName(uint64_t magic);

}  // namespace nereid::app::tools
