// SPDX-License-Identifier: Apache-2.0
#include "app/backend_probe.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backend/backend.h"
#include "base/log.h"

namespace nereid::app {
namespace {

using base::Status;

constexpr unsigned kMaxSeconds = 30;
constexpr size_t kMaxReasonBytes = 4096;

/// Runs the program of the backend's worker processes with the interpreter that models get without
/// a setting, if the backend has such a program. It writes to the pipe why it cannot run models.
/// Does not return, except if there is no such program.
void CheckWorker(const std::string& folder, int pipe) {
  const std::string program = folder + "/nereid_worker";
  if (access(program.c_str(), R_OK) != 0) return;
  const char* const given = getenv("NEREID_PYTHON_INTERPRETER");  // see backends/python
  const char* const python = given == nullptr || *given == '\0' ? "python3" : given;
  dup2(pipe, STDOUT_FILENO);
  execlp(python, python, program.c_str(), "check", nullptr);
  const std::string reason = std::string("there is no program '") + python +
                             "' to run Python models: " + std::strerror(errno);
  (void)!write(pipe, reason.data(), reason.size());
  _exit(1);
}

/// The child's work: writes the reason of a failure to the pipe, and ends the process without
/// destructors, because frameworks may have threads.
[[noreturn]] void ProbeInChild(const std::string& directory, const std::string& name, int pipe) {
  alarm(kMaxSeconds);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  base::Log& log = base::Log::Instance();
  for (const auto level :
       {base::LogLevel::kInfo, base::LogLevel::kWarning, base::LogLevel::kError}) {
    log.SetEnabled(level, false);
  }
  // Frameworks write to the standard streams what the reason says already.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  backend::BackendRegistry registry({.directory = directory, .config = {}});
  const auto loaded = registry.Get({.model = name,
                                    .backend = name,
                                    .runtime = "",
                                    .version_directory = "",
                                    .model_directory = ""});
  if (!loaded.ok()) {
    const std::string& reason = loaded.status().message();
    // The reader takes what has arrived.
    (void)!write(pipe, reason.data(), std::min(reason.size(), kMaxReasonBytes));
    _exit(1);
  }
  CheckWorker(directory + "/" + name, pipe);
  _exit(0);
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  while (text.size() < kMaxReasonBytes) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

Status ProbeBackend(const std::string& directory, const std::string& name) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::Unavailable(std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    const std::string reason = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return Status::Unavailable("no process could be started: " + reason);
  }
  if (child == 0) {
    close(ends[0]);
    ProbeInChild(directory, name, ends[1]);
  }
  close(ends[1]);
  const std::string reason = ReadAll(ends[0]);
  close(ends[0]);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return {};
  if (!reason.empty()) return Status::Unavailable(reason);
  if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM) {
    return Status::Unavailable("it did not initialize within " + std::to_string(kMaxSeconds) +
                               " s");
  }
  if (WIFSIGNALED(state)) {
    return Status::Unavailable("its initialization crashed: " +
                               std::string(strsignal(WTERMSIG(state))));
  }
  return Status::Unavailable("its initialization ended the process with code " +
                             std::to_string(WEXITSTATUS(state)));
}

}  // namespace nereid::app
