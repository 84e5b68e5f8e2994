// SPDX-License-Identifier: Apache-2.0
#include "python/inner_calls.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "nereid/backend/json.h"
#include "nereid/backend/log.h"
#include "python/gpu_sharing.h"
#include "python/inner_response.h"
#include "python/responses.h"

namespace nereid::python {

using backend::Error;

namespace {

std::string Prefix(std::string_view model) {
  return "Model " + std::string(model) + " - Error when running inference: ";
}

Error NotReady(std::string_view model) {
  return Error::Internal("Failed for execute the inference request. Model '" + std::string(model) +
                         "' is not ready.");
}

Error SetParameter(TRITONSERVER_InferenceRequest* request, const char* name,
                   const rapidjson::Value& value) {
  if (value.IsString()) {
    return Error(TRITONSERVER_InferenceRequestSetStringParameter(request, name, value.GetString()));
  }
  if (value.IsInt64()) {
    return Error(TRITONSERVER_InferenceRequestSetIntParameter(request, name, value.GetInt64()));
  }
  if (value.IsBool()) {
    return Error(TRITONSERVER_InferenceRequestSetBoolParameter(request, name, value.GetBool()));
  }
  if (value.IsDouble()) {
    return Error(TRITONSERVER_InferenceRequestSetDoubleParameter(request, name, value.GetDouble()));
  }
  return Error::InvalidArgument("Unsupported value type on parameters");
}

Error SetParameters(TRITONSERVER_InferenceRequest* request, std::string_view text) {
  if (text.empty()) {
    return {};
  }
  rapidjson::Document parameters;
  parameters.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (parameters.HasParseError() || !parameters.IsObject()) {
    return Error::InvalidArgument("the parameters of a request are no JSON object");
  }
  for (const auto& member : parameters.GetObject()) {
    NEREID_BACKEND_TRY(SetParameter(request, member.name.GetString(), member.value));
  }
  return {};
}

}  // namespace

InnerCall::~InnerCall() {
  if (request != nullptr) {
    const Error deleted(TRITONSERVER_InferenceRequestDelete(request));
  }
}

/// The functions that the server calls. `userp` is a new std::shared_ptr<InnerCall> for the two
/// that end a call, and the InnerCall itself for those of the allocator.
struct InnerCallbacks {
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                                      TRITONSERVER_MemoryType offered, int64_t offered_id,
                                      void* userp, void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* type, int64_t* type_id) {
    return backend::EntryPoint([&]() -> Error {
      auto* call = static_cast<InnerCall*>(userp);
      auto output = std::make_unique<InnerOutput>(&call->worker->segments.pool);
      const int offered_gpu =
          offered == TRITONSERVER_MEMORY_GPU ? static_cast<int>(offered_id) : -1;
      NEREID_BACKEND_TRY(output->Allocate(size, WantedGpu(call->memory, offered_gpu)));
      *buffer = output->data();
      *type = output->gpu() >= 0 ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
      *type_id = std::max(output->gpu(), 0);
      *buffer_userp = output.release();
      return {};
    });
  }

  /// Returns the GPU for an output, or -1 for host memory. A called model that writes host memory
  /// is not asked to write to a GPU.
  static int WantedGpu(uint16_t memory, int offered) {
    constexpr uint16_t kAsOffered = 0;
    constexpr uint16_t kFirstGpu = 2;
    if (offered < 0 || memory == kAsOffered) {
      return offered;
    }
    const size_t index = memory - size_t{kFirstGpu};
    return memory < kFirstGpu || index >= SharedGpus().size() ? -1 : SharedGpus()[index].ordinal;
  }

  static TRITONSERVER_Error* Free(TRITONSERVER_ResponseAllocator*, void*, void* buffer_userp,
                                  size_t, TRITONSERVER_MemoryType, int64_t) {
    delete static_cast<InnerOutput*>(buffer_userp);
    return nullptr;
  }

  static void Respond(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
    auto* held = static_cast<std::shared_ptr<InnerCall>*>(userp);
    std::shared_ptr<InnerCall> call = *held;
    const bool final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
    const Error passed = backend::Catching([&]() -> Error {
      if (!call->closed.load()) {
        PassResponse(response, final, call.get());
      }
      return {};
    });
    if (response != nullptr) {
      const Error deleted(TRITONSERVER_InferenceResponseDelete(response));
    }
    if (!passed.ok()) {
      PassError(*call, passed);
    }
    if (final) {
      call->owner->Remove(*call);
      delete held;
      End(std::move(call));
    }
  }

  static void Release(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) {
    auto* held = static_cast<std::shared_ptr<InnerCall>*>(userp);
    std::shared_ptr<InnerCall> call = std::move(*held);
    delete held;
    End(std::move(call));
  }

  /// Drops a reference. The owner may be deleted after its count is down.
  static void End(std::shared_ptr<InnerCall> call) {
    InnerCalls* owner = call->owner;
    call.reset();
    owner->CountDown();
  }
};

InnerCalls::~InnerCalls() {
  const base::MutexLock lock(mutex_);
  if (allocator_ != nullptr) {
    const Error deleted(TRITONSERVER_ResponseAllocatorDelete(allocator_));
  }
}

Error InnerCalls::PrepareAllocator() {
  const base::MutexLock lock(mutex_);
  if (allocator_ != nullptr) {
    return {};
  }
  return Error(TRITONSERVER_ResponseAllocatorNew(&allocator_, InnerCallbacks::Allocate,
                                                 InnerCallbacks::Free, nullptr));
}

void InnerCalls::Start(uint64_t id, const WireInfer& infer) {
  const Error failed = backend::Catching([&] { return Submit(id, infer); });
  if (!failed.ok()) {
    InnerCall call;
    call.worker = worker_;
    call.id = id;
    PassError(call, Error::Internal(Prefix(infer.model) + failed.message()));
  }
}

Error InnerCalls::Submit(uint64_t id, const WireInfer& infer) {
  NEREID_BACKEND_TRY(PrepareAllocator());
  const std::string model(infer.model);
  uint32_t properties = 0;
  void* unused = nullptr;
  auto call = std::make_shared<InnerCall>();
  call->owner = this;
  call->worker = worker_;
  call->id = id;
  if (!Error(TRITONSERVER_ServerModelTransactionProperties(server_, model.c_str(), infer.version,
                                                           &properties, &unused))
           .ok() ||
      !Error(
           TRITONSERVER_InferenceRequestNew(&call->request, server_, model.c_str(), infer.version))
           .ok()) {
    return NotReady(model);
  }
  if ((properties & TRITONSERVER_TXN_DECOUPLED) != 0 && !infer.decoupled) {
    return Error::Internal("Model " + model +
                           " is using the decoupled. The current BLS request call doesn't support "
                           "models using the decoupled transaction policy. Please use "
                           "'decoupled=True' argument to the 'exec' or 'async_exec' calls for "
                           "decoupled models.'");
  }
  call->memory = infer.memory;
  NEREID_BACKEND_TRY(Fill(infer, call.get()));
  auto held_by_release = std::make_unique<std::shared_ptr<InnerCall>>(call);
  auto held_by_response = std::make_unique<std::shared_ptr<InnerCall>>(call);
  NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetReleaseCallback(
      call->request, InnerCallbacks::Release, held_by_release.get()));
  {
    const base::MutexLock lock(mutex_);
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetResponseCallback(
        call->request, allocator_, call.get(), InnerCallbacks::Respond, held_by_response.get()));
    calls_[id] = call;
    callbacks_ += 2;
  }
  TRITONSERVER_InferenceTrace* trace = nullptr;
  if (const auto parent = infer.trace == 0 ? nullptr : worker_->requests.Find(infer.trace)) {
    trace = parent->NewChildTrace();
  }
  Error refused(TRITONSERVER_ServerInferAsync(server_, call->request, trace));
  if (refused.ok()) {
    // Both callbacks own their references from here on, and may have run already.
    static_cast<void>(held_by_release.release());
    static_cast<void>(held_by_response.release());
    return {};
  }
  if (trace != nullptr) {
    const Error deleted(TRITONSERVER_InferenceTraceDelete(trace));
  }
  Remove(*call);
  CountDown();
  CountDown();
  return refused;
}

Error InnerCalls::Fill(const WireInfer& infer, InnerCall* call) {
  TRITONSERVER_InferenceRequest* request = call->request;
  NEREID_BACKEND_TRY(
      TRITONSERVER_InferenceRequestSetId(request, std::string(infer.request_id).c_str()));
  if (infer.text_correlation) {
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetCorrelationIdString(
        request, std::string(infer.correlation_text).c_str()));
  } else {
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetCorrelationId(request, infer.correlation));
  }
  NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetFlags(request, infer.flags));
  NEREID_BACKEND_TRY(
      TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, infer.timeout_us));
  NEREID_BACKEND_TRY(SetParameters(request, infer.parameters));
  NEREID_BACKEND_TRY(AddInputs(infer, call));
  for (const std::string_view output : infer.outputs) {
    NEREID_BACKEND_TRY(
        TRITONSERVER_InferenceRequestAddRequestedOutput(request, std::string(output).c_str()));
  }
  return {};
}

Error InnerCalls::AddInputs(const WireInfer& infer, InnerCall* call) {
  SegmentUses given(&worker_->segments, infer.data, /*may_lend_inputs=*/false);
  given.Add(infer.inputs);
  call->inputs.reserve(infer.inputs.size());
  for (const WireTensor& tensor : infer.inputs) {
    NEREID_BACKEND_TRY(CheckTensor(tensor));
    const std::string name(tensor.name);
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestAddInput(
        call->request, name.c_str(), static_cast<TRITONSERVER_DataType>(tensor.data_type),
        tensor.shape.data(), tensor.shape.size()));
    NEREID_BACKEND_TRY(given.GpuOf(tensor) >= 0 ? AddGpuContent(tensor, name, &given, call)
                                                : AddContent(tensor, name, &given, call));
  }
  return {};
}

Error InnerCalls::AddContent(const WireTensor& tensor, const std::string& name, SegmentUses* given,
                             InnerCall* call) {
  std::vector<char>& content = call->inputs.emplace_back();
  // Before memory is taken: the size may be any.
  NEREID_BACKEND_TRY(given->Check(tensor));
  content.resize(tensor.size);
  NEREID_BACKEND_TRY(given->Copy(tensor, {content.data()}));
  NEREID_BACKEND_TRY(CheckElements(tensor, content.data()));
  return Error(TRITONSERVER_InferenceRequestAppendInputData(
      call->request, name.c_str(), content.data(), content.size(), TRITONSERVER_MEMORY_CPU, 0));
}

Error InnerCalls::AddGpuContent(const WireTensor& tensor, const std::string& name,
                                SegmentUses* given, InnerCall* call) {
  TensorContent& content = call->gpu_inputs.emplace_back();
  NEREID_BACKEND_TRY(given->LendOnGpu(tensor, &content));
  return Error(TRITONSERVER_InferenceRequestAppendInputData(call->request, name.c_str(),
                                                            content.data, tensor.size,
                                                            TRITONSERVER_MEMORY_GPU, content.gpu));
}

std::shared_ptr<InnerCall> InnerCalls::Find(uint64_t id) {
  const base::MutexLock lock(mutex_);
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : found->second;
}

void InnerCalls::Remove(const InnerCall& call) {
  const base::MutexLock lock(mutex_);
  const auto found = calls_.find(call.id);
  if (found != calls_.end() && found->second.get() == &call) {
    calls_.erase(found);
  }
}

void InnerCalls::CountDown() {
  const base::MutexLock lock(mutex_);
  --callbacks_;
  changed_.NotifyAll();
}

void InnerCalls::Cancel(uint64_t id) {
  // Without the lock: the server may answer inside of the call.
  if (const std::shared_ptr<InnerCall> call = Find(id)) {
    const Error asked(TRITONSERVER_InferenceRequestCancel(call->request));
  }
}

void InnerCalls::Close(uint64_t id) {
  if (const std::shared_ptr<InnerCall> call = Find(id)) {
    call->closed = true;
    const Error asked(TRITONSERVER_InferenceRequestCancel(call->request));
  }
}

void InnerCalls::CloseAll() {
  std::vector<uint64_t> ids;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [id, call] : calls_) {
      ids.push_back(id);
    }
  }
  for (const uint64_t id : ids) {
    Close(id);
  }
}

bool InnerCalls::IsEmpty() {
  const base::MutexLock lock(mutex_);
  return callbacks_ == 0;
}

void InnerCalls::WaitUntilNone() {
  base::MutexLock lock(mutex_);
  while (callbacks_ != 0) {
    changed_.Wait(lock);
  }
}

}  // namespace nereid::python
