// SPDX-License-Identifier: Apache-2.0
#include "python/environment.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

extern char** environ;

namespace nereid::python {

using backend::Error;

namespace {

constexpr std::string_view kModelDirectory = "$$TRITON_MODEL_DIRECTORY";

std::string Before(const std::string& first, const std::string& rest) {
  return rest.empty() ? first : first + ":" + rest;
}

}  // namespace

std::string Variable(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(name + "=")) {
      return variable.substr(name.size() + 1);
    }
  }
  return "";
}

std::string ExpandModelDirectory(std::string path, const std::string& model_directory) {
  if (const size_t at = path.find(kModelDirectory); at != std::string::npos) {
    path.replace(at, kModelDirectory.size(), model_directory);
  }
  return path;
}

void SetVariable(const std::string& name, const std::string& value, bool only_if_absent,
                 std::vector<std::string>* environment) {
  const std::string prefix = name + "=";
  const auto found =
      std::find_if(environment->begin(), environment->end(),
                   [&](const std::string& variable) { return variable.starts_with(prefix); });
  if (found == environment->end()) {
    environment->push_back(prefix + value);
  } else if (!only_if_absent) {
    *found = prefix + value;
  }
}

void Activate(const std::string& folder, std::vector<std::string>* environment) {
  SetVariable("VIRTUAL_ENV", folder, false, environment);
  SetVariable("VIRTUAL_ENV_PROMPT", folder.substr(folder.find_last_of('/') + 1), false,
              environment);
  SetVariable("PATH", Before(folder + "/bin", Variable(*environment, "PATH")), false, environment);
  SetVariable("LD_LIBRARY_PATH", Before(folder + "/lib", Variable(*environment, "LD_LIBRARY_PATH")),
              false, environment);
  std::erase_if(*environment,
                [](const std::string& variable) { return variable.starts_with("PYTHONHOME="); });
}

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

Error RunCommand(const Command& command, Spawner* spawner, OutputLines* output) {
  OutputLines ignored("", TRITONSERVER_LOG_VERBOSE);
  OutputLines& lines = output == nullptr ? ignored : *output;
  Process process;
  NEREID_BACKEND_TRY(spawner->Spawn(command, &process));
  std::string errors;
  bool ended = false;
  // A pipe at its end is always ready, so it is not polled any more.
  bool output_open = true;
  bool errors_open = true;
  while (!ended) {
    pollfd files[] = {{process.pid_file.get(), POLLIN, 0},
                      {output_open ? process.output.get() : -1, POLLIN, 0},
                      {errors_open ? process.errors.get() : -1, POLLIN, 0}};
    poll(files, std::size(files), -1);
    ended = files[0].revents != 0;
    if (files[1].revents != 0) {
      output_open = lines.Read(process.output.get());
    }
    char buffer[4096];
    ssize_t size = 0;
    while ((size = read(process.errors.get(), buffer, sizeof(buffer))) > 0) {
      errors.append(buffer, static_cast<size_t>(size));
      constexpr size_t kKept = size_t{16} << 10;
      errors.erase(0, errors.size() > kKept ? errors.size() - kKept : 0);
    }
    errors_open = size < 0 && (errno == EAGAIN || errno == EINTR);
  }
  // What the process wrote before its end.
  pollfd rest{process.output.get(), POLLIN, 0};
  while (output_open && poll(&rest, 1, 0) > 0) {
    output_open = lines.Read(process.output.get());
  }
  lines.Finish();
  const std::string end = WaitForEnd(process.pid);
  if (end == "exited with code 0") {
    return {};
  }
  while (!errors.empty() && errors.back() == '\n') {
    errors.pop_back();
  }
  return Error::Internal(errors.empty() ? "a process of the Python backend " + end : errors);
}

Error Environments::Find(const std::string& path, const Command& unpack, Spawner* spawner,
                         std::string* folder) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (resolved == nullptr) {
    return Error::Internal("Failed to get the canonical path for " + path + ".");
  }
  *folder = resolved.get();
  struct stat status {};
  if (stat(folder->c_str(), &status) != 0) {
    return Error::Internal("Failed to get the canonical path for " + path + ".");
  }
  if (!S_ISDIR(status.st_mode)) {
    const base::MutexLock lock(mutex_);
    const std::string key = *folder + "|" + std::to_string(status.st_size) + "|" +
                            std::to_string(status.st_mtim.tv_sec) + "." +
                            std::to_string(status.st_mtim.tv_nsec);
    const auto found = unpacked_.find(key);
    if (found != unpacked_.end()) {
      *folder = found->second;
    } else {
      const std::string archive = *folder;
      NEREID_BACKEND_TRY(Unpack(archive, unpack, spawner, folder));
      unpacked_[key] = *folder;
    }
  }
  const std::string activate = *folder + "/bin/activate";
  if (access(activate.c_str(), F_OK) != 0) {
    return Error::Internal("Path " + activate +
                           " does not exist. The Python environment should contain an 'activate' "
                           "script.");
  }
  return {};
}

Error Environments::Unpack(const std::string& archive, Command unpack, Spawner* spawner,
                           std::string* folder) {
  if (root_ == nullptr) {
    auto created = base::TemporaryDirectory::Create();
    if (!created.ok()) {
      return Error::Internal(created.status().message());
    }
    root_ = std::move(created).value();
  }
  *folder = root_->path() + "/" + std::to_string(unpacked_.size());
  unpack.arguments.push_back(archive);
  unpack.arguments.push_back(*folder);
  return RunCommand(unpack, spawner);
}

}  // namespace nereid::python
