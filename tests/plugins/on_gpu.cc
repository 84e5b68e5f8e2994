// SPDX-License-Identifier: Apache-2.0
// A backend on GPUs that keeps its tensors in GPU memory and tells where the server has them.
//
// Each input INPUT<x> is copied to memory of the GPU that the server's memory manager gives, and
// from there to the output OUTPUT<x>, if that is requested, for which the backend prefers GPU
// memory. If there is an input STATE_IN, its content goes to the output PREVIOUS, and the content
// of INPUT0 becomes the state STATE_OUT.
//
// The parameter `places` of the response is the list "INPUT0 CPU 0, OUTPUT0 GPU 1, …".
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/context.h"
#include "device/stream.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/plugin.h"

namespace nereid::on_gpu {
namespace {

using backend::Error;
using backend::NoBackendState;

Error From(const base::Status& status) {
  return status.ok() ? Error()
                     : Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE,
                                                   status.message().c_str()));
}

struct OnGpuBackend {
  static constexpr TRITONSERVER_InstanceGroupKind kPreferredKind =
      TRITONSERVER_INSTANCEGROUPKIND_GPU;
  Error Load(TRITONBACKEND_Backend* backend) {
    return Error(TRITONBACKEND_BackendMemoryManager(backend, &memory));
  }
  TRITONBACKEND_MemoryManager* memory = nullptr;
};

struct OnGpuModel {
  explicit OnGpuModel(OnGpuBackend* backend) : memory(backend->memory) {}
  Error Load(TRITONBACKEND_Model*) { return {}; }
  TRITONBACKEND_MemoryManager* const memory;
};

/// Memory of the server's pool on a GPU.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_ == nullptr) return;
    TRITONSERVER_Error* const error =
        TRITONBACKEND_MemoryManagerFree(memory_, data_, TRITONSERVER_MEMORY_GPU, gpu_);
    if (error != nullptr) TRITONSERVER_ErrorDelete(error);
  }
  Error Allocate(TRITONBACKEND_MemoryManager* memory, int64_t gpu, uint64_t size) {
    NEREID_BACKEND_TRY(
        TRITONBACKEND_MemoryManagerAllocate(memory, &data_, TRITONSERVER_MEMORY_GPU, gpu, size));
    memory_ = memory;
    gpu_ = gpu;
    return {};
  }
  char* data() const { return static_cast<char*>(data_); }

 private:
  TRITONBACKEND_MemoryManager* memory_ = nullptr;
  void* data_ = nullptr;
  int64_t gpu_ = 0;
};

/// An input of a request.
struct GpuInput {
  TRITONBACKEND_Input* handle = nullptr;
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  uint64_t size = 0;
  uint32_t pieces = 0;
};

class OnGpuInstance {
 public:
  explicit OnGpuInstance(OnGpuModel* model) : model_(model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    int32_t gpu = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &gpu));
    gpu_ = gpu;
    auto stream = device::Stream::Create(gpu);
    if (!stream.ok()) return From(stream.status());
    stream_.emplace(std::move(stream).value());
    return {};
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    backend::Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) {
        batch.Fail(i, backend::Catching([&] { return Answer(&batch[i]); }));
      }
    }
    batch.ComputeEnds();
  }

 private:
  Error Answer(backend::BatchMember* member) {
    places_.clear();
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestInputCount(member->request, &count));
    // The old state first: the new one may be in the same memory.
    for (const bool is_state : {true, false}) {
      for (uint32_t i = 0; i < count; ++i) {
        GpuInput input;
        NEREID_BACKEND_TRY(Describe(member->request, i, &input));
        if ((input.name == "STATE_IN") == is_state) NEREID_BACKEND_TRY(Pass(input, member));
      }
    }
    return Error(
        TRITONBACKEND_ResponseSetStringParameter(member->response, "places", places_.c_str()));
  }

  /// Copies an input to what is made of it.
  Error Pass(const GpuInput& input, backend::BatchMember* member) {
    Scratch scratch;
    NEREID_BACKEND_TRY(scratch.Allocate(model_->memory, gpu_, input.size));
    NEREID_BACKEND_TRY(Gather(input, scratch.data()));
    NEREID_BACKEND_TRY(WriteOutput(input, scratch.data(), member));
    return input.name == "INPUT0" ? WriteState(input, scratch.data(), member) : Error();
  }

  static Error Describe(TRITONBACKEND_Request* request, uint32_t index, GpuInput* input) {
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestInputByIndex(request, index, &input->handle));
    const char* name = nullptr;
    const int64_t* shape = nullptr;
    uint32_t rank = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_InputProperties(input->handle, &name, &input->type, &shape,
                                                     &rank, &input->size, &input->pieces));
    input->name = name;
    input->shape.assign(shape, shape + rank);
    return {};
  }

  Error Gather(const GpuInput& input, char* to) {
    for (uint32_t i = 0; i < input.pieces; ++i) {
      const void* piece = nullptr;
      uint64_t size = 0;
      TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
      int64_t id = gpu_;
      NEREID_BACKEND_TRY(TRITONBACKEND_InputBuffer(input.handle, i, &piece, &size, &type, &id));
      Note(input.name, type, id);
      NEREID_BACKEND_TRY(Copy(to, piece, size));
      to += size;
    }
    return Wait();
  }

  Error WriteOutput(const GpuInput& input, const char* from, backend::BatchMember* member) {
    const std::string name =
        input.name == "STATE_IN" ? "PREVIOUS" : "OUTPUT" + input.name.substr(input.name.size() - 1);
    if (!IsRequested(member->request, name)) return {};
    TRITONBACKEND_Output* output = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(member->response, &output, name.c_str(),
                                                    input.type, input.shape.data(),
                                                    static_cast<uint32_t>(input.shape.size())));
    void* buffer = nullptr;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
    int64_t id = gpu_;
    NEREID_BACKEND_TRY(TRITONBACKEND_OutputBuffer(output, &buffer, input.size, &type, &id));
    Note(name, type, id);
    NEREID_BACKEND_TRY(Copy(buffer, from, input.size));
    return Wait();
  }

  Error WriteState(const GpuInput& input, const char* from, backend::BatchMember* member) {
    TRITONBACKEND_Input* previous = nullptr;
    TRITONSERVER_Error* const none =
        TRITONBACKEND_RequestInput(member->request, "STATE_IN", &previous);
    if (none != nullptr) {
      TRITONSERVER_ErrorDelete(none);
      return {};
    }
    TRITONBACKEND_State* state = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_StateNew(&state, member->request, "STATE_OUT", input.type,
                                              input.shape.data(),
                                              static_cast<uint32_t>(input.shape.size())));
    void* buffer = nullptr;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
    int64_t id = gpu_;
    NEREID_BACKEND_TRY(TRITONBACKEND_StateBuffer(state, &buffer, input.size, &type, &id));
    Note("STATE_OUT", type, id);
    NEREID_BACKEND_TRY(Copy(buffer, from, input.size));
    NEREID_BACKEND_TRY(Wait());
    return Error(TRITONBACKEND_StateUpdate(state));
  }

  static bool IsRequested(TRITONBACKEND_Request* request, const std::string& output) {
    uint32_t count = 0;
    if (TRITONBACKEND_RequestOutputCount(request, &count) != nullptr) return false;
    for (uint32_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      if (TRITONBACKEND_RequestOutputName(request, i, &name) == nullptr && output == name) {
        return true;
      }
    }
    return false;
  }

  void Note(const std::string& tensor, TRITONSERVER_MemoryType type, int64_t id) {
    if (!places_.empty()) places_ += ", ";
    places_ += tensor + " " + TRITONSERVER_MemoryTypeString(type) + " " + std::to_string(id);
  }

  Error Copy(void* to, const void* from, uint64_t size) {
    const auto current = device::ScopedDevice::Enter(stream_->ordinal());
    if (!current.ok()) return From(current.status());
    const device::CudaDriver& driver = **device::CudaDriver::Get();
    if (size == 0) return {};
    return From(driver.ToStatus(
        driver.MemcpyAsync(reinterpret_cast<device::CuPointer>(to),
                           reinterpret_cast<device::CuPointer>(from), size, stream_->handle()),
        "copy on the GPU"));
  }
  Error Wait() { return From(stream_->Wait()); }

  OnGpuModel* const model_;
  int64_t gpu_ = 0;
  std::optional<device::Stream> stream_;
  std::string places_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::on_gpu

NEREID_BACKEND_PLUGIN(nereid::on_gpu::OnGpuBackend, nereid::on_gpu::OnGpuModel,
                      nereid::on_gpu::OnGpuInstance);
