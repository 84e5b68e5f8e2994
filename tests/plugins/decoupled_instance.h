// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nereid/backend/input.h"
#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"
#include "nereid/backend/response_stream.h"
#include "sender_threads.h"

namespace nereid::test_plugins {

using backend::Error;

/// What the plug-ins of this folder that answer with several responses share: reading their inputs,
/// and answering from another thread than that of Execute.

struct DecoupledModel {
  explicit DecoupledModel(backend::NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    if (!config.decoupled) {
      return Error::InvalidArgument(
          "model '" + config.name +
          "': model_transaction_policy.decoupled must be true for this "
          "backend, which answers a request with any number of responses");
    }
    return {};
  }

  backend::ModelConfig config;
};

/// The elements of an input of fixed-size elements, in one piece.
template <typename T>
Error ReadElements(TRITONBACKEND_Request* request, const char* name,
                   TRITONSERVER_DataType data_type, std::vector<T>* values) {
  backend::Input input;
  NEREID_BACKEND_TRY(backend::FindInput(request, name, &input));
  if (input.data_type != data_type) {
    return Error::InvalidArgument("input '" + std::string(name) + "' is not of type " +
                                  TRITONSERVER_DataTypeString(data_type));
  }
  NEREID_BACKEND_TRY(backend::CheckInputSize(input));
  values->resize(input.byte_size / sizeof(T));
  return backend::CopyInput(input, reinterpret_cast<char*>(values->data()));
}

template <typename T>
Error WriteElement(TRITONBACKEND_Response* response, const char* name,
                   TRITONSERVER_DataType data_type, T value) {
  const int64_t shape[] = {1};
  return backend::WriteOutput(response, name, data_type, shape,
                              reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Waits, unless or until the client gives up; false then.
inline bool WaitFor(std::chrono::milliseconds time, const backend::ResponseStream& stream) {
  constexpr std::chrono::milliseconds kPoll{2};
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stream.IsCancelled()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return true;
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kPoll));
  }
  return false;
}

inline void LogFailure(const char* action, TRITONSERVER_Error* failure) {
  if (const Error error(failure); !error.ok()) {
    NEREID_BACKEND_LOG(ERROR, std::string("cannot ") + action + ": " + error.message());
  }
}

/// Counts a request (one success or failure, however many responses it has) and releases it.
inline void CountAndRelease(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                            bool success, uint64_t start_ns) {
  const uint64_t now = backend::NowNs();
  LogFailure("count a request", TRITONBACKEND_ModelInstanceReportStatistics(
                                    instance, request, success, start_ns, start_ns, now, now));
  LogFailure("release a request",
             TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
}

}  // namespace nereid::test_plugins
