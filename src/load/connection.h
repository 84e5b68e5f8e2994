// SPDX-License-Identifier: Apache-2.0
// One client connection, driven by the events of its socket. All of it runs in one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "load/histogram.h"
#include "load/link.h"
#include "load/target.h"

namespace nereid::load {

/// Returns nanoseconds of the monotonic clock.
uint64_t NowNs();

/// The position of a request in a sequence; id 0: no sequence.
struct Turn {
  uint64_t id = 0;
  bool start = false;
  bool end = false;
};

/// The state that all connections of a run share.
struct Run {
  Target target;
  std::string request;  // the bytes that each request sends, unless there are sequences
  int streams = 1;      // requests in flight on each gRPC connection; HTTP has one

  // The number of requests of a caller that form a sequence with its own id, and their bytes; 0: no
  // sequences.
  int sequence = 0;
  std::function<std::string(Turn turn)> make_request;
  uint64_t last_sequence_id = 0;

  // Whether the next request follows an answer on the same connection.
  bool sending = false;
  int under_way = 0;

  uint64_t window_end_ns = UINT64_MAX;  // answers after it are not counted in the window
  uint64_t answers = 0;
  uint64_t answers_in_window = 0;
  uint64_t errors = 0;
  std::string first_error;
  Histogram latencies;

  // Returns the output of the first good answer: of HTTP the body with the size of its JSON part,
  // of gRPC the message. Nothing if the answer has no such output, which is an error. Empty: the
  // answers are not read.
  std::function<std::optional<std::string>(std::string_view body, int64_t json_size)> take_output;
  bool have_output = false;
  std::string output;

  bool keeps_output() const { return take_output && !have_output; }

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
  /// Reads the output of the first answer. Returns false if there is none.
  bool KeepOutput(std::string_view body, int64_t json_size) {
    auto taken = take_output(body, json_size);
    if (!taken) return false;
    have_output = true;
    output = std::move(*taken);
    return true;
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

  /// Sends the maximum number of requests of this connection. No request may be in flight. The
  /// latency counts from `due_ns`, 0 for the present.
  virtual void Start(uint64_t due_ns = 0) = 0;
  /// Returns whether no request is in flight.
  virtual bool IsIdle() const = 0;
  /// Called when the socket may have become readable or writable (edge-triggered). Returns false if
  /// the connection has failed; its requests are counted as failed.
  virtual bool OnEvent(uint32_t epoll_events) = 0;

 protected:
  Connection(Run& run, std::unique_ptr<Link> link) : run_(run), link_(std::move(link)) {}

  Run& run_;
  const std::unique_ptr<Link> link_;
};

/// Makes a connection of the target's protocol over a link to it.
std::unique_ptr<Connection> MakeConnection(Run& run, std::unique_ptr<Link> link);

std::unique_ptr<Connection> MakeHttpConnection(Run& run, std::unique_ptr<Link> link);
std::unique_ptr<Connection> MakeGrpcConnection(Run& run, std::unique_ptr<Link> link);

}  // namespace nereid::load
