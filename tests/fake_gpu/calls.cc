// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

namespace nereid::fake_gpu {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kLines = 256;

struct Failure {
  long from = 1;
  bool once = false;
  int result = 0;
};

/// Parses "name[:from[!]]=result,...".
std::map<std::string, Failure> ParseFailures(const std::string& text) {
  std::map<std::string, Failure> failures;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back()))) part.pop_back();
    const size_t equals = part.rfind('=');
    if (equals == std::string::npos) continue;
    Failure failure;
    failure.result = std::atoi(part.c_str() + equals + 1);
    std::string name = part.substr(0, equals);
    if (!name.empty() && name.back() == '!') {
      failure.once = true;
      name.pop_back();
    }
    const size_t colon = name.find(':');
    if (colon != std::string::npos) failure.from = std::atol(name.c_str() + colon + 1);
    failures[name.substr(0, colon)] = failure;
  }
  return failures;
}

}  // namespace

struct Calls::State {
  mutable std::mutex mutex;
  std::map<std::string, Failure> failures;
  std::map<std::string, long> counts;          // since the start of the process
  std::map<std::string, long> since_failures;  // since the failures were last set
  std::string failure_file;
  timespec failure_file_time = {};
  // A file of lines "name count", each of kLine bytes, for readers in other processes.
  char* lines = nullptr;
  std::map<std::string, size_t> line_of;

  void OpenLines(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (ftruncate(file, kLine * kLines) == 0) {
      void* const mapped =
          mmap(nullptr, kLine * kLines, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (mapped != MAP_FAILED) lines = static_cast<char*>(mapped);
    }
    close(file);
  }

  void WriteLine(const std::string& name, long count) {
    if (lines == nullptr) return;
    const size_t line = line_of.emplace(name, line_of.size()).first->second;
    if (line >= kLines) return;
    char text[kLine + 1];
    std::snprintf(text, sizeof(text), "%-40s %22ld\n", name.c_str(), count);
    std::memcpy(lines + line * kLine, text, kLine);
  }

  void ReadFailureFile() {
    struct stat status = {};
    if (failure_file.empty() || stat(failure_file.c_str(), &status) != 0) return;
    const timespec& time = status.st_mtim;
    if (time.tv_sec == failure_file_time.tv_sec && time.tv_nsec == failure_file_time.tv_nsec)
      return;
    failure_file_time = time;
    std::ifstream file(failure_file);
    std::string text;
    std::getline(file, text);
    failures = ParseFailures(text);
    since_failures.clear();
  }
};

Calls::Calls(const char* variable) : state_(new State) {
  if (const char* text = std::getenv(variable)) state_->failures = ParseFailures(text);
  if (const char* path = std::getenv((std::string(variable) + "_FILE").c_str())) {
    state_->failure_file = path;
  }
  if (const char* path = std::getenv((std::string(variable) + "_COUNTS").c_str())) {
    state_->OpenLines(path);
  }
}

int Calls::Begin(const char* function) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->ReadFailureFile();
  state_->WriteLine(function, ++state_->counts[function]);
  const long call = ++state_->since_failures[function];
  const auto failure = state_->failures.find(function);
  if (failure == state_->failures.end() || call < failure->second.from) return 0;
  return failure->second.once && call > failure->second.from ? 0 : failure->second.result;
}

long Calls::Count(const std::string& function) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->counts.find(function);
  return found == state_->counts.end() ? 0 : found->second;
}

void Calls::SetFailures(const std::string& text) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->failures = ParseFailures(text);
  state_->since_failures.clear();
}

}  // namespace nereid::fake_gpu
