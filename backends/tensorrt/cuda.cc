// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/cuda.h"

namespace nereid::tensorrt {

using device::CuPointer;

Error CudaBuffer::Reserve(size_t size) {
  if (size <= size_ && data_ != nullptr) {
    return {};
  }
  Release();
  const size_t wanted = size == 0 ? 1 : size;
  if (place_ == Place::kDevice) {
    CuPointer data = 0;
    NEREID_BACKEND_TRY(gpu_->Check(gpu_->driver().MemAlloc(&data, wanted),
                                   "allocate " + std::to_string(wanted) + " bytes"));
    data_ = reinterpret_cast<char*>(data);
  } else {
    void* data = nullptr;
    NEREID_BACKEND_TRY(
        gpu_->Check(gpu_->driver().MemHostAlloc(&data, wanted, device::kCudaHostAllocPortable),
                    "allocate " + std::to_string(wanted) + " bytes of pinned memory"));
    data_ = static_cast<char*>(data);
  }
  size_ = wanted;
  return {};
}

void CudaBuffer::Release() {
  if (data_ != nullptr) {
    place_ == Place::kDevice ? gpu_->driver().MemFree(reinterpret_cast<CuPointer>(data_))
                             : gpu_->driver().MemFreeHost(data_);
  }
  data_ = nullptr;
  size_ = 0;
}

Error CudaStream::Create(Gpu* gpu, int priority) {
  gpu_ = gpu;
  return gpu_->Check(
      gpu_->driver().StreamCreateWithPriority(&stream_, device::kCudaStreamNonBlocking, priority),
      "create a stream");
}

CudaStream::~CudaStream() {
  if (stream_ != nullptr) {
    gpu_->driver().StreamDestroy(stream_);
  }
}

Error CudaStream::Wait() {
  if (stream_ == nullptr) {
    return {};
  }
  return gpu_->Check(gpu_->driver().StreamSynchronize(stream_), "finish the work of a stream");
}

Error CudaStream::Copy(void* to, const void* from, size_t size, const char* what) {
  if (size == 0) {
    return {};
  }
  return gpu_->Check(gpu_->driver().MemcpyAsync(reinterpret_cast<CuPointer>(to),
                                                reinterpret_cast<CuPointer>(from), size, stream_),
                     what);
}

Error CudaEvent::Create(Gpu* gpu, bool busy_wait) {
  gpu_ = gpu;
  const unsigned flags =
      device::kCudaEventDisableTiming | (busy_wait ? 0 : device::kCudaEventBlockingSync);
  return gpu_->Check(gpu_->driver().EventCreate(&event_, flags), "create an event");
}

CudaEvent::~CudaEvent() {
  if (event_ != nullptr) {
    gpu_->driver().EventDestroy(event_);
  }
}

Error CudaEvent::Record(const CudaStream& stream) {
  return gpu_->Check(gpu_->driver().EventRecord(event_, stream.get()), "record an event");
}

Error CudaEvent::Delay(const CudaStream& stream) {
  return gpu_->Check(gpu_->driver().StreamWaitEvent(stream.get(), event_, 0),
                     "let a stream wait for an event");
}

Error CudaEvent::Wait() {
  return gpu_->Check(gpu_->driver().EventSynchronize(event_), "finish a run");
}

CudaGraph::~CudaGraph() {
  if (launchable_ != nullptr) {
    gpu_->driver().GraphExecDestroy(launchable_);
  }
}

Error CudaGraph::Begin(Gpu* gpu, const CudaStream& stream) {
  gpu_ = gpu;
  return gpu_->Check(
      gpu_->driver().StreamBeginCapture(stream.get(), device::kCudaCaptureThreadLocal),
      "capture a CUDA graph");
}

Error CudaGraph::End(const CudaStream& stream) {
  device::CuGraph graph = nullptr;
  const auto end = [&] { return gpu_->driver().StreamEndCapture(stream.get(), &graph); };
  if (const device::CuResult result = end(); result != device::kCudaSuccess) {
    // A stream that still records would execute nothing.
    end();
    return gpu_->Check(result, "end the capture of a CUDA graph");
  }
  Error made = gpu_->Check(gpu_->driver().GraphInstantiate(&launchable_, graph, 0),
                           "instantiate a CUDA graph");
  gpu_->driver().GraphDestroy(graph);
  return made;
}

Error CudaGraph::Launch(const CudaStream& stream) const {
  return gpu_->Check(gpu_->driver().GraphLaunch(launchable_, stream.get()), "launch a CUDA graph");
}

}  // namespace nereid::tensorrt
