// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/connection.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "frontend/http/exchange_steps.h"
#include "frontend/http/http2_stream.h"
#include "frontend/http/reply_body.h"

namespace nereid::frontend::http {
namespace {

/// How much one connection may read before the other connections of its loop have a turn: bytes
/// that are received into their place, and how many of these a byte counts for that is parsed.
constexpr size_t kMaxReadPerTurn = size_t{2} << 20;
constexpr size_t kCostOfParsing = 12;
/// How many bytes one connection may write before the other connections have a turn.
constexpr size_t kMaxWrittenPerTurn = size_t{2} << 20;
/// After a body above the first size, a client is likely to send another one: then no more is read
/// than a head usually has, so that the body is received into its place.
constexpr size_t kLargeBody = size_t{256} << 10;
constexpr size_t kRoomForHead = size_t{2} << 10;
/// How many requests that were sent ahead one connection may begin in a turn.
constexpr int kMaxAheadPerTurn = 16;
/// How often the kernel asks whether the host of a client that has finished sending still exists.
constexpr std::chrono::seconds kProbeInterval{15};

/// Finds out once who the client is, if that is asked for. Not before the first request: TLS knows
/// the client only after the handshake.
void IdentifyPeer(const HttpServerOptions& options, const net::ByteStream& client,
                  ReceivedRequest* request) {
  if (options.identifies_peers && !request->peer) request->peer = client.peer();
}

/// Sends "100 Continue". What does not fit goes out before the reply. The client then waits for it
/// in vain, and sends its body after a while (RFC 9110, section 10.1.1). A loss is found again by
/// reading, and by the reply.
void SendContinue(ReplyWriter* writer, net::OutQueue* unsent, net::ByteStream& client) {
  writer->AddContinue();
  (void)unsent->Write(client);
}

/// Reads what the client has sent. A descriptor that comes with it belongs to the request that is
/// being received. One that comes while an earlier request is answered is closed, so a client must
/// wait for a reply before it sends the next descriptor.
net::ByteStream::Outcome ReadFrom(net::ByteStream& client, std::span<char> room,
                                  const HttpServerOptions& options, ConnectionState state,
                                  ReceivedRequest* request) {
  const net::ByteStream::Outcome got = client.Read(room);
  if (options.receives_descriptors) {
    net::Socket sent = client.TakeDescriptor();
    if (sent.is_open() && !HasExchange(state)) request->descriptor = std::move(sent);
  }
  return got;
}

}  // namespace

Connection::Connection(std::shared_ptr<LoopServices> loop, std::unique_ptr<net::ByteStream> client)
    : loop_(std::move(loop)),
      client_(std::move(client)),
      exchange_(*this, *loop_),
      reader_(
          loop_->options(), base::SteadyClock(), &exchange_.request(),
          [this](size_t size) {
            IdentifyPeer(loop_->options(), *client_, &exchange_.request());
            return loop_->handler().TakeBodyMemory(exchange_, size);
          },
          [this] {
            IdentifyPeer(loop_->options(), *client_, &exchange_.request());
            return loop_->handler().LimitBody(exchange_);
          }) {}

// A client connects because it has something to ask. One that never does must not hold a descriptor
// for as long as one that keeps its connection for further requests.
void Connection::Start() {
  deadline_.SetTimeout(loop_->tick(), loop_->timeouts().head);
  if (loop_->options().receives_descriptors) client_->ReceiveDescriptors();
  if (!client_->Open(*this)) Close();
}

void Connection::CheckTimeout(uint64_t tick) {
  if (deadline_.HasPassed(tick)) return Close();
  if (!probe_.HasPassed(tick)) return;
  // A probe is something that clients have to ignore. Before the reply that is another "100
  // Continue" (RFC 9110, section 15.2), which HTTP/1.0 does not know; within a streamed reply it is
  // a piece that the handler has named.
  probe_.Clear();
  if (state_ == State::kAnswering && !exchange_.head().is_http_1_0) {
    SendContinue(&writer_, &unsent_, *client_);
  }
  if (state_ == State::kStreaming) exchange_.ProbeStream();
}

void Connection::BeginDrain() {
  const bool is_first_call = !std::exchange(close_after_reply_, true);
  if (HasExchange(state_) || state_ == State::kLingering) return;
  // A whole request may have arrived that the loop has not read yet: closing now would lose it. The
  // turns suffice for everything that the kernel's buffer of a socket holds.
  {
    constexpr int kTurns = 8;
    const LoopServices::DispatchScope scope(*loop_);
    for (int turn = 0; turn < kTurns && !HasExchange(state_); ++turn) Receive();
  }
  if (HasExchange(state_) || state_ == State::kLingering || turn_is_posted_) return;
  // The rest of half a request may never come. The first request of a new client is on its way.
  if (!is_first_call || !preface_.is_open()) Close();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  const bool in_use = state_ == State::kAnswering;
  state_ = State::kClosed;
  deadline_.Clear();
  exchange_.Disconnect(in_use);
  exchange_.Free(reader_.Drop());
  unsent_.Clear();
  if (client_ != nullptr) client_->Close();
  loop_->Remove(*this);
}

// ---- Clients that have finished sending ----

// A client that closes its socket sends the same FIN as one that only has nothing more to say, so
// the requests go on. The system of a client that has closed answers with a reset to whatever it
// gets: to the reply, or before that to a probe.
bool Connection::OnNoInput(net::ByteStream::State state) {
  if (state == net::ByteStream::State::kLost) Close();
  if (state != net::ByteStream::State::kEnded) return false;
  end_of_input_ = true;
  if (HasExchange(state_)) {
    WatchForLoss();
  } else if (!turn_is_posted_) {
    Close();
  }
  return false;
}

void Connection::WatchForLoss() {
  if (state_ == State::kClosed) return;
  probe_.Set(loop_->tick(), loop_->timeouts().half_closed);
  client_->ProbePeer(kProbeInterval);
}

void Connection::OnLost() noexcept { Close(); }

// ---- Reading ----

// A client that has finished sending, or that is far ahead, is not read. The stream then reports by
// OnLost() that it has gone.
void Connection::WaitReadable() {
  if (state_ != State::kClosed) client_->SetReading(!end_of_input_ && !reader_.IsFarAhead());
}

void Connection::OnReadable() noexcept {
  const std::shared_ptr<Connection> self = shared_from_this();
  taken_ahead_ = 0;
  // Replies that are complete by then go out before the connection reads on.
  loop_->Serve(*this, [this] { Receive(); });
  WaitReadable();
}

void Connection::Receive() {
  size_t left = kMaxReadPerTurn;
  while (left != 0 && state_ != State::kClosed && !end_of_input_ && !reader_.IsFarAhead()) {
    const bool is_body = state_ == State::kReading && reader_.WantsBody();
    if (!(is_body ? ReceiveBody(&left) : ReceiveInput(&left))) return;
  }
}

/// Receives straight into the buffer that the inputs of the request will view. Returns whether to
/// go on: a body is large, and there may be more of it by now.
bool Connection::ReceiveBody(size_t* left) {
  std::span<char> room;
  if (const auto result = reader_.MakeBodyRoom(*left, &room);
      result == RequestReader::Result::kRefused) {
    OnRead(result);
    return false;
  }
  const net::ByteStream::Outcome got =
      ReadFrom(*client_, room, loop_->options(), state_, &exchange_.request());
  if (got.size == 0) return OnNoInput(got.state);
  *left -= got.size;
  const RequestReader::Result result = reader_.AddBody(got.size);
  OnRead(result);
  return result == RequestReader::Result::kNeedsInput;
}

/// Receives into the loop's scratch memory, because it is not known yet what comes. Returns whether
/// to go on.
bool Connection::ReceiveInput(size_t* left) {
  std::span<char> scratch = loop_->scratch();
  if (had_large_body_) scratch = scratch.first(std::min(scratch.size(), kRoomForHead));
  const net::ByteStream::Outcome got =
      ReadFrom(*client_, scratch, loop_->options(), state_, &exchange_.request());
  if (got.size == 0) return OnNoInput(got.state);
  *left -= std::min(*left, got.size * kCostOfParsing);
  if (state_ == State::kLingering) return true;
  std::string_view input(scratch.data(), got.size);
  if (preface_.is_open()) {
    switch (preface_.Match(&input)) {
      case PrefaceMatcher::Result::kPart:
        return false;
      case PrefaceMatcher::Result::kWhole:
        ServeHttp2(loop_, *this, std::move(client_), input);
        state_ = State::kClosed;
        return false;
      case PrefaceMatcher::Result::kNone:
        reader_.Keep(preface_.matched());
    }
  }
  Read(input);
  // A short read has emptied the socket: the next call would only say so.
  return got.size == scratch.size() || (state_ == State::kReading && reader_.WantsBody());
}

void Connection::Read(std::string_view input) {
  if (HasExchange(state_)) return reader_.Keep(input);
  if (reader_.IsIdle()) {
    exchange_.request().receive_start_ns = loop_->WantsTimes() ? base::SteadyClock().NowNs() : 0;
  }
  OnRead(reader_.Read(input));
}

/// Begins the next of the requests that the client has sent ahead.
void Connection::ReadAhead() {
  if (reader_.has_kept()) {
    if (++taken_ahead_ > kMaxAheadPerTurn) {
      turn_is_posted_ = true;
      return loop_->event_loop().Post(turn_, shared_from_this());
    }
    Read({});
  }
  if (!end_of_input_ || state_ == State::kClosed) return;
  if (HasExchange(state_)) return WatchForLoss();
  Close();
}

/// Goes on with the requests that were sent ahead, after the other connections had their turns.
void Connection::OnTurn() noexcept {
  turn_is_posted_ = false;
  taken_ahead_ = 0;
  loop_->Serve(*this, [this] {
    if (state_ == State::kReading) {
      ReadAhead();
    } else if (end_of_input_ && !HasExchange(state_)) {
      Close();
    }
  });
  if (loop_->draining() && !HasExchange(state_) && !turn_is_posted_) Close();
  WaitReadable();
}

void Connection::OnRead(RequestReader::Result result) {
  switch (result) {
    case RequestReader::Result::kNeedsInput:
      if (reader_.TakeLargeBody()) {
        IdentifyPeer(loop_->options(), *client_, &exchange_.request());
        if (!loop_->handler().MayReceiveBody(exchange_)) break;
      }
      if (reader_.TakeContinueWish()) SendContinue(&writer_, &unsent_, *client_);
      if (reader_.TakeProgress()) {
        const TimeoutTicks& timeouts = loop_->timeouts();
        deadline_.SetTimeout(loop_->tick(), reader_.IsInHead() ? timeouts.head : timeouts.stall);
      }
      return;
    case RequestReader::Result::kComplete:
      return Dispatch();
    case RequestReader::Result::kRefused:
      exchange_.reply().SetError(reader_.refusal().status, "application/json",
                                 reader_.refusal().text);
  }
  // The request is not read to its end: its reply is sent, and the connection is closed.
  exchange_.Free(reader_.Drop());
  state_ = State::kAnswering;
  close_after_reply_ = true;
  refused_ = true;
  if (loop_->options().access_log) BeginAccessEntry(&exchange_, client_->peer().address);
  exchange_.Finish();
}

void Connection::Dispatch() {
  state_ = State::kAnswering;
  deadline_.Clear();
  ReceivedRequest& request = exchange_.request();
  had_large_body_ = request.body.total_size() > kLargeBody;
  request.receive_end_ns = request.receive_start_ns == 0 ? 0 : base::SteadyClock().NowNs();
  if (!request.head.keep_alive || loop_->draining()) close_after_reply_ = true;
  if (loop_->options().access_log) BeginAccessEntry(&exchange_, client_->peer().address);
  IdentifyPeer(loop_->options(), *client_, &request);
  http::Dispatch(exchange_, *loop_);
}

// ---- Answering and writing ----

void Connection::OnCompleted(const std::shared_ptr<DeadlineSink>& sink) noexcept {
  loop_->Serve(*this, [this, &sink] {
    if (state_ != State::kAnswering || !exchange_.IsAwaiting(sink)) return exchange_.Abandon(sink);
    if (!exchange_.Advance(sink)) return;
    state_ = State::kWriting;
    exchange_.FreeBody();
    CountSent(exchange_);
    writer_.Begin(exchange_.reply(), {.close = close_after_reply_,
                                      .fields = FieldsForPages(loop_->options(), exchange_.head()),
                                      .server_fields = loop_->server_fields()});
    // The reply to a HEAD request has the head of the GET, and no body.
    if (exchange_.head().method != Method::kHead) AddBody(loop_, &exchange_.reply(), &unsent_);
    exchange_.Stamp("HTTP_SEND_START");
    Write();
    WaitReadable();
  });
}

void Connection::OnDeadline() noexcept {
  const std::shared_ptr<Connection> self = shared_from_this();
  loop_->Serve(*this, [this] {
    if (exchange_.Expire(state_ == State::kStreaming)) OnCompleted(nullptr);
  });
}

void Connection::OnStream(const std::shared_ptr<ReplyStream>& stream) noexcept {
  if (stream != exchange_.stream()) return;
  if (state_ != State::kAnswering && state_ != State::kStreaming) return;
  // Before the first piece, only a "100 Continue" may be unwritten, which goes out with it.
  if (state_ == State::kAnswering || unsent_.empty()) {
    loop_->Serve(*this, [this] { SendPieces(); });
  } else {
    stream_has_more_ = true;
  }
}

/// Sends the pieces that there are. Those that come meanwhile are sent when these are written.
void Connection::SendPieces() {
  ReplyStream::Ready ready = exchange_.stream()->Take();
  if (ready.pieces.empty() && !ready.ended) return;
  if (state_ == State::kAnswering) {
    const bool is_http_1_0 = exchange_.head().is_http_1_0;
    state_ = State::kStreaming;
    stream_has_more_ = false;
    if (is_http_1_0) close_after_reply_ = true;
    exchange_.Stamp("HTTP_SEND_START");
    exchange_.FreeBody();
    exchange_.reply().status = ready.status;
    writer_.BeginStream(exchange_.reply(),
                        {.is_http_1_0 = is_http_1_0,
                         .close = close_after_reply_,
                         .fields = FieldsForPages(loop_->options(), exchange_.head()),
                         .server_fields = loop_->server_fields()});
  }
  if (api::AccessRecord* const record = exchange_.access_entry().record()) {
    for (const ReplyStream::Piece& piece : ready.pieces) record->AddSent(piece.text.size());
  }
  writer_.AddPieces(std::move(ready));
  Write();
  WaitReadable();
}

void Connection::Write() {
  switch (unsent_.Write(*client_, kMaxWrittenPerTurn)) {
    case net::OutQueue::Outcome::kDone:
      return OnWritten();
    case net::OutQueue::Outcome::kLost:
      return Close();
    case net::OutQueue::Outcome::kPaused:
      // The stream is still writable: the loop reports that after the other connections' turns.
    case net::OutQueue::Outcome::kBlocked:
      deadline_.SetTimeout(loop_->tick(), loop_->timeouts().stall);
      client_->AwaitWritable();
  }
}

void Connection::OnWritable() noexcept {
  const std::shared_ptr<Connection> self = shared_from_this();
  loop_->Serve(*this, [this] {
    if (state_ != State::kWriting && state_ != State::kStreaming) return;
    Write();
    WaitReadable();
  });
}

void Connection::OnWritten() {
  deadline_.Clear();
  if (state_ == State::kStreaming) {
    if (!writer_.stream_ended()) {
      // Only after the socket was full: otherwise a piece that comes now wakes the connection in a
      // later turn of the loop, so that a fast writer takes turns with the other clients.
      if (std::exchange(stream_has_more_, false)) SendPieces();
      return;
    }
    exchange_.EndStream();
  }
  exchange_.Stamp("HTTP_SEND_END");
  exchange_.EndTrace();
  exchange_.access_entry().End(exchange_.reply().status);
  exchange_.FreeReply();
  probe_.Clear();
  if (refused_ && !end_of_input_) {
    // RFC 9112, section 9.6: if the rest of the request were unread when the socket is closed, the
    // kernel would reset the connection, and the client could lose the reply.
    state_ = State::kLingering;
    deadline_.SetTimeout(loop_->tick(), loop_->timeouts().linger);
    exchange_.Free(reader_.Drop());
    return client_->EndOutput();
  }
  if (close_after_reply_) return Close();
  // Not after the first reply: many clients send one request only, and the change costs two system
  // calls.
  if (std::exchange(has_replied_, true)) client_->MarkServed();
  state_ = State::kReading;
  deadline_.SetTimeout(loop_->tick(), loop_->timeouts().idle);
  ReadAhead();
}

}  // namespace nereid::frontend::http
