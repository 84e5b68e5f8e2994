// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/temporary_directory.h"
#include "nereid/backend/error.h"
#include "python/output_lines.h"
#include "python/process.h"
#include "python/spawner.h"

namespace nereid::python {

/// The Python environments of models (the model parameter EXECUTION_ENV_PATH). An archive is
/// unpacked once for each content, into a folder that is deleted at the end. Thread-safe.
class Environments {
 public:
  /// Finds the folder of an environment: `path` itself, or the folder into which the archive `path`
  /// was unpacked. `unpack` is the command that unpacks an archive (its name and the new folder are
  /// appended).
  backend::Error Find(const std::string& path, const Command& unpack, Spawner* spawner,
                      std::string* folder) NEREID_EXCLUDES(mutex_);

 private:
  backend::Error Unpack(const std::string& archive, Command unpack, Spawner* spawner,
                        std::string* folder) NEREID_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::unique_ptr<base::TemporaryDirectory> root_ NEREID_GUARDED_BY(mutex_);
  /// The folders by path, time and size of their archives.
  std::map<std::string, std::string> unpacked_ NEREID_GUARDED_BY(mutex_);
};

/// Replaces `$$TRITON_MODEL_DIRECTORY` in `path` by the model's directory.
std::string ExpandModelDirectory(std::string path, const std::string& model_directory);

/// Changes `environment` ("NAME=value") as the activation of the Python environment in `folder`
/// would do. No script is run.
void Activate(const std::string& folder, std::vector<std::string>* environment);

/// Sets a variable; `only_if_absent` keeps an existing one.
void SetVariable(const std::string& name, const std::string& value, bool only_if_absent,
                 std::vector<std::string>* environment);

/// Returns the environment of this process.
std::vector<std::string> CurrentEnvironment();

/// Returns the value of a variable; empty if it is not there.
std::string Variable(const std::vector<std::string>& environment, const std::string& name);

/// Runs a command to its end. INTERNAL with what it wrote to stderr unless it exits with 0.
/// `output`, which may be null, gets what it writes to stdout.
backend::Error RunCommand(const Command& command, Spawner* spawner, OutputLines* output = nullptr);

}  // namespace nereid::python
