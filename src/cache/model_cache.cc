// SPDX-License-Identifier: Apache-2.0
#include "cache/model_cache.h"

#include <cstring>
#include <utility>

#include "base/log.h"
#include "cache/request_key.h"
#include "cache/response_blob.h"
#include "memory/gpu/copy.h"
#include "memory/host_buffer.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "schedule/response_order.h"

namespace nereid::cache {

using base::Status;
using request::InferenceRequest;
using request::InferenceResponse;
using schedule::RequestPtr;
using schedule::RequestTarget;

namespace {

/// Inputs up to this size are hashed on the calling thread, which takes less than a millisecond. An
/// event loop should not be held longer.
constexpr uint64_t kHashedHereBytes = uint64_t{512} << 10;

/// The number of requests in in_order_ beyond which further ones are not looked up.
constexpr size_t kMaxInOrder = 64;

/// Keys have a prefix because a shared store may hold other programs' keys.
std::string KeyText(const Digest& digest) { return "nereid:" + ToHex(digest); }

Status CopyOutput(const StoredOutput& stored, InferenceResponse& response) {
  NEREID_ASSIGN_OR_RETURN(request::Output * output,
                          response.AddOutput(stored.name, stored.type, stored.shape));
  auto type = memory::MemoryType::kCpu;
  int64_t id = 0;
  NEREID_RETURN_IF_ERROR(response.AllocateOutput(output, stored.data.size(), &type, &id));
  if (output->data == nullptr && !stored.data.empty()) {
    return Status::Internal("output '" + output->name + "' got no buffer");
  }
  return memory::CopyBytes({output->data, type, id}, {stored.data.data()}, stored.data.size());
}

/// Sends the response and releases the request.
void Answer(RequestPtr request, std::unique_ptr<InferenceResponse> response) {
  request->response_factory()->Send(std::move(response), true);
  request::ReleaseRequest(std::move(request));
}

}  // namespace

Status ModelCache::Enqueue(RequestPtr& request, const Digest& fingerprint, const Target& target) {
  request->StampQueueStart(clock_.NowNs());
  if (LooksUpHere(*request, *target)) return Serve(request, fingerprint, *target);
  if (LookUpElsewhere(request, fingerprint, target)) return Status::Ok();
  return target->Enqueue(request);  // the cache is busy: the model answers
}

bool ModelCache::LooksUpHere(const InferenceRequest& request, const RequestTarget& target) const {
  if (cache_.blocks()) return false;
  // A front end sets may_run_inline if its thread is an event loop.
  if (!request.may_run_inline || request.inputs().ByteSize() <= kHashedHereBytes) return true;
  // With ordered responses, a small request must not overtake a large one that is on its way to a
  // thread.
  return target.response_order() != nullptr;
}

bool ModelCache::LookUpElsewhere(RequestPtr& request, const Digest& fingerprint,
                                 const Target& target) {
  pending_.fetch_add(1, std::memory_order_relaxed);
  // The model must not run on the cache's thread, where long work delays other look-ups.
  const bool inline_before = std::exchange(request->may_run_inline, false);
  if (target->response_order() != nullptr) {
    LookUpInOrder(std::move(request), fingerprint, target);
    return true;
  }
  // Shared, because std::function must be copyable.
  auto waiting = std::make_shared<Waiting>(Waiting{std::move(request), fingerprint, target});
  if (cache_.PostLookup([this, waiting] { ServeAccepted(std::move(*waiting)); })) return true;
  request = std::move(waiting->request);
  pending_.fetch_sub(1, std::memory_order_relaxed);
  request->may_run_inline = inline_before;
  return false;
}

void ModelCache::LookUpInOrder(RequestPtr request, const Digest& fingerprint,
                               const Target& target) {
  const std::shared_ptr<const request::ModelIdentity> model = request->model();
  {
    const base::MutexLock lock(order_mutex_);
    // Every request keeps its place in the order. If many wait, the later ones skip their look-up.
    const bool look_up = in_order_.size() < kMaxInOrder;
    in_order_.push_back({std::move(request), fingerprint, target, look_up});
    // One thread at a time serves the queue: the one that finds serving_ false. It continues until
    // the queue is empty, so this request is served even if its own thread returns here.
    if (std::exchange(serving_, true)) return;
  }
  // If the cache's threads have too much work, this thread serves the queue without look-ups.
  // The task owns `model`, and with it this object: the requests may be gone before the task ends.
  if (!cache_.PostLookup([this, model] { ServeInOrder(true); })) ServeInOrder(false);
}

void ModelCache::ServeInOrder(bool look_up) {
  for (;;) {
    Waiting next;
    {
      const base::MutexLock lock(order_mutex_);
      if (in_order_.empty()) {
        // Set under the lock that protects the queue: a request that is added afterwards finds it
        // false and starts a new server of the queue.
        serving_ = false;
        return;
      }
      next = std::move(in_order_.front());
      in_order_.pop_front();
    }
    next.look_up = next.look_up && look_up;
    ServeAccepted(std::move(next));
  }
}

void ModelCache::ServeAccepted(Waiting waiting) {
  // Keeps the model, which owns this object, alive until the end of the function.
  const std::shared_ptr<const request::ModelIdentity> model = waiting.request->model();
  pending_.fetch_sub(1, std::memory_order_relaxed);
  Status status = waiting.look_up ? Serve(waiting.request, waiting.fingerprint, *waiting.target)
                                  : waiting.target->Enqueue(waiting.request);
  if (!status.ok()) request::RefuseRequest(std::move(waiting.request), std::move(status));
}

Status ModelCache::Serve(RequestPtr& request, const Digest& fingerprint, RequestTarget& target) {
  const uint64_t start_ns = clock_.NowNs();
  const auto digest = ComputeRequestKey(*request, fingerprint);
  // Not cacheable; neither a hit nor a miss is counted.
  if (!digest) return target.Enqueue(request);
  std::unique_ptr<InferenceResponse> response = LookUp(*request, *digest);
  const uint64_t end_ns = clock_.NowNs();
  request::ResponseFactory& factory = *request->response_factory();
  if (response != nullptr) {
    observer_.OnHit(*request, start_ns, end_ns);
    // The hit takes its place before it is sent, so it waits for earlier misses.
    if (const auto order = target.response_order()) order->Reserve(factory);
    Answer(std::move(request), std::move(response));
    return Status::Ok();
  }
  // If the model orders its responses, the scheduler wraps this sink once more: a response is then
  // stored when its turn to be sent has come.
  const std::shared_ptr<request::ResponseSink> direct = factory.shared_sink();
  MissedResponses& responses = *this;
  factory.WrapSink(std::make_shared<CachingSink>(direct, responses, request->model(), *digest,
                                                 end_ns - start_ns));
  Status status = target.Enqueue(request);
  // The request was refused and belongs to the caller again; an error that it sends must not be
  // stored.
  if (!status.ok()) request->response_factory()->WrapSink(direct);
  return status;
}

std::unique_ptr<InferenceResponse> ModelCache::LookUp(const InferenceRequest& request,
                                                      const Digest& digest) {
  std::unique_ptr<InferenceResponse> response;
  const std::string key = KeyText(digest);
  const Status status = cache_.Lookup(key, [&](std::span<const char> blob) -> Status {
    const auto stored = DecodeResponse({blob.data(), blob.size()}, digest);
    if (!stored) return Status::Internal("the stored entry is not a response to this request");
    NEREID_ASSIGN_OR_RETURN(auto made, request.response_factory()->NewResponse());
    for (const StoredOutput& output : stored->outputs) {
      NEREID_RETURN_IF_ERROR(CopyOutput(output, *made));
    }
    made->parameters() = stored->parameters;
    response = std::move(made);
    return Status::Ok();
  });
  if (status.ok()) return response;
  if (status.code() != base::StatusCode::kNotFound) {
    LogFailure("Failed to look up key [" + key + "] in response cache: " + status.message());
  }
  return nullptr;
}

void ModelCache::Store(const InferenceResponse& response,
                       const std::shared_ptr<const request::ModelIdentity>& model,
                       const Digest& digest, uint64_t lookup_ns) {
  const auto size = EncodedSize(response);
  if (!size) {
    observer_.OnMiss(lookup_ns);
    return;
  }
  if (!cache_.blocks()) {
    Insert(digest, *size, lookup_ns, [&](std::span<char> out) {
      EncodeResponse(response, digest, out);
      return Status::Ok();
    });
    return;
  }
  // The response must not wait for the cache, so a copy of it is stored.
  auto blob = std::make_shared<memory::HostBuffer>(memory::HostBuffer::Allocate(*size));
  if (*blob) {
    EncodeResponse(response, digest, {blob->data(), *size});
    const bool posted = cache_.PostInsert(*size, [this, model, blob, digest, lookup_ns] {
      Insert(digest, blob->size(), lookup_ns, [&](std::span<char> out) {
        std::memcpy(out.data(), blob->data(), out.size());
        return Status::Ok();
      });
    });
    if (posted) return;
    LogFailure("the response cache is too slow: a response of " + std::to_string(*size) +
               " bytes is not stored");
  }
  observer_.OnMiss(lookup_ns);
}

void ModelCache::Insert(const Digest& digest, size_t size, uint64_t lookup_ns,
                        const std::function<Status(std::span<char>)>& write) {
  const uint64_t start_ns = clock_.NowNs();
  const std::string key = KeyText(digest);
  const Status status = cache_.Insert(key, size, write);
  observer_.OnMiss(lookup_ns + (clock_.NowNs() - start_ns));
  if (!status.ok() && status.code() != base::StatusCode::kAlreadyExists) {
    LogFailure("Failed to insert key [" + key + "] into response cache: " + status.message());
  }
}

void ModelCache::LogFailure(const std::string& text) {
  uint64_t left_out = 0;
  if (!throttle_.Admit(clock_.NowNs(), &left_out)) return;
  LOG_ERROR << text
            << (left_out == 0 ? std::string()
                              : " (and " + std::to_string(left_out) + " similar lines suppressed)");
}

}  // namespace nereid::cache
