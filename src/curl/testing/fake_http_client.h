// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "curl/http_client.h"

namespace nereid::curl::testing {

/// What a fake server does with one request.
struct FakeReply {
  HttpResponse response = {};
  /// The error behind the head and the body, as of a connection that is lost; OK: none.
  base::Status failure = {};
};

/// An HttpClient without a network: a function answers the requests, which are kept for
/// inspection. Keeps to HttpClient's contract about receivers and limits.
class FakeHttpClient final : public HttpClient {
 public:
  using Answer = std::function<FakeReply(const HttpRequest& request)>;

  /// Bodies are delivered in pieces of `piece` bytes.
  explicit FakeHttpClient(Answer answer, size_t piece = 4096)
      : answer_(std::move(answer)), piece_(piece) {}

  using HttpClient::Send;
  base::Result<HttpResponse> Send(const HttpRequest& request,
                                  const HttpReceiver& receiver) override {
    NEREID_RETURN_IF_ERROR(CheckRequest(request));
    {
      base::MutexLock lock(mutex_);
      requests_.push_back(request);
    }
    FakeReply reply = answer_(request);
    HttpResponse& response = reply.response;
    if (response.status == 0) return reply.failure;  // no connection
    for (auto& [name, value] : response.fields) {
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    NEREID_RETURN_IF_ERROR(Deliver(request, receiver, &response));
    if (!reply.failure.ok()) return reply.failure;
    return std::move(response);
  }

  /// Returns the requests so far.
  std::vector<HttpRequest> requests() const {
    base::MutexLock lock(mutex_);
    return requests_;
  }

 private:
  base::Status Deliver(const HttpRequest& request, const HttpReceiver& receiver,
                       HttpResponse* response) const {
    const std::string body = std::exchange(response->body, {});
    if (response->ok() && receiver.head) NEREID_RETURN_IF_ERROR(receiver.head(*response));
    for (size_t at = 0; at < body.size(); at += piece_) {
      if (receiver.is_cancelled && receiver.is_cancelled()) return base::Status::Cancelled("");
      const std::string piece = body.substr(at, piece_);
      if (response->ok() && receiver.body) {
        NEREID_RETURN_IF_ERROR(receiver.body(piece));
      } else {
        response->body += piece;
      }
    }
    if (response->body.size() <= request.max_body) return {};
    if (response->ok()) return base::Status::Internal("the response is too large");
    response->body.resize(request.max_body);
    return {};
  }

  const Answer answer_;
  const size_t piece_;
  mutable base::Mutex mutex_;
  std::vector<HttpRequest> requests_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::curl::testing
