// SPDX-License-Identifier: Apache-2.0
#include "python/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "python/messages.h"

namespace nereid::python {
namespace {

using backend::Error;

/// Descriptors of the server that become low numbers in the child are moved out of their way first.
constexpr int kLeastDescriptor = 10;

Error SystemError(const char* action) {
  return {TRITONSERVER_ERROR_UNAVAILABLE,
          std::string("cannot ") + action +
              " for the process of a Python model: " + std::strerror(errno)};
}

Error MoveUp(base::UniqueFd* file) {
  const int moved = fcntl(file->get(), F_DUPFD_CLOEXEC, kLeastDescriptor);
  if (moved < 0) {
    return SystemError("duplicate a descriptor");
  }
  file->Reset(moved);
  return {};
}

/// Lets a socket take several messages, whatever the system's default is (net.core.wmem_default).
Error EnlargeBuffer(int socket) {
  // The kernel doubles the value, because it also counts what it needs for each message.
  const int wanted = 2 * kMaxMessage;
  int given = 0;
  socklen_t size = sizeof(given);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof(wanted));
  if (getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &given, &size) != 0 || given < wanted) {
    return {TRITONSERVER_ERROR_UNAVAILABLE,
            "the process of a Python model needs sockets that buffer " + std::to_string(wanted) +
                " bytes, but the system permits " + std::to_string(given) +
                ": set net.core.wmem_max to " + std::to_string(wanted) + " or more"};
  }
  return {};
}

Error MakeSockets(base::UniqueFd* ours, base::UniqueFd* theirs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return SystemError("open a socket");
  }
  ours->Reset(pair[0]);
  theirs->Reset(pair[1]);
  for (const int socket : pair) {
    NEREID_BACKEND_TRY(EnlargeBuffer(socket));
  }
  return MoveUp(theirs);
}

Error MakePipe(base::UniqueFd* ours, base::UniqueFd* theirs) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) != 0) {
    return SystemError("open a pipe");
  }
  ours->Reset(pair[0]);
  theirs->Reset(pair[1]);
  fcntl(ours->get(), F_SETFL, O_NONBLOCK);
  return MoveUp(theirs);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// The actions and attributes of posix_spawn.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Gives the child `files` as the descriptors 1, 2, 3, ..., nothing to read, and the default
  /// treatment of signals. The child is the leader of a process group, so that a Ctrl-C on the
  /// terminal of the server reaches the server alone.
  void Describe(const std::array<const base::UniqueFd*, 4>& files) {
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    int number = 1;
    for (const base::UniqueFd* file : files) {
      posix_spawn_file_actions_adddup2(&actions_, file->get(), number++);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, number);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string FindProgram(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? name : "";
  }
  constexpr std::string_view kPath = "PATH=";
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view variable : environment) {
    if (variable.starts_with(kPath)) {
      path = variable.substr(kPath.size());
    }
  }
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    std::string file(path.substr(0, end));
    file += file.empty() ? "./" : "/";
    file += name;
    if (access(file.c_str(), X_OK) == 0) {
      return file;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return "";
}

Error StartProcess(const Command& command, Process* process) {
  const std::string program = FindProgram(command.arguments.at(0), command.environment);
  if (program.empty()) {
    return {TRITONSERVER_ERROR_UNAVAILABLE,
            "there is no program '" + command.arguments.at(0) +
                "' to run Python models: install Python and put it into PATH, or name it with "
                "--backend-config=python,interpreter=PATH or in the model parameter 'python'"};
  }
  base::UniqueFd work;
  base::UniqueFd call;
  base::UniqueFd output;
  base::UniqueFd errors;
  NEREID_BACKEND_TRY(MakeSockets(&process->work, &work));
  NEREID_BACKEND_TRY(MakeSockets(&process->call, &call));
  NEREID_BACKEND_TRY(MakePipe(&process->output, &output));
  NEREID_BACKEND_TRY(MakePipe(&process->errors, &errors));
  SpawnSettings settings;
  settings.Describe({&output, &errors, &work, &call});
  std::vector<char*> arguments = Pointers(command.arguments);
  std::vector<char*> environment = Pointers(command.environment);
  errno = posix_spawn(&process->pid, program.c_str(), settings.actions(), settings.attributes(),
                      arguments.data(), environment.data());
  if (errno != 0) {
    return SystemError(("start " + program).c_str());
  }
  process->pid_file.Reset(static_cast<int>(syscall(SYS_pidfd_open, process->pid, 0)));
  if (!process->pid_file.ok()) {
    Error failed = SystemError("watch the end");
    kill(process->pid, SIGKILL);
    WaitForEnd(process->pid);
    return failed;
  }
  return {};
}

std::string WaitForEnd(pid_t pid) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != pid) {
    return "ended";
  }
  if (WIFSIGNALED(status)) {
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
           strsignal(WTERMSIG(status)) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace nereid::python
