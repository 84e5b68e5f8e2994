// SPDX-License-Identifier: Apache-2.0
// A backend that violates the rules on request, for tests of the server's reaction.
//
// It copies INPUT0 to OUTPUT0, unless the parameter `fault` of the model or of the request selects
// a fault:
//
//   fail        an error
//   fail_half   an error for the first, third, … request of each batch
//   twice       two responses, both of them final
//   never       no response; the request is only released
//   late        the response at once, the release of the request after `delay_ms`
//   throw       an exception; nothing is answered or released (of the first request's fault only)
//   hang        no response until the client cancels, which is checked every millisecond
//   detach      the same, but the request is released at once and its response factory is checked
//   plain       no fault, if the model's parameter names one
//
// The model's parameter `delay_ms` (0) is the duration of each execution.
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "nereid/backend/input.h"
#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::faulty {
namespace {

using backend::Error;
using backend::NoBackendState;

constexpr std::chrono::milliseconds kPoll{1};
/// The maximum duration of a hang, so that a test without a cancellation ends.
constexpr std::chrono::seconds kLongestHang{60};

struct FaultyModel {
  explicit FaultyModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    return config.parameters.ReadInt("delay_ms", 0, 60000, &delay_ms);
  }

  backend::ModelConfig config;
  int64_t delay_ms = 0;
};

void Log(const char* action, TRITONSERVER_Error* failure) {
  if (const Error error(failure); !error.ok()) {
    NEREID_BACKEND_LOG(INFO, std::string("faulty: ") + action + ": " + error.message());
  }
}

void Release(TRITONBACKEND_Request* request) {
  Log("release", TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
}

void Send(TRITONBACKEND_Response* response, const Error& error) {
  Log("send",
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()));
}

void Respond(TRITONBACKEND_Request* request, const Error& error) {
  TRITONBACKEND_Response* response = nullptr;
  if (Error made(TRITONBACKEND_ResponseNew(&response, request)); made.ok()) {
    Send(response, error);
  }
}

/// Makes the response of a correct backend.
Error Copy(TRITONBACKEND_Request* request, TRITONBACKEND_Response** response) {
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseNew(response, request));
  backend::Input input;
  NEREID_BACKEND_TRY(backend::FindInput(request, "INPUT0", &input));
  char* buffer = nullptr;
  NEREID_BACKEND_TRY(backend::AllocateOutput(*response, "OUTPUT0", input.data_type, input.shape,
                                             input.byte_size, &buffer));
  return backend::CopyInput(input, buffer);
}

void RespondWithCopy(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  const Error error = Copy(request, &response);
  if (response != nullptr) {
    Send(response, error);
  }
}

std::string FaultOf(TRITONBACKEND_Request* request, const FaultyModel& model) {
  uint32_t count = 0;
  Log("count parameters", TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    Log("parameter", TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (key != nullptr && std::strcmp(key, "fault") == 0 && type == TRITONSERVER_PARAMETER_STRING) {
      return static_cast<const char*>(value);
    }
  }
  const std::string* fault = model.config.parameters.Find("fault");
  return fault == nullptr ? "" : *fault;
}

Error Cancelled() {
  return Error(TRITONSERVER_ERROR_CANCELLED, "cancelled; seen by the faulty backend");
}

class FaultyInstance {
 public:
  explicit FaultyInstance(const FaultyModel* model) : model_(*model) {}
  ~FaultyInstance() {
    for (std::thread& worker : workers_) {
      worker.join();
    }
  }

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request** requests, uint32_t count) {
    if (count > 0 && FaultOf(requests[0], model_) == "throw") {
      throw std::runtime_error("thrown by the faulty backend");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(model_.delay_ms));
    for (uint32_t i = 0; i < count; ++i) {
      Handle(requests[i], FaultOf(requests[i], model_), i);
    }
  }

 private:
  void Handle(TRITONBACKEND_Request* request, const std::string& fault, uint32_t place) {
    if (fault == "fail" || (fault == "fail_half" && place % 2 == 0)) {
      Respond(request, Error::Internal("failed by the faulty backend"));
    } else if (fault == "hang") {
      Hang(request);
    } else if (fault == "detach") {
      Detach(request);
      return;
    } else if (fault != "never") {
      RespondWithCopy(request);
    }
    if (fault == "twice") {
      RespondWithCopy(request);
    }
    if (fault == "late") {
      workers_.emplace_back([request, delay = std::chrono::milliseconds(model_.delay_ms)] {
        std::this_thread::sleep_for(delay);
        Release(request);
      });
    } else {
      Release(request);
    }
  }

  /// Calls `is_cancelled(&answer)` until the answer is true.
  template <typename IsCancelled>
  static void WaitForCancellation(IsCancelled&& is_cancelled) {
    const auto end = std::chrono::steady_clock::now() + kLongestHang;
    bool cancelled = false;
    while (!cancelled && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kPoll);
      Log("ask", is_cancelled(&cancelled));
    }
  }

  static void Hang(TRITONBACKEND_Request* request) {
    WaitForCancellation(
        [&](bool* answer) { return TRITONBACKEND_RequestIsCancelled(request, answer); });
    Respond(request, Cancelled());
  }

  void Detach(TRITONBACKEND_Request* request) {
    TRITONBACKEND_ResponseFactory* factory = nullptr;
    Log("factory", TRITONBACKEND_ResponseFactoryNew(&factory, request));
    Release(request);
    if (factory == nullptr) {
      return;
    }
    workers_.emplace_back([factory] {
      WaitForCancellation(
          [&](bool* answer) { return TRITONBACKEND_ResponseFactoryIsCancelled(factory, answer); });
      TRITONBACKEND_Response* response = nullptr;
      if (Error made(TRITONBACKEND_ResponseNewFromFactory(&response, factory)); made.ok()) {
        Send(response, Cancelled());
      }
      Log("delete", TRITONBACKEND_ResponseFactoryDelete(factory));
    });
  }

  const FaultyModel& model_;
  /// Used by the instance's thread, and by its destructor.
  std::vector<std::thread> workers_;
};

}  // namespace
}  // namespace nereid::faulty

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::faulty::FaultyModel,
                      nereid::faulty::FaultyInstance);
