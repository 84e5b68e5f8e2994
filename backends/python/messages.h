// SPDX-License-Identifier: Apache-2.0
#pragma once

// The messages between the server and a worker; README.md has their layouts. The functions that
// read a worker's messages check every length and trust nothing else in them either.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python/wire.h"

namespace nereid::python {

/// Server and worker must have the same version.
inline constexpr uint32_t kProtocolVersion = 4;

/// No message on a socket is longer; a longer one is passed in a file (kFlagLong).
inline constexpr size_t kMaxMessage = size_t{64} << 10;

/// The most bytes that a message in a file may have.
inline constexpr uint64_t kMaxLongMessage = uint64_t{4} << 30;

/// Tensors of at most this size are in the message itself.
inline constexpr uint64_t kMaxInlineTensor = uint64_t{16} << 10;

enum class MessageType : uint8_t {
  // Both directions, both sockets.
  kSegment = 1,
  // To the worker.
  kBlock = 2,
  // To the worker, on the work socket.
  kComplete = 16,
  kInitialize = 17,
  kExecute = 18,
  kFinalize = 19,
  // From the worker, on the work socket.
  kHello = 32,
  kDone = 33,
  kResults = 34,
  // From the worker, on the call socket.
  kLog = 64,
  kIsCancelled = 65,
  kSend = 66,
  kAbandon = 67,
  kInfer = 68,
  kCancelInfer = 69,
  kCloseInfer = 70,
  kControl = 71,
  kReady = 72,
  kReleased = 73,
  // To the worker, on the call socket.
  kReply = 96,
  kInferResponse = 97,
  kAskReady = 98,
};

/// Flag of a header: the datagram is the header alone, with a file that has the whole message.
inline constexpr uint8_t kFlagLong = 1;

/// The first 16 bytes of each message, and the ids of segments: from the worker, those of the
/// server to which no object of the model refers any more; from the server, those that it has read.
struct MessageHeader {
  MessageType type = MessageType::kHello;
  uint8_t flags = 0;
  uint64_t id = 0;
  std::vector<uint32_t> released;
};

/// Ids of segments that the worker has made have this bit; the server's do not have it.
inline constexpr uint32_t kWorkerSegment = uint32_t{1} << 31;

/// A tensor in a message. The views are into the message.
struct WireTensor {
  uint32_t data_type = 0;
  std::string_view name;
  std::vector<int64_t> shape;
  /// The segment that has the content; 0 if the message has it.
  uint32_t segment = 0;
  /// Where the content begins, in the segment or in the message's data.
  uint64_t offset = 0;
  uint64_t size = 0;
};

enum class ResultKind : uint32_t {
  /// There is no response: senders have answered, or, of a decoupled model, will.
  kNone = 0,
  kResponse = 1,
  kError = 2,
  /// The request is to be executed again.
  kReschedule = 3,
  /// The model is not decoupled, and the request's sender answers it after the execution.
  kLater = 4,
};

/// What a worker says about one request.
struct WireResult {
  ResultKind kind = ResultKind::kNone;
  uint32_t code = 0;
  std::string_view text;
  /// A JSON object, or empty.
  std::string_view parameters;
  std::vector<WireTensor> outputs;
};

/// kResults: the end of a batch.
struct WireResults {
  /// Whether execute() as a whole has failed.
  bool failed = false;
  std::vector<WireResult> results;
  /// The content of the tensors that are in the message.
  Bytes data;
};

/// kSend.
struct WireSend {
  uint64_t request = 0;
  uint32_t flags = 0;
  WireResult result;
  Bytes data;
};

/// kInfer.
struct WireInfer {
  std::string_view model;
  int64_t version = -1;
  std::string_view request_id;
  bool text_correlation = false;
  uint64_t correlation = 0;
  std::string_view correlation_text;
  uint32_t flags = 0;
  uint64_t timeout_us = 0;
  bool decoupled = false;
  /// Where the model wants the outputs: 0 for where the called model has them, 1 for host memory,
  /// n + 2 for element n of SharedGpus().
  uint16_t memory = 0;
  /// The request of the batch whose trace is the parent; 0 if there is none.
  uint64_t trace = 0;
  std::string_view parameters;
  std::vector<std::string_view> outputs;
  std::vector<WireTensor> inputs;
  Bytes data;
};

/// kLog.
struct WireLog {
  uint32_t level = 0;
  uint32_t line = 0;
  std::string_view file;
  std::string_view text;
};

/// kControl: a function of the server with its arguments.
enum class ControlFunction : uint32_t {
  kLoadModel = 1,
  kUnloadModel = 2,
  kIsModelReady = 3,
  kNewMetricFamily = 4,
  kDeleteMetricFamily = 5,
  kNewMetric = 6,
  kDeleteMetric = 7,
  kChangeMetric = 8,
  kMetricValue = 9,
  kTraceContext = 10,
};
struct WireControl {
  ControlFunction function = ControlFunction::kLoadModel;
  std::vector<std::string_view> arguments;
};

/// kDone: the answer to kComplete, kInitialize and kFinalize.
struct WireDone {
  bool ok = false;
  std::string_view text;
  /// Of kInitialize: what the model's class has.
  bool asynchronous = false;
  bool has_is_ready = false;
};

/// Reads the header; `*body` is the rest of the message. The functions below read the body and
/// return the reason if it is malformed, otherwise nothing.
std::optional<std::string> ReadHeader(Bytes message, MessageHeader* header, Bytes* body);
std::optional<std::string> ReadResults(Bytes body, WireResults* results);
std::optional<std::string> ReadSend(Bytes body, WireSend* send);
std::optional<std::string> ReadInfer(Bytes body, WireInfer* infer);
std::optional<std::string> ReadLog(Bytes body, WireLog* log);
std::optional<std::string> ReadControl(Bytes body, WireControl* control);
std::optional<std::string> ReadDone(Bytes body, WireDone* done);

/// Writes a header.
void WriteHeader(WireWriter* out, MessageType type, uint64_t id,
                 const std::vector<uint32_t>& released);

/// Writes a tensor without its content.
void WriteTensor(WireWriter* out, const WireTensor& tensor);

/// The content of a tensor in a message; empty and false if it is out of the message's bounds.
bool FindInline(const WireTensor& tensor, Bytes data, Bytes* content);

}  // namespace nereid::python
