// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/grpc_server.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "frontend/grpc/event_loop.h"
#include "frontend/grpc/protobuf_log.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

class GrpcServer::State {
 public:
  State(GrpcOptions options, api::InferenceService& service)
      : context_{.options = std::move(options), .service = service} {}

  base::Status Start() {
    TakeOverProtobufLog();
    const GrpcOptions& options = context_.options;
    NEREID_ASSIGN_OR_RETURN(net::Endpoint endpoint,
                            net::ResolveEndpoint("gRPC", options.address, options.port));
    if (options.port != 0 && !options.reuse_port) {
      NEREID_RETURN_IF_ERROR(net::CheckPortIsFree(endpoint));
    }
    const int count = options.loops > 0 ? options.loops : base::AvailableCpuCount();
    for (int i = 0; i < count; ++i) {
      auto loop = std::make_unique<EventLoop>(context_, [this] { LoopDrained(); });
      NEREID_ASSIGN_OR_RETURN(endpoint, loop->Listen(endpoint));
      loops_.push_back(std::move(loop));
    }
    port_ = endpoint.port();
    for (size_t i = 0; i < loops_.size(); ++i) {
      auto thread =
          base::StartThread("grpc-" + std::to_string(i), [loop = loops_[i].get()] { loop->Run(); });
      if (!thread.ok()) {
        loops_.resize(i);  // the destructor ends those that run
        return thread.status();
      }
      threads_.push_back(std::move(thread).value());
    }
    return base::Status::Ok();
  }

  void BeginStop() {
    if (threads_.empty() || context_.stopping.exchange(true)) return;
    for (const auto& loop : loops_) loop->Shutdown();
  }

  void Stop(uint64_t timeout_ms) {
    if (threads_.empty()) return;
    BeginStop();
    {
      std::unique_lock lock(mutex_);
      drained_changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                [this] { return drained_ >= loops_.size(); });
    }
    for (const auto& loop : loops_) loop->Stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    context_.workers.Stop();
    context_.queries.Stop();
    context_.detours->Stop();
    loops_.clear();
  }

  uint16_t port() const { return port_; }

 private:
  void LoopDrained() {
    const std::lock_guard lock(mutex_);
    ++drained_;
    drained_changed_.notify_all();
  }

  ServerContext context_;
  uint16_t port_ = 0;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable drained_changed_;
  size_t drained_ = 0;  // guarded by mutex_
};

GrpcServer::GrpcServer(GrpcOptions options, api::InferenceService& service)
    : state_(std::make_unique<State>(std::move(options), service)) {}
GrpcServer::~GrpcServer() { state_->Stop(0); }
base::Status GrpcServer::Start() { return state_->Start(); }
uint16_t GrpcServer::port() const { return state_->port(); }
void GrpcServer::BeginStop() { state_->BeginStop(); }
void GrpcServer::Stop(uint64_t timeout_ms) { state_->Stop(timeout_ms); }

}  // namespace nereid::frontend::grpc
