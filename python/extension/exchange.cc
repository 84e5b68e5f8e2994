// SPDX-License-Identifier: Apache-2.0
// Tensors that Python code exchanges without copies: DLPack capsules and NumPy's array interface.
#include <memory>

#include "python/extension/array_struct.h"
#include "python/extension/dlpack.h"
#include "python/extension/tensors.h"

namespace nereid::python {
namespace {

/// NumPy's character of a type's kind; 0 where NumPy has no such type.
struct TypeForm {
  char numpy_kind;
  uint8_t dlpack_code;
  uint8_t bits;
};

/// Returns the forms of a type; bits is 0 for BYTES and unknown types.
TypeForm FormOf(int type) {
  switch (type) {
    case TRITONSERVER_TYPE_BOOL:
      return {'b', dlpack::kBool, 8};
    case TRITONSERVER_TYPE_UINT8:
      return {'u', dlpack::kUInt, 8};
    case TRITONSERVER_TYPE_UINT16:
      return {'u', dlpack::kUInt, 16};
    case TRITONSERVER_TYPE_UINT32:
      return {'u', dlpack::kUInt, 32};
    case TRITONSERVER_TYPE_UINT64:
      return {'u', dlpack::kUInt, 64};
    case TRITONSERVER_TYPE_INT8:
      return {'i', dlpack::kInt, 8};
    case TRITONSERVER_TYPE_INT16:
      return {'i', dlpack::kInt, 16};
    case TRITONSERVER_TYPE_INT32:
      return {'i', dlpack::kInt, 32};
    case TRITONSERVER_TYPE_INT64:
      return {'i', dlpack::kInt, 64};
    case TRITONSERVER_TYPE_FP16:
      return {'f', dlpack::kFloat, 16};
    case TRITONSERVER_TYPE_FP32:
      return {'f', dlpack::kFloat, 32};
    case TRITONSERVER_TYPE_FP64:
      return {'f', dlpack::kFloat, 64};
    case TRITONSERVER_TYPE_BF16:
      return {0, dlpack::kBfloat, 16};
    default:
      return {};
  }
}

int TypeOf(const dlpack::DataType& type) {
  if (type.lanes != 1) return TRITONSERVER_TYPE_INVALID;
  for (int candidate = TRITONSERVER_TYPE_BOOL; candidate <= TRITONSERVER_TYPE_BF16; ++candidate) {
    const TypeForm form = FormOf(candidate);
    if (form.bits == type.bits && form.dlpack_code == type.code && form.bits != 0) return candidate;
  }
  return TRITONSERVER_TYPE_INVALID;
}

bool ReadShape(PyObject* tuple, std::vector<int64_t>* shape) {
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "a shape must be a tuple of int");
    return false;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    shape->push_back(PyLong_AsLongLong(PyTuple_GetItem(tuple, i)));
    if (shape->back() == -1 && PyErr_Occurred() != nullptr) return false;
  }
  return true;
}

/// Drops a reference on any thread, also on one of another library.
void DropAnywhere(PyObject* object) {
  if (Py_IsInitialized() == 0) return;  // the process ends
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(object);
  PyGILState_Release(state);
}

/// An exported tensor: a managed tensor of DLPack, its shape, and the object that keeps the memory.
template <typename Managed>
struct Exported {
  Managed managed{};
  std::vector<int64_t> shape;
  PyObject* owner = nullptr;

  static void Delete(Managed* managed) {
    auto* const self = static_cast<Exported*>(managed->context);
    DropAnywhere(self->owner);
    delete self;
  }
};

/// Deletes the tensor of a capsule that nobody has consumed: consumers rename it.
template <typename Managed>
void DeleteUnused(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

constexpr char kName[] = "dltensor";
constexpr char kVersionedName[] = "dltensor_versioned";

template <typename Managed>
PyObject* MakeCapsule(const dlpack::Tensor& tensor, std::vector<int64_t> shape, PyObject* owner,
                      const char* name, PyCapsule_Destructor destructor) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->shape = std::move(shape);
  exported->managed.tensor = tensor;
  exported->managed.tensor.shape = exported->shape.data();
  exported->managed.tensor.ndim = static_cast<int32_t>(exported->shape.size());
  exported->managed.context = exported.get();
  exported->managed.deleter = Exported<Managed>::Delete;
  if constexpr (std::is_same_v<Managed, dlpack::VersionedTensor>) exported->managed.major = 1;
  PyObject* const capsule = PyCapsule_New(&exported->managed, name, destructor);
  if (capsule == nullptr) return nullptr;
  exported->owner = Ref::Borrow(owner).release();
  exported.release();
  return capsule;
}

/// Returns whether the elements lie one after the other, the last dimension first.
bool IsContiguous(const dlpack::Tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

/// Returns the tensor of a capsule, or null with an error.
const dlpack::Tensor* TensorIn(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersionedName) != 0) {
    auto* const managed =
        static_cast<dlpack::VersionedTensor*>(PyCapsule_GetPointer(capsule, kVersionedName));
    if (managed->major == 1) return &managed->tensor;
    PyErr_Format(PyExc_BufferError, "DLPack version %u is not supported", managed->major);
    return nullptr;
  }
  void* const managed = PyCapsule_GetPointer(capsule, kName);  // sets an error for other capsules
  return managed == nullptr ? nullptr : &static_cast<dlpack::ManagedTensor*>(managed)->tensor;
}

struct ExportedArray {
  ArrayStruct array{};
  std::vector<intptr_t> shape;
  std::vector<intptr_t> strides;
};

}  // namespace

PyObject* ExportDlpack(PyObject*, PyObject* arguments) {
  int type = 0;
  int device_type = 0;
  int device_id = 0;
  int versioned = 0;
  unsigned long long address = 0;  // NOLINT: the type of the format "K"
  PyObject* shape_tuple = nullptr;
  PyObject* owner = nullptr;
  if (!PyArg_ParseTuple(arguments, "iOKiiOp", &type, &shape_tuple, &address, &device_type,
                        &device_id, &owner, &versioned)) {
    return nullptr;
  }
  const TypeForm form = FormOf(type);
  if (form.bits == 0) {
    PyErr_SetString(PyExc_ValueError, "DLPack has no such data type");
    return nullptr;
  }
  std::vector<int64_t> shape;
  if (!ReadShape(shape_tuple, &shape)) return nullptr;
  dlpack::Tensor tensor{};
  tensor.data = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  tensor.device = {device_type, device_id};
  tensor.dtype = {form.dlpack_code, form.bits, 1};
  if (versioned != 0) {
    return MakeCapsule<dlpack::VersionedTensor>(
        tensor, std::move(shape), owner, kVersionedName,
        [](PyObject* capsule) { DeleteUnused<dlpack::VersionedTensor>(capsule, kVersionedName); });
  }
  return MakeCapsule<dlpack::ManagedTensor>(
      tensor, std::move(shape), owner, kName,
      [](PyObject* capsule) { DeleteUnused<dlpack::ManagedTensor>(capsule, kName); });
}

PyObject* ImportDlpack(PyObject*, PyObject* capsule) {
  const dlpack::Tensor* const tensor = TensorIn(capsule);
  if (tensor == nullptr) return nullptr;
  const int type = TypeOf(tensor->dtype);
  uint64_t size = FormOf(type).bits / 8;
  bool fits = tensor->ndim >= 0;
  for (int32_t i = 0; fits && i < tensor->ndim; ++i) {
    fits = tensor->shape[i] >= 0 &&
           !__builtin_mul_overflow(size, static_cast<uint64_t>(tensor->shape[i]), &size);
  }
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "the tensor's shape is not valid");
    return nullptr;
  }
  const Ref shape(ShapeTuple(tensor->shape, static_cast<size_t>(tensor->ndim)));
  if (!shape) return nullptr;
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor->data) + tensor->byte_offset;
  // The capsule keeps the memory: it is not renamed, so its destructor runs the deleter.
  return Py_BuildValue("(iOKKiiOi)", type, shape.get(),
                       static_cast<unsigned long long>(address),  // NOLINT: the type of "K"
                       static_cast<unsigned long long>(size),     // NOLINT
                       static_cast<int>(tensor->device.type), static_cast<int>(tensor->device.id),
                       capsule, IsContiguous(*tensor) ? 1 : 0);
}

PyObject* ExportArrayStruct(PyObject*, PyObject* arguments) {
  int type = 0;
  int writeable = 0;
  unsigned long long address = 0;  // NOLINT: the type of the format "K"
  PyObject* shape_tuple = nullptr;
  if (!PyArg_ParseTuple(arguments, "iOKp", &type, &shape_tuple, &address, &writeable)) {
    return nullptr;
  }
  const TypeForm form = FormOf(type);
  if (form.numpy_kind == 0) {
    PyErr_SetString(PyExc_AttributeError, "__array_struct__");
    return nullptr;
  }
  std::vector<int64_t> shape;
  if (!ReadShape(shape_tuple, &shape)) return nullptr;
  auto exported = std::make_unique<ExportedArray>();
  exported->shape.assign(shape.begin(), shape.end());
  exported->strides.resize(shape.size());
  intptr_t stride = form.bits / 8;
  for (size_t i = shape.size(); i-- > 0;) {
    exported->strides[i] = stride;
    stride *= exported->shape[i];
  }
  ArrayStruct& array = exported->array;
  array.two = 2;
  array.nd = static_cast<int>(shape.size());
  array.typekind = form.numpy_kind;
  array.itemsize = form.bits / 8;
  array.flags = ArrayStruct::kContiguous | ArrayStruct::kAligned | ArrayStruct::kNativeOrder |
                (writeable != 0 ? ArrayStruct::kWriteable : 0);
  array.shape = exported->shape.data();
  array.strides = exported->strides.data();
  array.data = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  const auto destroy = [](PyObject* capsule) {
    delete reinterpret_cast<ExportedArray*>(PyCapsule_GetContext(capsule));
  };
  PyObject* const capsule = PyCapsule_New(&array, nullptr, destroy);
  if (capsule == nullptr) return nullptr;
  PyCapsule_SetContext(capsule, exported.release());
  return capsule;
}

}  // namespace nereid::python
