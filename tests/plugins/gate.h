// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace nereid::testing {

/// Holds executions until a test opens the gate, so that no test has to guess how long an execution
/// takes. The file at `path` contains the number of executions that may pass; without a file all
/// may. (A test replaces the file by renaming another one.) Without a path all executions pass.
class Gate {
 public:
  explicit Gate(std::string path) : path_(std::move(path)) {}

  /// Waits until execution `number`, counted from 1, may pass.
  void Pass(uint64_t number) const {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (!Open(number) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kPoll);
    }
  }

 private:
  static constexpr std::chrono::milliseconds kPoll{1};
  /// The maximum wait, so that a test that does not open its gate ends.
  static constexpr std::chrono::seconds kLongest{60};

  bool Open(uint64_t number) const {
    std::ifstream file(path_);
    uint64_t allowed = 0;
    return path_.empty() || !file || ((file >> allowed) && number <= allowed);
  }

  const std::string path_;
};

/// Appends one line to the file at `path` in one write, because other threads append as well. Does
/// nothing without a path. Returns false if that fails.
inline bool AppendLine(const std::string& path, std::string line) {
  if (path.empty()) {
    return true;
  }
  line += '\n';
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return false;
  }
  const ssize_t written = write(file, line.data(), line.size());
  close(file);
  return written == static_cast<ssize_t>(line.size());
}

}  // namespace nereid::testing
