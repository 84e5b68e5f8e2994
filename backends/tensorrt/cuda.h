// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::tensorrt {

/// Returns INTERNAL with CUDA's message; success for cudaSuccess.
inline backend::Error CudaError(cudaError_t code, const char* what) {
  return code == cudaSuccess ? backend::Error()
                             : backend::Error::Internal(std::string("CUDA cannot ") + what + ": " +
                                                        cudaGetErrorString(code));
}

/// A buffer on the device, or pinned on the host, that only grows. Growing loses its content.
template <cudaError_t (*Allocate)(void**, size_t), cudaError_t (*Free)(void*)>
class CudaBuffer {
 public:
  CudaBuffer() = default;
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() { Release(); }

  /// Makes room for `size` bytes. Allocates at least one byte, because TensorRT needs an address
  /// for empty tensors too.
  backend::Error Reserve(size_t size) {
    if (size <= size_ && data_ != nullptr) {
      return {};
    }
    Release();
    const size_t wanted = size == 0 ? 1 : size;
    NEREID_BACKEND_TRY(CudaError(Allocate(&data_, wanted), "allocate memory"));
    size_ = wanted;
    return {};
  }
  char* data() const { return static_cast<char*>(data_); }

 private:
  void Release() {
    if (data_ != nullptr) {
      Free(data_);
    }
    data_ = nullptr;
    size_ = 0;
  }

  void* data_ = nullptr;
  size_t size_ = 0;
};

inline cudaError_t AllocateDevice(void** data, size_t size) { return cudaMalloc(data, size); }
inline cudaError_t AllocatePinned(void** data, size_t size) { return cudaMallocHost(data, size); }

using DeviceBuffer = CudaBuffer<AllocateDevice, cudaFree>;
using PinnedBuffer = CudaBuffer<AllocatePinned, cudaFreeHost>;

/// A stream that does not synchronize with the default stream.
class CudaStream {
 public:
  CudaStream() = default;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() {
    if (stream_ != nullptr) {
      cudaStreamDestroy(stream_);
    }
  }

  backend::Error Create() {
    return CudaError(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
  }
  backend::Error Wait() { return CudaError(cudaStreamSynchronize(stream_), "finish"); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace nereid::tensorrt
