// SPDX-License-Identifier: Apache-2.0
// A decoupled backend: returns the elements of a tensor, one in each response.
//
//   IN     INT32 [n]    OUT of response i is IN[i], IDX is i
//   DELAY  UINT32 [n]   milliseconds before response i
//   WAIT   UINT32 [1]   milliseconds for which Execute holds its instance
//   OUT    INT32 [1]
//   IDX    UINT32 [1]
//
// Another thread sends the responses, in parallel with those of other requests, and with a short
// WAIT after the request is released. The final flag is sent separately after the last response;
// with the model's parameter `final_with_last` "true" it is sent with the last response, if there
// is one.
#include <utility>

#include "decoupled_instance.h"

namespace nereid::test_plugins {
namespace {

struct RepeatModel : DecoupledModel {
  using DecoupledModel::DecoupledModel;

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(DecoupledModel::Load(model));
    return config.parameters.ReadBool("final_with_last", &final_with_last);
  }

  bool final_with_last = false;
};

struct Repetition {
  std::vector<int32_t> values;
  std::vector<uint32_t> delays;
  uint32_t wait_ms = 0;
};

Error Read(TRITONBACKEND_Request* request, Repetition* repetition) {
  std::vector<uint32_t> wait;
  NEREID_BACKEND_TRY(ReadElements(request, "IN", TRITONSERVER_TYPE_INT32, &repetition->values));
  NEREID_BACKEND_TRY(ReadElements(request, "DELAY", TRITONSERVER_TYPE_UINT32, &repetition->delays));
  NEREID_BACKEND_TRY(ReadElements(request, "WAIT", TRITONSERVER_TYPE_UINT32, &wait));
  if (repetition->values.size() != repetition->delays.size() || wait.size() != 1) {
    return Error::InvalidArgument(
        "expected IN and DELAY of the same size and one element of WAIT, got " +
        std::to_string(repetition->values.size()) + ", " +
        std::to_string(repetition->delays.size()) + " and " + std::to_string(wait.size()));
  }
  repetition->wait_ms = wait[0];
  return {};
}

class RepeatInstance {
 public:
  explicit RepeatInstance(const RepeatModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    const uint64_t start_ns = backend::NowNs();
    std::chrono::milliseconds longest_wait{0};
    for (uint32_t i = 0; i < count; ++i) {
      const auto wait = Start(instance, requests[i], start_ns);
      longest_wait = std::max(longest_wait, wait);
    }
    const uint64_t now = backend::NowNs();
    LogFailure("count the execution", TRITONBACKEND_ModelInstanceReportBatchStatistics(
                                          instance, count, start_ns, start_ns, now, now));
    std::this_thread::sleep_for(longest_wait);
  }

 private:
  /// Returns how long Execute has to wait.
  std::chrono::milliseconds Start(TRITONBACKEND_ModelInstance* instance,
                                  TRITONBACKEND_Request* request, uint64_t start_ns) {
    Repetition repetition;
    backend::ResponseStream stream;
    Error error = stream.Open(instance, request);
    if (error.ok()) {
      error = backend::Catching([&] { return Read(request, &repetition); });
    }
    CountAndRelease(instance, request, error.ok(), start_ns);
    if (!error.ok()) {
      stream.Fail(error);
      return {};
    }
    const std::chrono::milliseconds wait(repetition.wait_ms);
    threads_.Run([this, repetition = std::move(repetition),
                  shared = std::make_shared<backend::ResponseStream>(std::move(stream))] {
      Send(repetition, shared.get());
    });
    return wait;
  }

  void Send(const Repetition& repetition, backend::ResponseStream* stream) const {
    const size_t count = repetition.values.size();
    for (size_t i = 0; i < count; ++i) {
      const uint64_t start_ns = backend::NowNs();
      const std::chrono::milliseconds delay(repetition.delays[i]);
      if (delay.count() > 0 && !WaitFor(delay, *stream)) {
        stream->Fail(Error(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled"));
        return;
      }
      const bool last = model_.final_with_last && i + 1 == count;
      const Error sent = stream->Send(start_ns, last, [&](TRITONBACKEND_Response* response) {
        NEREID_BACKEND_TRY(
            WriteElement(response, "OUT", TRITONSERVER_TYPE_INT32, repetition.values[i]));
        return WriteElement(response, "IDX", TRITONSERVER_TYPE_UINT32, static_cast<uint32_t>(i));
      });
      if (!sent.ok()) {
        return stream->Fail(sent);
      }
    }
    stream->Finish();
  }

  const RepeatModel& model_;
  SenderThreads threads_;  // ends before the instance does
};

}  // namespace
}  // namespace nereid::test_plugins

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::test_plugins::RepeatModel,
                      nereid::test_plugins::RepeatInstance);
