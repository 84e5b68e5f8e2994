// SPDX-License-Identifier: Apache-2.0
// A backend with several responses to a request that obeys or violates the rules as the request
// selects, for tests of the server's reaction. Each response copies INPUT0 to OUTPUT0. The
// request's parameters:
//
//   fault   (none)       `count` responses, then the final flag
//           error_last   `count` responses, then an error as the last one
//           error_middle `count` responses, an error that is not the last response, one response,
//                        the final flag
//           after_final  `count` responses, the final flag, another response, the final flag again
//           never        `count` responses; no final flag
//           threads      `count` responses from each of four threads at once, then the final flag
//           gone         `count` responses; when the client has gone, one more and the final flag
//           deaf         `count` responses as fast as possible, also after the client has gone
//           inside       `count` responses and the final flag inside Execute, so that the instance
//                        executes nothing else
//   count   (1)          number of responses
//   sleep   (0)          milliseconds for which Execute sleeps first
//
// Except with `inside`, another thread sends the responses, after the request is released. Except
// with `deaf` and `gone`, it stops when the client has gone.
#include <utility>

#include "decoupled_instance.h"

namespace nereid::test_plugins {
namespace {

struct FaultyModel {
  explicit FaultyModel(backend::NoBackendState*) {}
  Error Load(TRITONBACKEND_Model*) { return {}; }
};

struct Order {
  std::string fault;
  int64_t count = 1;
  int64_t sleep_ms = 0;
  std::vector<char> data;
  std::vector<int64_t> shape;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
};

Error Read(TRITONBACKEND_Request* request, Order* order) {
  uint32_t parameters = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(request, &parameters));
  for (uint32_t i = 0; i < parameters; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (std::strcmp(key, "fault") == 0 && type == TRITONSERVER_PARAMETER_STRING) {
      order->fault = static_cast<const char*>(value);
    }
    if (std::strcmp(key, "count") == 0 && type == TRITONSERVER_PARAMETER_INT) {
      order->count = *static_cast<const int64_t*>(value);
    }
    if (std::strcmp(key, "sleep") == 0 && type == TRITONSERVER_PARAMETER_INT) {
      order->sleep_ms = *static_cast<const int64_t*>(value);
    }
  }
  backend::Input input;
  NEREID_BACKEND_TRY(backend::FindInput(request, "INPUT0", &input));
  order->data.resize(input.byte_size);
  order->shape.assign(input.shape.begin(), input.shape.end());
  order->data_type = input.data_type;
  return backend::CopyInput(input, order->data.data());
}

/// Sends the responses of an order with the plain C functions, because a ResponseStream obeys the
/// rules.
class Sender {
 public:
  Sender(TRITONBACKEND_ResponseFactory* factory, Order order)
      : factory_(factory), order_(std::move(order)) {}
  ~Sender() { LogFailure("delete a factory", TRITONBACKEND_ResponseFactoryDelete(factory_)); }

  void Run() {
    const std::string& fault = order_.fault;
    if (fault == "threads") {
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([this] { SendMany(); });
      }
      for (std::thread& thread : threads) {
        thread.join();
      }
      return SendFinal();
    }
    SendMany();
    if (fault == "never") {
      return;
    }
    if (fault == "error_last") {
      return SendOne(TRITONSERVER_RESPONSE_COMPLETE_FINAL, Error::Internal("as asked"));
    }
    if (fault == "error_middle") {
      SendOne(0, Error::Internal("as asked"));
      SendOne(0, {});
    }
    if (fault == "gone") {
      while (!IsCancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      SendOne(0, {});
    }
    SendFinal();
    if (fault == "after_final") {
      SendOne(0, {});
      SendFinal();
    }
  }

 private:
  void SendMany() {
    const bool deaf = order_.fault == "deaf" || order_.fault == "gone";
    for (int64_t i = 0; i < order_.count && (deaf || !IsCancelled()); ++i) {
      SendOne(0, {});
    }
  }

  void SendOne(uint32_t flags, const Error& failure) {
    TRITONBACKEND_Response* response = nullptr;
    if (const Error made(TRITONBACKEND_ResponseNewFromFactory(&response, factory_)); !made.ok()) {
      return LogFailure("make a response", nullptr);
    }
    Error error;
    if (failure.ok()) {
      error = backend::WriteOutput(response, "OUTPUT0", order_.data_type, order_.shape,
                                   order_.data.data(), order_.data.size());
    }
    LogFailure("send a response", TRITONBACKEND_ResponseSend(
                                      response, flags, failure.ok() ? error.get() : failure.get()));
  }

  void SendFinal() {
    LogFailure("send the final flag", TRITONBACKEND_ResponseFactorySendFlags(
                                          factory_, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  }

  bool IsCancelled() {
    bool cancelled = false;
    LogFailure("ask", TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled));
    return cancelled;
  }

  TRITONBACKEND_ResponseFactory* const factory_;
  const Order order_;
};

class FaultyInstance {
 public:
  explicit FaultyInstance(const FaultyModel*) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    const uint64_t start_ns = backend::NowNs();
    for (uint32_t i = 0; i < count; ++i) {
      Order order;
      TRITONBACKEND_ResponseFactory* factory = nullptr;
      Error error(TRITONBACKEND_ResponseFactoryNew(&factory, requests[i]));
      if (error.ok()) {
        error = Read(requests[i], &order);
      }
      if (order.sleep_ms > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(order.sleep_ms));
      }
      CountAndRelease(instance, requests[i], error.ok(), start_ns);
      if (factory == nullptr) {
        continue;
      }
      const bool inside = order.fault == "inside";
      auto sender = std::make_shared<Sender>(factory, std::move(order));
      if (inside) {
        sender->Run();
      } else {
        threads_.Run([sender] { sender->Run(); });
      }
    }
  }

 private:
  SenderThreads threads_;  // ends before the instance does
};

}  // namespace
}  // namespace nereid::test_plugins

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::test_plugins::FaultyModel,
                      nereid::test_plugins::FaultyInstance);
