// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::device {

// The part of CUDA's driver API (libcuda.so.1) that the project uses, declared here because the
// build needs no CUDA: types, values and symbols as NVIDIA documents them. The objects are those of
// the CUDA runtime too: a CuStream is a cudaStream_t, a CuEvent a cudaEvent_t, and memory of the
// primary context of a device is the runtime's memory.

/// A result of a driver function (CUresult); kCudaSuccess, or the number of an error.
using CuResult = int;
/// A device; not its ordinal (CUdevice).
using CuDevice = int;
/// Device memory (CUdeviceptr). With unified addressing, which every 64-bit driver has, it equals
/// the address as a host pointer.
using CuPointer = uint64_t;
using CuContext = struct CuContextTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
using CuGraph = struct CuGraphTag*;
/// A graph that can be launched (CUgraphExec).
using CuGraphExec = struct CuGraphExecTag*;
/// Physical memory that can be mapped at an address (CUmemGenericAllocationHandle).
using CuMemoryHandle = unsigned long long;
/// A function that the driver calls when the work before it in a stream is done. It must not call
/// the driver.
using CuHostFunction = void (*)(void* argument);

/// The name under which another process can open device memory (CUipcMemHandle).
struct CuIpcHandle {
  char bytes[64];
};

/// The 16 bytes of a device's UUID (CUuuid).
struct CuUuid {
  char bytes[16];
};

/// A place of memory (CUmemLocation); type 1 is a device, by its ordinal.
struct CuMemoryLocation {
  int type;
  int id;
};

/// What kind of physical memory is wanted (CUmemAllocationProp); type 1 is memory of a device.
/// `handle_types` are the kinds of handles by which other processes can get it.
struct CuMemoryProperties {
  int type;
  int handle_types;
  CuMemoryLocation location;
  void* win32_meta_data;
  struct {
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

/// Who may use a mapped range, and how (CUmemAccessDesc); flags 3 is reading and writing.
struct CuMemoryAccess {
  CuMemoryLocation location;
  int flags;
};

inline constexpr CuResult kCudaSuccess = 0;
inline constexpr CuResult kCudaInvalidValue = 1;
inline constexpr CuResult kCudaOutOfMemory = 2;
inline constexpr CuResult kCudaNotInitialized = 3;
inline constexpr CuResult kCudaDeinitialized = 4;
inline constexpr CuResult kCudaNoDevice = 100;
inline constexpr CuResult kCudaInvalidDevice = 101;
inline constexpr CuResult kCudaInvalidContext = 201;
inline constexpr CuResult kCudaInvalidHandle = 400;
inline constexpr CuResult kCudaNotReady = 600;
inline constexpr CuResult kCudaIllegalAddress = 700;
inline constexpr CuResult kCudaPeerAccessEnabled = 704;

// Values of CUdevice_attribute.
inline constexpr int kCudaAttributeComputeMajor = 75;
inline constexpr int kCudaAttributeComputeMinor = 76;
inline constexpr int kCudaAttributeIntegrated = 18;
inline constexpr int kCudaAttributeFileHandles = 103;  // kCudaHandleFile is supported

// Values of CUpointer_attribute.
inline constexpr int kCudaPointerMemoryType = 2;  // unsigned: 1 host, 2 device, 4 managed
inline constexpr int kCudaPointerDeviceOrdinal = 9;

// Values of the memory functions with addresses of their own.
inline constexpr int kCudaMemoryPinned = 1;        // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kCudaLocationDevice = 1;      // CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int kCudaHandleFile = 1;          // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
inline constexpr int kCudaAccessReadWrite = 3;     // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr int kCudaGranularityMinimum = 0;  // CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr int kCudaCaptureThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr unsigned kCudaEventBlockingSync = 1;
inline constexpr unsigned kCudaEventDisableTiming = 2;
inline constexpr unsigned kCudaHostAllocPortable = 1;
inline constexpr unsigned kCudaIpcLazyPeerAccess = 1;

/// Every function: X(NAME, SYMBOL, RETURN, (PARAMETERS)).
#define NEREID_CUDA_FUNCTIONS(X)                                                                   \
  X(Init, cuInit, CuResult, (unsigned flags))                                                      \
  X(DriverGetVersion, cuDriverGetVersion, CuResult, (int* version))                                \
  X(GetErrorName, cuGetErrorName, CuResult, (CuResult result, const char** name))                  \
  X(GetErrorString, cuGetErrorString, CuResult, (CuResult result, const char** text))              \
  X(DeviceGetCount, cuDeviceGetCount, CuResult, (int* count))                                      \
  X(DeviceGet, cuDeviceGet, CuResult, (CuDevice * device, int ordinal))                            \
  X(DeviceGetName, cuDeviceGetName, CuResult, (char* name, int size, CuDevice device))             \
  X(DeviceGetUuid, cuDeviceGetUuid, CuResult, (CuUuid * uuid, CuDevice device))                    \
  X(DeviceGetPciBusId, cuDeviceGetPCIBusId, CuResult, (char* text, int size, CuDevice device))     \
  X(DeviceTotalMem, cuDeviceTotalMem_v2, CuResult, (size_t * bytes, CuDevice device))              \
  X(DeviceGetAttribute, cuDeviceGetAttribute, CuResult,                                            \
    (int* value, int attribute, CuDevice device))                                                  \
  X(DeviceCanAccessPeer, cuDeviceCanAccessPeer, CuResult,                                          \
    (int* can, CuDevice device, CuDevice peer))                                                    \
  X(PrimaryContextRetain, cuDevicePrimaryCtxRetain, CuResult,                                      \
    (CuContext * context, CuDevice device))                                                        \
  X(PrimaryContextRelease, cuDevicePrimaryCtxRelease_v2, CuResult, (CuDevice device))              \
  X(ContextPush, cuCtxPushCurrent_v2, CuResult, (CuContext context))                               \
  X(ContextPop, cuCtxPopCurrent_v2, CuResult, (CuContext * context))                               \
  X(ContextEnablePeerAccess, cuCtxEnablePeerAccess, CuResult, (CuContext context, unsigned flags)) \
  X(ContextSynchronize, cuCtxSynchronize, CuResult, ())                                            \
  X(MemGetInfo, cuMemGetInfo_v2, CuResult, (size_t * free_bytes, size_t * total_bytes))            \
  X(MemAlloc, cuMemAlloc_v2, CuResult, (CuPointer * data, size_t size))                            \
  X(MemFree, cuMemFree_v2, CuResult, (CuPointer data))                                             \
  X(MemHostAlloc, cuMemHostAlloc, CuResult, (void** data, size_t size, unsigned flags))            \
  X(MemFreeHost, cuMemFreeHost, CuResult, (void* data))                                            \
  X(MemGetAddressRange, cuMemGetAddressRange_v2, CuResult,                                         \
    (CuPointer * base, size_t * size, CuPointer data))                                             \
  X(MemGetAllocationGranularity, cuMemGetAllocationGranularity, CuResult,                          \
    (size_t * bytes, const CuMemoryProperties* properties, int option))                            \
  X(MemAddressReserve, cuMemAddressReserve, CuResult,                                              \
    (CuPointer * address, size_t size, size_t alignment, CuPointer wanted,                         \
     unsigned long long flags))                                                                    \
  X(MemAddressFree, cuMemAddressFree, CuResult, (CuPointer address, size_t size))                  \
  X(MemCreate, cuMemCreate, CuResult,                                                              \
    (CuMemoryHandle * handle, size_t size, const CuMemoryProperties* properties,                   \
     unsigned long long flags))                                                                    \
  X(MemRelease, cuMemRelease, CuResult, (CuMemoryHandle handle))                                   \
  X(MemMap, cuMemMap, CuResult,                                                                    \
    (CuPointer address, size_t size, size_t offset, CuMemoryHandle handle,                         \
     unsigned long long flags))                                                                    \
  X(MemUnmap, cuMemUnmap, CuResult, (CuPointer address, size_t size))                              \
  X(MemSetAccess, cuMemSetAccess, CuResult,                                                        \
    (CuPointer address, size_t size, const CuMemoryAccess* access, size_t count))                  \
  X(MemExportToShareableHandle, cuMemExportToShareableHandle, CuResult,                            \
    (void* exported, CuMemoryHandle handle, int handle_type, unsigned long long flags))            \
  X(MemImportFromShareableHandle, cuMemImportFromShareableHandle, CuResult,                        \
    (CuMemoryHandle * handle, void* exported, int handle_type))                                    \
  X(PointerGetAttribute, cuPointerGetAttribute, CuResult,                                          \
    (void* value, int attribute, CuPointer data))                                                  \
  X(MemcpyAsync, cuMemcpyAsync, CuResult,                                                          \
    (CuPointer to, CuPointer from, size_t size, CuStream stream))                                  \
  X(MemsetAsync, cuMemsetD8Async, CuResult,                                                        \
    (CuPointer data, unsigned char value, size_t size, CuStream stream))                           \
  X(StreamCreate, cuStreamCreate, CuResult, (CuStream * stream, unsigned flags))                   \
  X(StreamCreateWithPriority, cuStreamCreateWithPriority, CuResult,                                \
    (CuStream * stream, unsigned flags, int priority))                                             \
  X(StreamDestroy, cuStreamDestroy_v2, CuResult, (CuStream stream))                                \
  X(StreamSynchronize, cuStreamSynchronize, CuResult, (CuStream stream))                           \
  X(StreamQuery, cuStreamQuery, CuResult, (CuStream stream))                                       \
  X(StreamWaitEvent, cuStreamWaitEvent, CuResult,                                                  \
    (CuStream stream, CuEvent event, unsigned flags))                                              \
  X(StreamBeginCapture, cuStreamBeginCapture_v2, CuResult, (CuStream stream, int mode))            \
  X(StreamEndCapture, cuStreamEndCapture, CuResult, (CuStream stream, CuGraph * graph))            \
  X(LaunchHostFunc, cuLaunchHostFunc, CuResult,                                                    \
    (CuStream stream, CuHostFunction function, void* argument))                                    \
  X(EventCreate, cuEventCreate, CuResult, (CuEvent * event, unsigned flags))                       \
  X(EventDestroy, cuEventDestroy_v2, CuResult, (CuEvent event))                                    \
  X(EventRecord, cuEventRecord, CuResult, (CuEvent event, CuStream stream))                        \
  X(EventQuery, cuEventQuery, CuResult, (CuEvent event))                                           \
  X(EventSynchronize, cuEventSynchronize, CuResult, (CuEvent event))                               \
  X(EventElapsedTime, cuEventElapsedTime, CuResult,                                                \
    (float* milliseconds, CuEvent start, CuEvent end))                                             \
  X(GraphInstantiate, cuGraphInstantiateWithFlags, CuResult,                                       \
    (CuGraphExec * executable, CuGraph graph, unsigned long long flags))                           \
  X(GraphLaunch, cuGraphLaunch, CuResult, (CuGraphExec executable, CuStream stream))               \
  X(GraphExecDestroy, cuGraphExecDestroy, CuResult, (CuGraphExec executable))                      \
  X(GraphDestroy, cuGraphDestroy, CuResult, (CuGraph graph))                                       \
  X(IpcGetMemHandle, cuIpcGetMemHandle, CuResult, (CuIpcHandle * handle, CuPointer data))          \
  X(IpcOpenMemHandle, cuIpcOpenMemHandle_v2, CuResult,                                             \
    (CuPointer * data, CuIpcHandle handle, unsigned flags))                                        \
  X(IpcCloseMemHandle, cuIpcCloseMemHandle, CuResult, (CuPointer data))

}  // namespace nereid::device
