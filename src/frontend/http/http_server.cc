// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/http_server.h"

#include <utility>
#include <vector>

#include "base/threads.h"
#include "frontend/http/loop.h"

namespace nereid::frontend::http {

class HttpServer::State {
 public:
  State(HttpServerOptions options, std::shared_ptr<HttpHandler> handler)
      : options_(std::move(options)), handler_(std::move(handler)) {}

  base::Status Start();
  uint16_t port() const { return endpoint_.port(); }
  void BeginStop();
  void Stop(std::chrono::milliseconds grace);

 private:
  base::Status Listen(int count);

  HttpServerOptions options_;
  std::shared_ptr<HttpHandler> handler_;
  net::Endpoint endpoint_;
  std::vector<std::shared_ptr<Loop>> loops_;
};

base::Status HttpServer::State::Start() {
  NEREID_ASSIGN_OR_RETURN(endpoint_, net::ResolveEndpoint("HTTP", options_.address, options_.port));
  const int count = options_.threads > 0 ? options_.threads : base::AvailableCpuCount();
  const base::Status listening = Listen(count);
  if (!listening.ok()) {
    loops_.clear();
    return listening;
  }
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (const base::Status status = loops_[i]->Start(static_cast<int>(i)); !status.ok()) {
      loops_.resize(i);  // the destructor ends those that run
      return status;
    }
  }
  return base::Status::Ok();
}

base::Status HttpServer::State::Listen(int count) {
  const bool shared = count > 1 || options_.reuse_port;
  if (shared && !options_.reuse_port && options_.port != 0) {
    NEREID_RETURN_IF_ERROR(net::CheckPortIsFree(endpoint_));
  }
  for (int i = 0; i < count; ++i) {
    loops_.push_back(std::make_shared<Loop>(options_, handler_));
    NEREID_ASSIGN_OR_RETURN(endpoint_, loops_.back()->Listen(endpoint_, shared));
  }
  return base::Status::Ok();
}

void HttpServer::State::BeginStop() {
  for (const auto& loop : loops_) loop->BeginDrain();
}

void HttpServer::State::Stop(std::chrono::milliseconds grace) {
  const auto until = std::chrono::steady_clock::now() + grace;
  BeginStop();
  for (const auto& loop : loops_) {
    if (!loop->WaitEnded(until)) loop->CloseAll();
  }
  for (const auto& loop : loops_) loop->Join();
  handler_->Stop();
  loops_.clear();
}

HttpServer::HttpServer(HttpServerOptions options, std::shared_ptr<HttpHandler> handler)
    : state_(std::make_unique<State>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() { Stop(std::chrono::milliseconds{0}); }

base::Status HttpServer::Start() { return state_->Start(); }

uint16_t HttpServer::port() const { return state_->port(); }

void HttpServer::BeginStop() { state_->BeginStop(); }

void HttpServer::Stop(std::chrono::milliseconds grace) { state_->Stop(grace); }

}  // namespace nereid::frontend::http
