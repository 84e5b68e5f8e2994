// SPDX-License-Identifier: Apache-2.0
// One client connection, driven by the events of its socket. All of it runs in one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "histogram.h"
#include "link.h"
#include "options.h"

namespace nereid::bench {

/// Returns nanoseconds of the monotonic clock.
uint64_t NowNs();

/// The state that all connections of a run share.
struct Run {
  explicit Run(const Options& o) : options(o) {}

  const Options& options;
  std::string request;  // the bytes that each request sends, unless there are sequences
  std::string tensor;   // the input in it

  uint64_t last_sequence_id = 0;

  // Whether the next request follows an answer.
  bool sending = false;
  int under_way = 0;

  uint64_t window_end_ns = 0;  // answers after it count for CPU time but not for throughput
  uint64_t answers = 0;
  uint64_t answers_in_window = 0;
  uint64_t errors = 0;
  std::string first_error;
  Histogram latencies;

  // The output of the first answer of the run.
  bool have_output = false;
  std::string output;

  /// Counts one request with a correct answer.
  void Answered(uint64_t sent_ns, uint64_t now_ns) {
    --under_way;
    ++answers;
    if (now_ns <= window_end_ns) {
      ++answers_in_window;
      latencies.Add(now_ns - sent_ns);
    }
  }
  /// Counts one request that failed.
  void Failed(const std::string& why) {
    --under_way;
    ++errors;
    if (first_error.empty()) first_error = why;
  }
  /// Keeps the output of the first answer.
  void KeepOutput(std::string bytes) {
    have_output = true;
    output = std::move(bytes);
  }
};

/// A sender of one request after the other: the same bytes each time, or sequences, each with its
/// own id.
class Caller {
 public:
  explicit Caller(Run& run);

  /// Advances to the next request.
  void Advance();
  /// Returns the bytes of the current request. Valid as long as the Caller and the Run.
  const std::string& request() const { return *request_; }

 private:
  const Run& run_;
  std::string first_;
  std::string middle_;
  std::string last_;
  int place_ = 0;
  const std::string* request_;
};

class Connection {
 public:
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return link_->fd(); }

  /// Sends the maximum number of requests of this connection. No request may be in flight.
  virtual void Start() = 0;
  /// Called when the socket may have become readable or writable (edge-triggered). Returns false if
  /// the connection has failed; its requests are counted as failed.
  virtual bool OnEvent(uint32_t epoll_events) = 0;

 protected:
  Connection(Run& run, std::unique_ptr<Link> link) : run_(run), link_(std::move(link)) {}

  Run& run_;
  const std::unique_ptr<Link> link_;
};

/// Connects to the server of the options and waits for the result, over TLS if the options say so.
/// Returns null with the reason in errno if that fails. The socket is non-blocking and has
/// TCP_NODELAY.
std::unique_ptr<Link> Connect(const Options& options);

std::unique_ptr<Connection> MakeHttpConnection(Run& run, std::unique_ptr<Link> link);
std::unique_ptr<Connection> MakeGrpcConnection(Run& run, std::unique_ptr<Link> link);

}  // namespace nereid::bench
