// SPDX-License-Identifier: Apache-2.0
#include "python/output_lines.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::python {

bool OutputLines::Read(int file) {
  std::vector<char> buffer(kMaxRead);
  const ssize_t size = read(file, buffer.data(), buffer.size());
  if (size > 0) {
    Add({buffer.data(), static_cast<size_t>(size)});
  }
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

void OutputLines::Add(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t part = std::min(end, kMaxLine - line_.size());
    line_ += text.substr(0, part);
    const bool complete = part == end && end < text.size();
    text.remove_prefix(complete ? part + 1 : part);
    if (complete || line_.size() >= kMaxLine) {
      Log();
    }
  }
}

void OutputLines::Finish() {
  if (!line_.empty()) {
    Log();
  }
}

void OutputLines::Log() {
  if (TRITONSERVER_LogIsEnabled(level_)) {
    const backend::Error ignored(
        TRITONSERVER_LogMessage(level_, "python", 0, (label_ + ": " + line_).c_str()));
  }
  last_.push_back(std::move(line_));
  line_.clear();
  if (last_.size() > kKeptLines) {
    last_.pop_front();
  }
}

std::string OutputLines::LastLines() const {
  std::string text;
  for (const std::string& line : last_) {
    text += "\n" + line;
  }
  return text;
}

}  // namespace nereid::python
