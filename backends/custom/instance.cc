// SPDX-License-Identifier: Apache-2.0
#include "custom/instance.h"

#include "framework/printable.h"
#include "nereid/backend/log.h"

namespace nereid::custom {

using backend::Batch;

Error CustomInstance::Load(TRITONBACKEND_ModelInstance* instance) {
  const char* name = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceName(instance, &name));
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  int32_t device = CUSTOM_NO_GPU_DEVICE;
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  }
  const char* server_parameters[CUSTOM_SERVER_PARAMETER_CNT] = {};
  server_parameters[INFERENCE_SERVER_VERSION] = model_.server_version().c_str();
  server_parameters[MODEL_REPOSITORY_PATH] = model_.repository_path().c_str();
  CustomInitializeData data = {};
  data.instance_name = name;
  data.serialized_model_config = model_.serialized_config().data();
  data.serialized_model_config_size = model_.serialized_config().size();
  data.gpu_device_id = device;
  data.server_parameter_cnt = CUSTOM_SERVER_PARAMETER_CNT;
  data.server_parameters = server_parameters;
  return Initialize(data);
}

Error CustomInstance::Initialize(const CustomInitializeData& data) {
  int code = 0;
  const Error thrown = backend::Catching([&]() -> Error {
    code = model_.library().functions().initialize(&data, &context_);
    initialized_ = code == 0;
    return {};
  });
  if (!thrown.ok()) {
    return Error::Internal("model '" + model_.signature().model_name + "': CustomInitialize of '" +
                           model_.library().path() +
                           "' threw: " + framework::Printable(thrown.message()));
  }
  return code == 0 ? Error() : model_.Failure("CustomInitialize", context_, code);
}

CustomInstance::~CustomInstance() {
  if (!initialized_ && context_ == nullptr) {
    return;
  }
  const Error failure = backend::Catching([&]() -> Error {
    const int code = model_.library().functions().finalize(context_);
    // The context no longer exists, so CustomErrorString cannot be asked for a message.
    return code == 0 ? Error()
                     : Error::Internal("CustomFinalize of '" + model_.library().path() +
                                       "' failed with code " + std::to_string(code));
  });
  if (!failure.ok()) {
    NEREID_BACKEND_LOG(ERROR,
                       "model '" + model_.signature().model_name + "': " + failure.message());
  }
}

void CustomInstance::Execute(TRITONBACKEND_ModelInstance* instance,
                             TRITONBACKEND_Request** requests, uint32_t count) {
  Batch batch(instance, requests, count, &members_);
  batch.FailCancelled();
  const Error failure = backend::Catching([&]() -> Error {
    Run(&batch);
    return {};
  });
  if (!failure.ok()) {
    batch.FailAll(failure);
  }
}

void CustomInstance::Run(Batch* batch) {
  tensors_.clear();
  runnable_.clear();
  batch_sizes_.clear();
  tensors_.reserve(batch->size());
  const bool cpu_only = model_.library().functions().version == 1;
  for (size_t i = 0; i < batch->size(); ++i) {
    if (batch->failed(i)) {
      continue;
    }
    PayloadTensors& tensors = tensors_.emplace_back(&model_.signature(), cpu_only, &(*batch)[i]);
    Error prepared = backend::Catching([&] { return tensors.Prepare(); });
    if (!prepared.ok()) {
      batch->Fail(i, std::move(prepared));
      tensors_.pop_back();
      continue;
    }
    runnable_.push_back(i);
    batch_sizes_.push_back((*batch)[i].batch_size);
  }
  if (tensors_.empty()) {
    return;
  }
  Payloads payloads(model_.signature().batching, &tensors_, batch_sizes_);
  batch->ComputeStarts();
  const Error failure = Call(&payloads);
  batch->ComputeEnds();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    // A wrong call of a callback explains more than the error code with which the library ended, so
    // it is reported first.
    batch->Fail(runnable_[i], tensors_[i].TakeMistake());
    if (failure.ok() && !batch->failed(runnable_[i])) {
      batch->Fail(runnable_[i], backend::Catching([&] {
                    return Conclude(&tensors_[i], payloads.error_code(i));
                  }));
    }
  }
  if (!failure.ok()) {
    batch->FailAll(failure);
  }
}

Error CustomInstance::Call(Payloads* payloads) {
  const CustomFunctions& functions = model_.library().functions();
  int code = 0;
  const Error thrown = backend::Catching([&]() -> Error {
    code = functions.version == 2
               ? functions.execute_v2(context_, payloads->size(), payloads->data(), GetNextInputV2,
                                      GetOutputV2)
               : functions.execute(context_, payloads->size(), payloads->data(), GetNextInput,
                                   GetOutput);
    return {};
  });
  if (!thrown.ok()) {
    return Error::Internal("model '" + model_.signature().model_name +
                           "': " + functions.execute_name() + " of '" + model_.library().path() +
                           "' threw: " + framework::Printable(thrown.message()));
  }
  return code == 0 ? Error() : model_.Failure(functions.execute_name(), context_, code);
}

Error CustomInstance::Conclude(PayloadTensors* tensors, int code) {
  return code == 0 ? tensors->Finish()
                   : model_.Failure(model_.library().functions().execute_name(), context_, code);
}

}  // namespace nereid::custom
