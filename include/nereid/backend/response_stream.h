// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "nereid/backend/batch.h"
#include "nereid/backend/error.h"
#include "nereid/backend/log.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The responses of one request of a decoupled model. Any number of responses may be sent, one at a
/// time, by any thread, also after the request was released. When the object is destroyed, the
/// final flag of the request has been sent exactly once. Each response is counted in the response
/// statistics.
///
/// The instance must outlive the stream. A plug-in with its own threads must therefore end them
/// before its instance is finalized.
class ResponseStream {
 public:
  ResponseStream() = default;
  ResponseStream(ResponseStream&& other) noexcept
      : instance_(other.instance_), factory_(std::exchange(other.factory_, nullptr)) {}
  ResponseStream& operator=(ResponseStream&& other) noexcept {
    if (this != &other) {
      Finish();
      instance_ = other.instance_;
      factory_ = std::exchange(other.factory_, nullptr);
    }
    return *this;
  }
  ~ResponseStream() { Finish(); }

  /// Creates the stream. Must be called before the request is released. If it fails, the request
  /// has not been answered.
  Error Open(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request) {
    instance_ = instance;
    return Error(TRITONBACKEND_ResponseFactoryNew(&factory_, request));
  }

  /// Returns whether the final flag has not been sent yet.
  bool open() const { return factory_ != nullptr; }

  /// Returns whether the client has cancelled the request, or the stream is closed.
  bool IsCancelled() const {
    bool cancelled = false;
    return factory_ == nullptr ||
           (Error(TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled)).ok() &&
            cancelled);
  }

  /// Sends one response. `write(TRITONBACKEND_Response*)` adds its outputs; if it fails, the
  /// response carries its error. `start_ns` is the time (NowNs) at which the computation of this
  /// response began. `last` means that no other response follows.
  template <typename Write>
  Error Send(uint64_t start_ns, bool last, Write&& write) {
    if (factory_ == nullptr) {
      return Error::Internal("a response after the final one");
    }
    TRITONBACKEND_Response* response = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ResponseNewFromFactory(&response, factory_));
    const uint64_t output_start_ns = NowNs();
    const Error error = Catching([&] { return write(response); });
    Count(start_ns, output_start_ns, error);
    const uint32_t flags = last ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0;
    Error sent(TRITONBACKEND_ResponseSend(response, flags, error.get()));
    if (last) {
      Delete();
    }
    return sent;
  }

  /// Sends an error as the last response.
  void Fail(const Error& error) {
    const Error sent = Send(NowNs(), true, [&](TRITONBACKEND_Response*) {
      return Error(TRITONSERVER_ErrorNew(TRITONSERVER_ErrorCode(error.get()),
                                         TRITONSERVER_ErrorMessage(error.get())));
    });
    Report("send an error", sent);
  }

  /// Sends the final flag without a response, if it was not sent yet. It counts as an empty
  /// response.
  void Finish() {
    if (factory_ == nullptr) {
      return;
    }
    Count(NowNs(), 0, {});
    Report("send the final flag", Error(TRITONBACKEND_ResponseFactorySendFlags(
                                      factory_, TRITONSERVER_RESPONSE_COMPLETE_FINAL)));
    Delete();
  }

  /// Deletes the stream without the final flag, which a later execution of the same request sends.
  /// For requests that are scheduled again (iterative sequences).
  void Detach() {
    if (factory_ != nullptr) {
      Delete();
    }
  }

 private:
  /// Reports one response to the statistics. `output_start_ns` is 0 for an empty response.
  void Count(uint64_t start_ns, uint64_t output_start_ns, const Error& error) const {
    TRITONBACKEND_ModelInstanceResponseStatistics* statistics = nullptr;
    const Error counted = [&]() -> Error {
      NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceResponseStatisticsNew(&statistics));
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(statistics, instance_));
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(statistics, factory_));
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(statistics, start_ns));
      NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
          statistics, output_start_ns));
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(statistics, NowNs()));
      NEREID_BACKEND_TRY(
          TRITONBACKEND_ModelInstanceResponseStatisticsSetError(statistics, error.get()));
      return Error(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
    }();
    Report("count a response", counted);
    if (statistics != nullptr) {
      Report("delete statistics",
             Error(TRITONBACKEND_ModelInstanceResponseStatisticsDelete(statistics)));
    }
  }

  void Delete() {
    Report("delete a response factory",
           Error(TRITONBACKEND_ResponseFactoryDelete(std::exchange(factory_, nullptr))));
  }

  static void Report(const char* action, const Error& error) {
    if (!error.ok()) {
      NEREID_BACKEND_LOG(ERROR, std::string("cannot ") + action + ": " + error.message());
    }
  }

  TRITONBACKEND_ModelInstance* instance_ = nullptr;
  TRITONBACKEND_ResponseFactory* factory_ = nullptr;
};

}  // namespace nereid::backend
