// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>

// What the fake libcuda.so.1 exports for tests, besides the functions of CUDA.
extern "C" {
/// Returns the memory that is allocated on a device: bytes (those of NEREID_FAKE_GPU_USED included)
/// and number of allocations.
size_t fake_gpu_allocated_bytes(int device);
int fake_gpu_allocations(int device);
/// Returns the bytes of pinned host memory.
size_t fake_gpu_pinned_bytes();
/// Returns the number of calls of a CUDA function since the process started.
long fake_gpu_calls(const char* function);
/// Replaces the failures of the CUDA functions; the text has the form of NEREID_FAKE_CUDA_FAIL, and
/// calls are counted from 1 again. Also heals devices that have an error for good.
void fake_gpu_fail(const char* failures);
/// Returns where the fake keeps `size` bytes of device memory, so that a test can compute "on the
/// device", or null if the address is wrong. To be used in a host function of a stream, or when no
/// stream uses the memory.
void* fake_gpu_host_address(uint64_t device_address, size_t size);
}

namespace nereid::fake_gpu {

/// The functions above, of the library that the process has opened. Every member is null where
/// libcuda.so.1 is not the fake.
struct Control {
  decltype(&fake_gpu_allocated_bytes) allocated_bytes = nullptr;
  decltype(&fake_gpu_allocations) allocations = nullptr;
  decltype(&fake_gpu_pinned_bytes) pinned_bytes = nullptr;
  decltype(&fake_gpu_calls) calls = nullptr;
  decltype(&fake_gpu_fail) fail = nullptr;
  decltype(&fake_gpu_host_address) host_address = nullptr;

  static const Control& Get() {
    static const Control control = Open();
    return control;
  }

 private:
  static Control Open() {
    Control control;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return control;
    const auto find = [&](const char* symbol, auto* function) {
      *reinterpret_cast<void**>(function) = dlsym(library, symbol);
    };
    find("fake_gpu_allocated_bytes", &control.allocated_bytes);
    find("fake_gpu_allocations", &control.allocations);
    find("fake_gpu_pinned_bytes", &control.pinned_bytes);
    find("fake_gpu_calls", &control.calls);
    find("fake_gpu_fail", &control.fail);
    find("fake_gpu_host_address", &control.host_address);
    return control;
  }
};

}  // namespace nereid::fake_gpu
