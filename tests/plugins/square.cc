// SPDX-License-Identifier: Apache-2.0
// A decoupled backend: the INT32 IN [1] of value N has N responses, each of them OUT [1] of value
// N; none for 0. The final flag is sent separately. Another thread sends the responses, after the
// request is released.
#include <utility>

#include "decoupled_instance.h"

namespace nereid::test_plugins {
namespace {

class SquareInstance {
 public:
  explicit SquareInstance(const DecoupledModel*) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    const uint64_t start_ns = backend::NowNs();
    for (uint32_t i = 0; i < count; ++i) {
      Start(instance, requests[i], start_ns);
    }
    const uint64_t now = backend::NowNs();
    LogFailure("count the execution", TRITONBACKEND_ModelInstanceReportBatchStatistics(
                                          instance, count, start_ns, start_ns, now, now));
  }

 private:
  void Start(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
             uint64_t start_ns) {
    std::vector<int32_t> input;
    backend::ResponseStream stream;
    Error error = stream.Open(instance, request);
    if (error.ok()) {
      error = backend::Catching(
          [&] { return ReadElements(request, "IN", TRITONSERVER_TYPE_INT32, &input); });
    }
    if (error.ok() && (input.size() != 1 || input[0] < 0)) {
      error = Error::InvalidArgument("expected one element of IN that is at least 0");
    }
    CountAndRelease(instance, request, error.ok(), start_ns);
    if (!error.ok()) {
      stream.Fail(error);
      return;
    }
    threads_.Run([value = input[0], shared = std::make_shared<backend::ResponseStream>(
                                        std::move(stream))] { Send(value, shared.get()); });
  }

  static void Send(int32_t value, backend::ResponseStream* stream) {
    for (int32_t i = 0; i < value; ++i) {
      if (stream->IsCancelled()) {
        return stream->Fail(Error(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled"));
      }
      const Error sent =
          stream->Send(backend::NowNs(), false, [value](TRITONBACKEND_Response* response) {
            return WriteElement(response, "OUT", TRITONSERVER_TYPE_INT32, value);
          });
      if (!sent.ok()) {
        return stream->Fail(sent);
      }
    }
    stream->Finish();
  }

  SenderThreads threads_;  // ends before the instance does
};

}  // namespace
}  // namespace nereid::test_plugins

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::test_plugins::DecoupledModel,
                      nereid::test_plugins::SquareInstance);
