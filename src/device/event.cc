// SPDX-License-Identifier: Apache-2.0
#include "device/event.h"

#include <string>

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::device {
namespace {

/// Calls `call` with the driver while the GPU is the current one. `what` completes the message.
template <typename Call>
base::Status OnGpu(int ordinal, const char* what, Call call) {
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(ordinal));
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  return driver->ToStatus(call(*driver), what + std::to_string(ordinal));
}

}  // namespace

base::Result<Event> Event::Create(int ordinal) {
  CuEvent handle = nullptr;
  NEREID_RETURN_IF_ERROR(OnGpu(ordinal, "create an event of GPU ", [&](const CudaDriver& driver) {
    return driver.EventCreate(&handle, kCudaEventDisableTiming);
  }));
  return Event(ordinal, handle);
}

Event::~Event() {
  if (handle_ == nullptr) return;
  (void)OnGpu(ordinal_, "", [&](const CudaDriver& driver) { return driver.EventDestroy(handle_); });
}

base::Status Event::Record(const Stream& stream) {
  return OnGpu(ordinal_, "record an event of GPU ", [&](const CudaDriver& driver) {
    return driver.EventRecord(handle_, stream.handle());
  });
}

base::Status Event::Precede(const Stream& stream) const {
  return OnGpu(stream.ordinal(), "let a stream wait on GPU ", [&](const CudaDriver& driver) {
    return driver.StreamWaitEvent(stream.handle(), handle_, 0);
  });
}

base::Status Event::Wait() const {
  return OnGpu(ordinal_, "finish the work before an event of GPU ",
               [&](const CudaDriver& driver) { return driver.EventSynchronize(handle_); });
}

base::Result<bool> Event::IsDone() const {
  bool done = false;
  NEREID_RETURN_IF_ERROR(
      OnGpu(ordinal_, "finish the work before an event of GPU ", [&](const CudaDriver& driver) {
        const CuResult result = driver.EventQuery(handle_);
        done = result == kCudaSuccess;
        return result == kCudaNotReady ? kCudaSuccess : result;
      }));
  return done;
}

}  // namespace nereid::device
