// SPDX-License-Identifier: Apache-2.0
// The functions of libcuda.so.1 about streams, events, copies and graphs.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "device_memory.h"
#include "exports.h"

namespace {

using namespace nereid::fake_gpu;

constexpr CuResult kCapturing = 900;

/// The handles that are valid. A handle is the address of its object.
struct Handles {
  std::mutex mutex;
  std::map<CuStream, std::shared_ptr<Stream>> streams;
  std::map<int, std::shared_ptr<Stream>> default_streams;  // by device
  std::map<CuEvent, std::shared_ptr<Event>> events;
  std::map<const void*, Recording> graphs;  // of graphs and of executable graphs
};

Handles& All() {
  static auto* const handles = new Handles;
  return *handles;
}

std::shared_ptr<Event> FindEvent(CuEvent handle) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto found = All().events.find(handle);
  return found == All().events.end() ? nullptr : found->second;
}

template <typename Tag>
Tag* AddGraph(Recording recording) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  auto* const handle = reinterpret_cast<Tag*>(recording.get());
  All().graphs[handle] = std::move(recording);
  return handle;
}

Recording FindGraph(const void* handle) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto found = All().graphs.find(handle);
  return found == All().graphs.end() ? nullptr : found->second;
}

CuResult RemoveGraph(const void* handle) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  return All().graphs.erase(handle) == 1 ? kCudaSuccess : kCudaInvalidHandle;
}

/// Runs a memory operation in a stream: an error there is an illegal access of the device.
Operation Checked(int device, std::function<CuResult()> operation) {
  return [device, operation = std::move(operation)] {
    if (DeviceError(device) != kCudaSuccess) return;
    if (operation() != kCudaSuccess) SetDeviceError(device, kCudaIllegalAddress);
  };
}

}  // namespace

namespace nereid::fake_gpu {

std::shared_ptr<Stream> FindStream(CuStream handle) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (handle != nullptr) {
    const auto found = All().streams.find(handle);
    return found == All().streams.end() ? nullptr : found->second;
  }
  const int device = CurrentDevice();
  if (device < 0) return nullptr;
  std::shared_ptr<Stream>& stream = All().default_streams[device];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>(device);
    stream->Start();
  }
  return stream;
}

void WaitForStreams(int device) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    for (const auto& [handle, stream] : All().streams) {
      if (stream->device() == device) streams.push_back(stream);
    }
    const auto found = All().default_streams.find(device);
    if (found != All().default_streams.end()) streams.push_back(found->second);
  }
  for (const auto& stream : streams) stream->Wait();
}

}  // namespace nereid::fake_gpu

// Memory of the host that is not pinned is read before the call returns, and is complete when the
// call returns: CUDA stages it. Everything else happens later.
CuResult cuMemcpyAsync(CuPointer to, CuPointer from, size_t size, CuStream handle) {
  FAKE_BEGIN(Context);
  const auto stream = FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  if (size == 0) return kCudaSuccess;
  const DeviceMemory& memory = DeviceMemory::Get();
  const bool from_device = memory.IsDevice(from);
  const bool to_device = memory.IsDevice(to);
  if (from_device && memory.Find(from, nullptr, nullptr, nullptr) != 0) return kCudaInvalidValue;
  if (to_device && memory.Find(to, nullptr, nullptr, nullptr) != 0) return kCudaInvalidValue;
  if (to == 0 || from == 0) return kCudaInvalidValue;
  const bool capturing = stream->capture() != nullptr;
  const int device = stream->device();
  if (to_device && !from_device && !memory.IsPinned(from) && !capturing) {
    auto staged = std::make_shared<std::vector<char>>(size);
    std::memcpy(staged->data(), reinterpret_cast<const void*>(from), size);
    stream->Add(Checked(device, [=, &memory] {
      return memory.Copy(to, reinterpret_cast<CuPointer>(staged->data()), size);
    }));
    return kCudaSuccess;
  }
  stream->Add(Checked(device, [=, &memory] { return memory.Copy(to, from, size); }));
  if (!to_device && !memory.IsPinned(to) && !capturing) {
    stream->Wait();
    return DeviceError(device);
  }
  return kCudaSuccess;
}

CuResult cuMemsetD8Async(CuPointer data, unsigned char value, size_t size, CuStream handle) {
  FAKE_BEGIN(Context);
  const auto stream = FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  const DeviceMemory& memory = DeviceMemory::Get();
  if (memory.Find(data, nullptr, nullptr, nullptr) != 0) return kCudaInvalidValue;
  stream->Add(Checked(stream->device(), [=, &memory] { return memory.Set(data, value, size); }));
  return kCudaSuccess;
}

CuResult cuStreamCreate(CuStream* handle, unsigned flags) {
  FAKE_BEGIN(Context);
  if (flags > kCudaStreamNonBlocking) return kCudaInvalidValue;
  auto stream = std::make_shared<Stream>(CurrentDevice());
  stream->Start();
  *handle = reinterpret_cast<CuStream>(stream.get());
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().streams[*handle] = std::move(stream);
  return kCudaSuccess;
}

CuResult cuStreamCreateWithPriority(CuStream* handle, unsigned flags, int) {
  FAKE_BEGIN(Context);
  return cuStreamCreate(handle, flags);
}

CuResult cuStreamDestroy_v2(CuStream handle) {
  FAKE_BEGIN(Initialized);
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto found = All().streams.find(handle);
  if (found == All().streams.end()) return kCudaInvalidHandle;
  found->second->Stop();
  All().streams.erase(found);
  return kCudaSuccess;
}

CuResult cuStreamSynchronize(CuStream handle) {
  FAKE_BEGIN(Initialized);
  const auto stream = FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capture() != nullptr) return kCapturing;
  stream->Wait();
  return DeviceError(stream->device());
}

CuResult cuStreamQuery(CuStream handle) {
  FAKE_BEGIN(Initialized);
  const auto stream = FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  if (const CuResult error = DeviceError(stream->device()); error != kCudaSuccess) return error;
  return stream->Idle() ? kCudaSuccess : kCudaNotReady;
}

CuResult cuStreamWaitEvent(CuStream handle, CuEvent event_handle, unsigned) {
  FAKE_BEGIN(Initialized);
  const auto stream = FindStream(handle);
  const auto event = FindEvent(event_handle);
  if (stream == nullptr || event == nullptr) return kCudaInvalidHandle;
  event->WaitIn(event, *stream);
  return kCudaSuccess;
}

CuResult cuLaunchHostFunc(CuStream handle, CuHostFunction function, void* argument) {
  FAKE_BEGIN(Initialized);
  const auto stream = FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  if (const CuResult error = DeviceError(stream->device()); error != kCudaSuccess) return error;
  stream->Add(HostFunction(function, argument));
  return kCudaSuccess;
}

CuResult cuEventCreate(CuEvent* handle, unsigned) {
  FAKE_BEGIN(Context);
  auto event = std::make_shared<Event>(CurrentDevice());
  *handle = reinterpret_cast<CuEvent>(event.get());
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().events[*handle] = std::move(event);
  return kCudaSuccess;
}

CuResult cuEventDestroy_v2(CuEvent handle) {
  FAKE_BEGIN(Initialized);
  const std::lock_guard<std::mutex> lock(All().mutex);
  return All().events.erase(handle) == 1 ? kCudaSuccess : kCudaInvalidHandle;
}

// An event belongs to the device on which it was created.
CuResult cuEventRecord(CuEvent event_handle, CuStream handle) {
  FAKE_BEGIN(Initialized);
  const auto stream = FindStream(handle);
  const auto event = FindEvent(event_handle);
  if (stream == nullptr || event == nullptr) return kCudaInvalidHandle;
  if (event->device() != stream->device()) return kCudaInvalidHandle;
  if (const CuResult error = DeviceError(stream->device()); error != kCudaSuccess) return error;
  event->Record(event, *stream);
  return kCudaSuccess;
}

CuResult cuEventQuery(CuEvent handle) {
  FAKE_BEGIN(Initialized);
  const auto event = FindEvent(handle);
  if (event == nullptr) return kCudaInvalidHandle;
  if (const CuResult error = DeviceError(event->device()); error != kCudaSuccess) return error;
  return event->Done() ? kCudaSuccess : kCudaNotReady;
}

CuResult cuEventSynchronize(CuEvent handle) {
  FAKE_BEGIN(Initialized);
  const auto event = FindEvent(handle);
  if (event == nullptr) return kCudaInvalidHandle;
  event->Wait();
  return DeviceError(event->device());
}

CuResult cuEventElapsedTime(float* milliseconds, CuEvent start, CuEvent end) {
  FAKE_BEGIN(Initialized);
  const auto first = FindEvent(start);
  const auto last = FindEvent(end);
  if (first == nullptr || last == nullptr) return kCudaInvalidHandle;
  if (!first->Done() || !last->Done()) return kCudaNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time() - first->time()).count();
  return kCudaSuccess;
}

CuResult cuStreamBeginCapture_v2(CuStream handle, int) {
  FAKE_BEGIN(Context);
  const auto stream = handle == nullptr ? nullptr : FindStream(handle);
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capture() != nullptr) return kCapturing;
  stream->set_capture(std::make_shared<std::vector<Operation>>());
  return kCudaSuccess;
}

CuResult cuStreamEndCapture(CuStream handle, CuGraph* graph) {
  FAKE_BEGIN(Context);
  const auto stream = FindStream(handle);
  const Recording recording = stream == nullptr ? nullptr : stream->capture();
  if (recording == nullptr) return kCudaInvalidHandle;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    for (const auto& [other_handle, other] : All().streams) {
      if (other->capture() == recording) other->set_capture(nullptr);
    }
  }
  *graph = AddGraph<CuGraphTag>(recording);
  return kCudaSuccess;
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec* executable, CuGraph graph, unsigned long long) {
  FAKE_BEGIN(Context);
  const Recording recording = FindGraph(graph);
  if (recording == nullptr) return kCudaInvalidHandle;
  *executable = AddGraph<CuGraphExecTag>(std::make_shared<std::vector<Operation>>(*recording));
  return kCudaSuccess;
}

CuResult cuGraphLaunch(CuGraphExec executable, CuStream handle) {
  FAKE_BEGIN(Context);
  const auto stream = FindStream(handle);
  const Recording recording = FindGraph(executable);
  if (stream == nullptr || recording == nullptr) return kCudaInvalidHandle;
  stream->Add([recording] {
    for (const Operation& operation : *recording) operation();
  });
  return kCudaSuccess;
}

CuResult cuGraphExecDestroy(CuGraphExec executable) {
  FAKE_BEGIN(Initialized);
  return RemoveGraph(executable);
}

CuResult cuGraphDestroy(CuGraph graph) {
  FAKE_BEGIN(Initialized);
  return RemoveGraph(graph);
}
