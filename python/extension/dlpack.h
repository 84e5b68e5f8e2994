// SPDX-License-Identifier: Apache-2.0
#pragma once

// The structures of DLPack's ABI, versions 0.x and 1.0 (https://dmlc.github.io/dlpack).

#include <cstdint>

namespace nereid::python::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // of elements; null: contiguous
  uint64_t byte_offset;
};

/// In a capsule "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);
};

/// In a capsule "dltensor_versioned".
struct VersionedTensor {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(VersionedTensor* self);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1;

}  // namespace nereid::python::dlpack
