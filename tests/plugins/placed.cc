// SPDX-License-Identifier: Apache-2.0
// A backend that says in the log where the server puts its instances, and holds memory of their
// GPUs. OUTPUT repeats INPUT. Parameters of a model:
//   gpu_bytes  how much memory each instance allocates on its GPU
// The backend prefers GPUs.
#include <string>
#include <vector>

#include "device/context.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::placed {
namespace {

using backend::Error;

Error From(const base::Status& status) {
  return status.ok() ? Error()
                     : Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE,
                                                   status.message().c_str()));
}

struct PlacedBackend {
  static constexpr TRITONSERVER_InstanceGroupKind kPreferredKind =
      TRITONSERVER_INSTANCEGROUPKIND_GPU;
  Error Load(TRITONBACKEND_Backend*) { return {}; }
};

struct PlacedModel {
  explicit PlacedModel(PlacedBackend*) {}

  Error Load(TRITONBACKEND_Model* model) {
    backend::ModelConfig config;
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    return config.parameters.ReadInt("gpu_bytes", 0, int64_t{1} << 40, &gpu_bytes);
  }

  int64_t gpu_bytes = 0;
};

class PlacedInstance {
 public:
  explicit PlacedInstance(PlacedModel* model) : model_(model) {}
  ~PlacedInstance() {
    if (memory_ == 0) return;
    const auto device = device::ScopedDevice::Enter(device_id_);
    if (device.ok()) (*device::CudaDriver::Get())->MemFree(memory_);
  }
  PlacedInstance(const PlacedInstance&) = delete;
  PlacedInstance& operator=(const PlacedInstance&) = delete;

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    std::string text = "placed:";
    NEREID_BACKEND_TRY(Describe(instance, &text));
    NEREID_BACKEND_LOG(INFO, text);
    return model_->gpu_bytes == 0 ? Error() : From(Allocate());
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    backend::Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) {
        batch.Fail(i, backend::Catching([&] { return Copy(&batch[i]); }));
      }
    }
    batch.ComputeEnds();
  }

 private:
  Error Describe(TRITONBACKEND_ModelInstance* instance, std::string* text) {
    const char* name = nullptr;
    TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
    bool passive = false;
    uint32_t count = 0;
    TRITONSERVER_Message* policy = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceName(instance, &name));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device_id_));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceIsPassive(instance, &passive));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceHostPolicy(instance, &policy));
    const char* json = nullptr;
    size_t size = 0;
    NEREID_BACKEND_TRY(TRITONSERVER_MessageSerializeToJson(policy, &json, &size));
    *text += std::string(" ") + name + " " + TRITONSERVER_InstanceGroupKindString(kind) + " " +
             std::to_string(device_id_) + (passive ? " passive " : " active ") +
             std::string(json, size);
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceSecondaryDeviceCount(instance, &count));
    for (uint32_t i = 0; i < count; ++i) {
      const char* of = nullptr;
      int64_t id = 0;
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, i, &of, &id));
      *text += std::string(" ") + of + " " + std::to_string(id);
    }
    return {};
  }

  base::Status Allocate() {
    NEREID_ASSIGN_OR_RETURN(const device::CudaDriver* driver, device::CudaDriver::Get());
    NEREID_ASSIGN_OR_RETURN(const auto device, device::ScopedDevice::Enter(device_id_));
    const auto size = static_cast<size_t>(model_->gpu_bytes);
    return driver->ToStatus(
        driver->MemAlloc(&memory_, size),
        "allocate " + std::to_string(size) + " bytes on GPU " + std::to_string(device_id_));
  }

  static Error Copy(backend::BatchMember* member) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::InputAt(member->request, 0, &input));
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, "OUTPUT", input.data_type,
                                               input.shape, input.byte_size, &buffer));
    return backend::CopyInput(input, buffer);
  }

  PlacedModel* const model_;
  int32_t device_id_ = 0;
  device::CuPointer memory_ = 0;
  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::placed

NEREID_BACKEND_PLUGIN(nereid::placed::PlacedBackend, nereid::placed::PlacedModel,
                      nereid::placed::PlacedInstance);
