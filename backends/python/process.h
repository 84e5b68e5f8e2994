// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "nereid/backend/error.h"

namespace nereid::python {

/// The command line and the environment of a worker.
struct Command {
  /// The program (searched in the PATH of `environment` unless it has a slash) and its arguments.
  std::vector<std::string> arguments;
  /// "NAME=value".
  std::vector<std::string> environment;
};

/// The descriptors that a worker finds open, besides its standard ones.
inline constexpr int kWorkDescriptor = 3;
inline constexpr int kCallDescriptor = 4;

/// A worker process and the server's ends of its sockets and pipes.
struct Process {
  pid_t pid = -1;
  /// Readable when the process has ended.
  base::UniqueFd pid_file;
  /// Initialization, batches, end.
  base::UniqueFd work;
  /// What the model asks of the server, and the answers.
  base::UniqueFd call;
  /// What the model prints.
  base::UniqueFd output;
  base::UniqueFd errors;
};

/// Starts a process on the calling thread, which must live as long as the process is to live: the
/// kernel kills a worker (PR_SET_PDEATHSIG) at the end of the thread that has started it. See
/// Spawner.
backend::Error StartProcess(const Command& command, Process* process);

/// Waits for the end of the process and returns in words how it ended ("exited with code 3", "was
/// killed by signal 9 (Killed)").
std::string WaitForEnd(pid_t pid);

/// Returns the path of a program, searched in the value of PATH in `environment`; empty if there is
/// none.
std::string FindProgram(const std::string& name, const std::vector<std::string>& environment);

}  // namespace nereid::python
