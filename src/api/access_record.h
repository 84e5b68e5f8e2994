// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace nereid::api {

/// What the access log (--access-log) says about one request. A front end makes one when a request
/// begins, and none if the access log is off. The log has one line for each record, with
/// the severity INFO, whether or not such lines are enabled. Texts from clients are cut at
/// kMaxTextSize bytes.
class AccessRecord {
 public:
  static constexpr size_t kMaxTextSize = 1024;

  struct Request {
    std::string_view protocol = {};  // "http", "grpc"
    std::string_view method = {};    // of HTTP
    std::string_view path = {};      // the target, or the name of the RPC
    std::string peer = {};           // the client's address
    uint64_t start_ns = 0;           // when its first byte came, monotonic
  };
  explicit AccessRecord(Request request);
  AccessRecord(const AccessRecord&) = delete;
  AccessRecord& operator=(const AccessRecord&) = delete;

  /// Adds the model and the id of an inference request. Any thread.
  void SetTarget(std::string_view model, std::string_view request_id);
  /// Adds the trace of the request. Any thread.
  void SetTrace(std::string_view trace_id);

  // The bytes of bodies and messages, as they were on the wire. Any thread.
  void AddReceived(uint64_t bytes) { received_.fetch_add(bytes, std::memory_order_relaxed); }
  void AddSent(uint64_t bytes) { sent_.fetch_add(bytes, std::memory_order_relaxed); }

  /// Writes the line. `status` is the HTTP status or the gRPC code. Once. A line for which there is
  /// no memory is lost.
  void Write(int status, uint64_t end_ns) noexcept;

 private:
  void WriteLine(int status, uint64_t end_ns);

  const std::string_view protocol_;
  const std::string method_, path_, peer_;
  const uint64_t start_ns_;
  std::atomic<uint64_t> received_{0}, sent_{0};
  base::Mutex mutex_;
  std::string model_ NEREID_GUARDED_BY(mutex_);
  std::string request_id_ NEREID_GUARDED_BY(mutex_);
  std::string trace_id_ NEREID_GUARDED_BY(mutex_);
};

/// The status of an HTTP request whose client went away before the whole reply was written. It
/// is nginx's number; no client sees it.
inline constexpr int kClientClosedRequest = 499;

}  // namespace nereid::api
