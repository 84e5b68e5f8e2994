// SPDX-License-Identifier: Apache-2.0
#include "python/requirements.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "python/environment.h"
#include "python/output_lines.h"

namespace nereid::python {

using backend::Error;

namespace {

constexpr std::string_view kFolder = "\nfolder: ";
/// The environment may be removed by another server between its making and the lock.
constexpr int kAttempts = 3;

}  // namespace

std::string DefaultRequirementsCache(const std::vector<std::string>& environment) {
  const std::string cache = Variable(environment, "XDG_CACHE_HOME");
  const std::string home = Variable(environment, "HOME");
  const std::string folder = !cache.empty() ? cache : home.empty() ? "" : home + "/.cache";
  return folder.empty() ? "/var/tmp/nereid-python-" + std::to_string(geteuid())
                        : folder + "/nereid/python";
}

std::string FindRequirements(const std::string& version_directory,
                             const std::string& model_directory) {
  std::error_code ignored;
  for (const std::string& directory : {version_directory, model_directory}) {
    const std::string file = directory + "/requirements.txt";
    if (std::filesystem::is_regular_file(file, ignored)) {
      return file;
    }
  }
  return "";
}

Error RequirementsEnvironment::Lock() {
  const std::string name = folder_ + ".lock";
  base::UniqueFd lock(open(name.c_str(), O_RDWR | O_CLOEXEC));
  struct stat held {};
  struct stat found {};
  // A lock of a file that was removed meanwhile protects nothing.
  if (!lock.ok() || flock(lock.get(), LOCK_SH) != 0 || fstat(lock.get(), &held) != 0 ||
      stat(name.c_str(), &found) != 0 || held.st_ino != found.st_ino ||
      access((folder_ + "/complete").c_str(), F_OK) != 0) {
    return Error::Internal("the Python environment " + folder_ + " was removed while it was taken");
  }
  lock_ = std::move(lock);
  return {};
}

Error RequirementsEnvironment::Provide(const std::string& file,
                                       const RequirementsSettings& settings, const Command& program,
                                       const std::string& label, Spawner* spawner) {
  Command command = program;
  for (const std::string& argument : {file, settings.cache, std::to_string(settings.most),
                                      std::to_string(settings.timeout_seconds)}) {
    command.arguments.push_back(argument);
  }
  Error failed;
  for (int i = 0; i < kAttempts; ++i) {
    OutputLines output(label, TRITONSERVER_LOG_INFO);
    if (const Error error = RunCommand(command, spawner, &output); !error.ok()) {
      return Error::Internal("cannot install " + file + ": " + error.message());
    }
    const std::string lines = output.LastLines();
    const size_t at = lines.rfind(kFolder);
    if (at == std::string::npos) {
      return Error::Internal("cannot install " + file + ": the environment has no folder");
    }
    folder_ = lines.substr(at + kFolder.size());
    failed = Lock();
    if (failed.ok()) {
      return {};
    }
  }
  return failed;
}

}  // namespace nereid::python
