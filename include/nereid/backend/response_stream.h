// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "nereid/backend/batch.h"
#include "nereid/backend/error.h"
#include "nereid/backend/log.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The responses of one request of a decoupled model: any number, one at a time, from any thread,
/// also after the request is released. Whatever way the object ends, the request has been given its
/// final flag exactly once. Each response is counted in the response statistics.
///
/// The instance must outlive the stream: a plug-in that answers from threads of its own ends them
/// before its instance.
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

  /// Before the request is released. On failure the request has had no answer.
  Error Open(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request) {
    instance_ = instance;
    return Error(TRITONBACKEND_ResponseFactoryNew(&factory_, request));
  }

  /// False after the final flag.
  bool open() const { return factory_ != nullptr; }

  /// Whether nobody waits for further responses.
  bool IsCancelled() const {
    bool cancelled = false;
    return factory_ == nullptr ||
           (Error(TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled)).ok() &&
            cancelled);
  }

  /// Sends one response, into which `write(TRITONBACKEND_Response*)` writes the outputs; if that
  /// fails the response is the error. `start_ns`: when its computation began (NowNs). `last`: no
  /// other response follows.
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

  /// Sends the final flag alone, if it was not sent yet. Counts as an empty response.
  void Finish() {
    if (factory_ == nullptr) {
      return;
    }
    Count(NowNs(), 0, {});
    Report("send the final flag", Error(TRITONBACKEND_ResponseFactorySendFlags(
                                      factory_, TRITONSERVER_RESPONSE_COMPLETE_FINAL)));
    Delete();
  }

 private:
  /// `output_start_ns` 0: there is no response.
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
