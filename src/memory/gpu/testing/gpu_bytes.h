// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "memory/gpu/copy.h"
#include "memory/gpu/device_buffer.h"
#include "tests/fake_gpu/control.h"

namespace nereid::memory {

/// Sets a variable of the environment before the fake driver reads it: for static objects of tests.
struct FakeGpuSetting {
  FakeGpuSetting(const char* name, const char* value) { setenv(name, value, /*overwrite=*/0); }
};

/// Returns whether the fake driver is the one that the process has opened.
inline bool HasFakeGpus() { return fake_gpu::Control::Get().fail != nullptr; }

/// Makes calls of the driver fail as long as the object lives; see tests/fake_gpu/README.md.
class ScopedGpuFailure {
 public:
  explicit ScopedGpuFailure(const std::string& failures) {
    fake_gpu::Control::Get().fail(failures.c_str());
  }
  ScopedGpuFailure(const ScopedGpuFailure&) = delete;
  ScopedGpuFailure& operator=(const ScopedGpuFailure&) = delete;
  ~ScopedGpuFailure() { fake_gpu::Control::Get().fail(""); }
};

/// Read and write bytes of GPU memory that no stream uses. Abort the test program if the address is
/// wrong.
inline std::string ReadGpu(const void* data, size_t size) {
  const void* const at =
      fake_gpu::Control::Get().host_address(reinterpret_cast<uint64_t>(data), size);
  if (at == nullptr) std::abort();
  return {static_cast<const char*>(at), size};
}
inline void WriteGpu(void* data, std::string_view bytes) {
  void* const at =
      fake_gpu::Control::Get().host_address(reinterpret_cast<uint64_t>(data), bytes.size());
  if (at == nullptr) std::abort();
  std::memcpy(at, bytes.data(), bytes.size());
}

/// Returns GPU memory with these bytes. Aborts the test program if there is none.
inline DeviceBuffer OnGpu(int gpu, std::string_view bytes) {
  auto buffer = DeviceBuffer::OnGpu(gpu, bytes.size());
  if (!buffer.ok()) std::abort();
  WriteGpu(buffer->data(), bytes);
  return std::move(buffer).value();
}

}  // namespace nereid::memory
