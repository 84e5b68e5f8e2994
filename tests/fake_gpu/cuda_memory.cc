// SPDX-License-Identifier: Apache-2.0
// The functions of libcuda.so.1 about memory.
#include "device_memory.h"
#include "exports.h"
#include "settings.h"

namespace {

using namespace nereid::fake_gpu;

constexpr unsigned kTypeHost = 1;
constexpr unsigned kTypeDevice = 2;

bool IsOnDevice(const CuMemoryProperties* properties) {
  return properties != nullptr && properties->type == kCudaMemoryPinned &&
         properties->location.type == kCudaLocationDevice && properties->location.id >= 0 &&
         static_cast<size_t>(properties->location.id) < Settings::Get().visible.size();
}

}  // namespace

CuResult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  FAKE_BEGIN(Context);
  *total_bytes = Settings::Get().memory;
  const size_t used = DeviceMemory::Get().Used(CurrentDevice());
  *free_bytes = used < *total_bytes ? *total_bytes - used : 0;
  return kCudaSuccess;
}

CuResult cuMemAlloc_v2(CuPointer* data, size_t size) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().Allocate(CurrentDevice(), size, data);
}

CuResult cuMemFree_v2(CuPointer data) {
  FAKE_BEGIN(Context);
  return data == 0 ? kCudaSuccess : DeviceMemory::Get().Free(data);
}

CuResult cuMemHostAlloc(void** data, size_t size, unsigned) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().AllocatePinned(size, data);
}

CuResult cuMemFreeHost(void* data) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().FreePinned(data);
}

CuResult cuMemGetAddressRange_v2(CuPointer* base, size_t* size, CuPointer data) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().Find(data, base, size, nullptr);
}

CuResult cuPointerGetAttribute(void* value, int attribute, CuPointer data) {
  FAKE_BEGIN(Initialized);
  DeviceMemory& memory = DeviceMemory::Get();
  int device = 0;
  const bool on_device = memory.Find(data, nullptr, nullptr, &device) == kCudaSuccess;
  // Plain host memory has no attributes.
  if (!on_device && !memory.IsPinned(data)) return kCudaInvalidValue;
  if (attribute == kCudaPointerMemoryType) {
    *static_cast<unsigned*>(value) = on_device ? kTypeDevice : kTypeHost;
    return kCudaSuccess;
  }
  if (attribute != kCudaPointerDeviceOrdinal) return kCudaInvalidValue;
  *static_cast<int*>(value) = device;
  return kCudaSuccess;
}

CuResult cuMemGetAllocationGranularity(size_t* bytes, const CuMemoryProperties* properties, int) {
  FAKE_BEGIN(Initialized);
  if (!IsOnDevice(properties)) return kCudaInvalidValue;
  *bytes = kGranularity;
  return kCudaSuccess;
}

CuResult cuMemAddressReserve(CuPointer* address, size_t size, size_t alignment, CuPointer,
                             unsigned long long flags) {
  FAKE_BEGIN(Initialized);
  if (flags != 0 || alignment > kGranularity) return kCudaInvalidValue;
  return DeviceMemory::Get().Reserve(size, address);
}

CuResult cuMemAddressFree(CuPointer address, size_t size) {
  FAKE_BEGIN(Initialized);
  return DeviceMemory::Get().FreeReserved(address, size);
}

CuResult cuMemCreate(CuMemoryHandle* handle, size_t size, const CuMemoryProperties* properties,
                     unsigned long long flags) {
  FAKE_BEGIN(Initialized);
  if (!IsOnDevice(properties) || flags != 0) return kCudaInvalidValue;
  if (properties->handle_types != 0 && properties->handle_types != kCudaHandleFile) {
    return kCudaInvalidValue;
  }
  return DeviceMemory::Get().Create(properties->location.id, size,
                                    properties->handle_types == kCudaHandleFile, handle);
}

CuResult cuMemExportToShareableHandle(void* exported, CuMemoryHandle handle, int handle_type,
                                      unsigned long long flags) {
  FAKE_BEGIN(Initialized);
  if (exported == nullptr || handle_type != kCudaHandleFile || flags != 0) return kCudaInvalidValue;
  return DeviceMemory::Get().ExportPhysical(handle, static_cast<int*>(exported));
}

CuResult cuMemImportFromShareableHandle(CuMemoryHandle* handle, void* exported, int handle_type) {
  FAKE_BEGIN(Initialized);
  if (handle_type != kCudaHandleFile) return kCudaInvalidValue;
  const auto file = static_cast<int>(reinterpret_cast<intptr_t>(exported));
  return DeviceMemory::Get().ImportPhysical(file, handle);
}

CuResult cuMemRelease(CuMemoryHandle handle) {
  FAKE_BEGIN(Initialized);
  return DeviceMemory::Get().Release(handle);
}

CuResult cuMemMap(CuPointer address, size_t size, size_t offset, CuMemoryHandle handle,
                  unsigned long long flags) {
  FAKE_BEGIN(Initialized);
  if (offset != 0 || flags != 0) return kCudaInvalidValue;  // as CUDA requires
  return DeviceMemory::Get().Map(address, size, handle);
}

CuResult cuMemUnmap(CuPointer address, size_t size) {
  FAKE_BEGIN(Initialized);
  return DeviceMemory::Get().Unmap(address, size);
}

CuResult cuMemSetAccess(CuPointer address, size_t size, const CuMemoryAccess* access,
                        size_t count) {
  FAKE_BEGIN(Initialized);
  if (access == nullptr || count == 0) return kCudaInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (access[i].flags != kCudaAccessReadWrite) return kCudaInvalidValue;
  }
  return DeviceMemory::Get().SetAccess(address, size);
}

CuResult cuIpcGetMemHandle(CuIpcHandle* handle, CuPointer data) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().Export(data, handle);
}

CuResult cuIpcOpenMemHandle_v2(CuPointer* data, CuIpcHandle handle, unsigned flags) {
  FAKE_BEGIN(Context);
  if (flags != kCudaIpcLazyPeerAccess) return kCudaInvalidValue;  // the only value that there is
  return DeviceMemory::Get().Import(handle, data);
}

CuResult cuIpcCloseMemHandle(CuPointer data) {
  FAKE_BEGIN(Context);
  return DeviceMemory::Get().CloseImported(data);
}
