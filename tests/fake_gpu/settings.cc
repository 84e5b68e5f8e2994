// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace nereid::fake_gpu {
namespace {

long Number(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtol(text, nullptr, 10);
}

std::vector<std::string> List(const char* variable) {
  std::vector<std::string> parts;
  const char* text = std::getenv(variable);
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// Returns the physical numbers of the GPUs that the process sees. As in CUDA, the list ends at the
/// first number that does not exist.
std::vector<int> Visible(int count) {
  std::vector<int> numbers;
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    return numbers;
  }
  for (const std::string& text : List("CUDA_VISIBLE_DEVICES")) {
    const int number = std::atoi(text.c_str());
    if (number < 0 || number >= count) break;
    numbers.push_back(number);
  }
  return numbers;
}

Settings Read() {
  Settings settings;
  settings.physical_count = static_cast<int>(Number("NEREID_FAKE_GPUS", 1));
  settings.memory = static_cast<size_t>(Number("NEREID_FAKE_GPU_MEMORY", 1L << 30));
  settings.used_by_others = static_cast<size_t>(Number("NEREID_FAKE_GPU_USED", 0));
  settings.version = static_cast<int>(Number("NEREID_FAKE_CUDA_VERSION", 13000));
  settings.delay_us = static_cast<int>(Number("NEREID_FAKE_GPU_DELAY_US", 0));
  settings.peer_access = Number("NEREID_FAKE_GPU_PEER", 1) != 0;
  settings.host_access = Number("NEREID_FAKE_GPU_HOST_ACCESS", 0) != 0;
  settings.same_process_ipc = Number("NEREID_FAKE_GPU_SAME_PROCESS_IPC", 0) != 0;
  settings.file_handles = Number("NEREID_FAKE_GPU_FILE_HANDLES", 1) != 0;
  const std::vector<std::string> capabilities = List("NEREID_FAKE_GPU_CAPABILITY");
  for (const int physical : Visible(settings.physical_count)) {
    Settings::Gpu gpu;
    gpu.physical = physical;
    if (!capabilities.empty()) {
      const size_t index = static_cast<size_t>(physical) % capabilities.size();
      std::sscanf(capabilities[index].c_str(), "%d.%d", &gpu.major, &gpu.minor);
    }
    settings.visible.push_back(gpu);
  }
  return settings;
}

std::string Format(const char* format, int number) {
  char text[64];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

}  // namespace

const Settings& Settings::Get() {
  static const auto* const settings = new Settings(Read());
  return *settings;
}

std::string GpuName(int physical) { return Format("Fake GPU %d", physical); }
std::string GpuPciId(int physical) { return Format("0000:%02X:00.0", physical + 1); }
std::string GpuUuid(int physical) {
  return Format("GPU-fa4e0000-0000-4000-8000-%012x", physical + 1);
}

}  // namespace nereid::fake_gpu
