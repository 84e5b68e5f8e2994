// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Writes what a worker prints to the server's log, line by line. Used by one thread.
class OutputLines {
 public:
  /// Lines appear as "<label>: text" at `level`.
  OutputLines(std::string label, TRITONSERVER_LogLevel level)
      : label_(std::move(label)), level_(level) {}

  /// Reads from `file`, which does not block, and logs the complete lines. Returns false at the end
  /// of the file. Reads at most kMaxRead bytes, so that a model that prints without an end does not
  /// hold the thread.
  bool Read(int file);

  /// Logs the rest of the last line.
  void Finish();

  /// Returns the last lines, at most kKeptLines, each with a newline before it.
  std::string LastLines() const;

 private:
  static constexpr size_t kMaxRead = size_t{64} << 10;
  static constexpr size_t kMaxLine = size_t{16} << 10;
  static constexpr size_t kKeptLines = 5;

  void Add(std::string_view text);
  void Log();

  const std::string label_;
  const TRITONSERVER_LogLevel level_;
  std::string line_;
  std::deque<std::string> last_;
};

}  // namespace nereid::python
