// SPDX-License-Identifier: Apache-2.0
// A connection's life, and what it reads. The rest is in connection_request.cc (heads and bodies),
// connection_reply.cc and connection_stream.cc (answers).
#include "frontend/http/connection.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <span>
#include <utility>

namespace nereid::frontend::http {
namespace {

namespace asio = boost::asio;

/// How much a client may send ahead of the answers before it is no longer read.
constexpr size_t kMaxAhead = size_t{64} << 10;
/// What one connection may read before it is the others' turn: bytes that go to their place, and
/// how many of them one byte costs that has to be parsed.
constexpr size_t kReadPerTurn = size_t{2} << 20;
constexpr size_t kCostOfParsing = 12;
/// Requests sent ahead that one connection may begin before it is the others' turn.
constexpr int kAheadPerTurn = 16;

struct Received {
  size_t size = 0;    // 0: nothing now, or never again
  bool end = false;   // the client has finished sending
  bool lost = false;  // there is no connection any more
};

Received Receive(int socket, char* to, size_t room) {
  while (true) {
    const ssize_t got = recv(socket, to, room, 0);
    if (got > 0) return {.size = static_cast<size_t>(got)};
    if (got == 0) return {.end = true};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
    if (errno != EINTR) return {.lost = true};
  }
}

/// Has the kernel ask every few seconds whether the client is still there.
void KeepAliveOften(int socket) {
  constexpr int kSeconds = 15;
  (void)!setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kSeconds, sizeof(kSeconds));
  (void)!setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kSeconds, sizeof(kSeconds));
}

}  // namespace

Connection::Connection(std::shared_ptr<LoopServices> loop, Socket socket)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      received_(loop_->options().receive_budget) {}

Connection::~Connection() = default;

void Connection::Start() {
  boost::system::error_code error;
  socket_.native_non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  // Finds out about clients that vanished without a word.
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  SetDeadline(loop_->timeouts().idle);
  WaitReadable();
}

void Connection::SetDeadline(uint64_t ticks) {
  // One more: the current tick is already running.
  deadline_tick_ = ticks == 0 ? 0 : loop_->tick() + ticks + 1;
}

void Connection::CheckTimeout(uint64_t tick) {
  if (deadline_tick_ != 0 && tick >= deadline_tick_) return Close();
  if (probe_tick_ != 0 && tick >= probe_tick_) Probe();
  // A client that is far ahead is not read, and its going away not seen.
  const bool works = state_ == State::kBusy || state_ == State::kStreaming;
  if (works && ahead_.size() >= kMaxAhead && IsLost()) Close();
}

bool Connection::IsLost() {
  pollfd state{socket_.native_handle(), 0, 0};
  return poll(&state, 1, 0) > 0;  // POLLERR and POLLHUP are always told
}

void Connection::BeginDrain() {
  close_after_reply_ = true;
  if (IsAnswering() || state_ == State::kLingering) return;
  // A whole request may have arrived that the loop has not read yet: closing now would lose it. So
  // many turns read what a socket can hold.
  {
    constexpr int kTurns = 8;
    const LoopServices::DispatchScope scope(*loop_);
    for (int turn = 0; turn < kTurns && !IsAnswering(); ++turn) ReadMore();
  }
  // Nobody can say when the rest of half a request comes.
  if (!IsAnswering() && state_ != State::kLingering && !taking_ahead_later_) Close();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  if (state_ != State::kBusy) Abandon(nullptr);
  ForgetDeadline();
  ForgetStream();
  state_ = State::kClosed;
  gone_.store(true, std::memory_order_relaxed);
  trace.reset();
  deadline_tick_ = 0;
  DropReceived();
  if (cancellation_ != nullptr) cancellation_->Cancel();
  cancellation_.reset();
  boost::system::error_code ignored;
  socket_.close(ignored);
  loop_->Remove(this);
}

// A response refers to its sink, which is this object: one that is kept would keep both for ever.
void Connection::Abandon(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != nullptr) {
    sink->TakeResponse();
    return;
  }
  next_ = nullptr;
  response_.reset();
  reply.Clear();
}

// ---- Waiting ----

void Connection::WaitReadable() {
  if (waiting_readable_ || end_of_input_ || state_ == State::kClosed) return;
  if (ahead_.size() >= kMaxAhead) return;
  waiting_readable_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waiting_readable_ = false;
                       if (error) return;
                       self->loop_->Protect(*self, [&self] { self->OnReadable(); });
                     });
}

void Connection::WaitWritable() {
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error) return;
                       self->loop_->Protect(*self, [&self] { self->OnWritable(); });
                     });
}

void Connection::WaitLost() {
  probe_tick_ = loop_->tick() + loop_->timeouts().half_closed + 1;
  if (waiting_lost_ || state_ == State::kClosed) return;
  waiting_lost_ = true;
  KeepAliveOften(socket_.native_handle());
  socket_.async_wait(Socket::wait_error,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && self->IsLost()) self->Close();
                     });
}

/// Sends what a client has to read and to ignore: the system of one that has closed its socket
/// answers with a reset, which WaitLost() sees.
void Connection::Probe() {
  probe_tick_ = 0;
  if (state_ == State::kBusy && !head.is_http_1_0) SendContinue();
  if (state_ == State::kStreaming) {
    (void)stream_->Write(200, std::string(stream_form_.probe), /*may_wait=*/false);
  }
}

void Connection::SendContinue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  // 25 bytes into an empty socket buffer: if they do not fit, the client waits in vain, and goes.
  (void)!send(socket_.native_handle(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
}

// ---- Reading ----

void Connection::OnReadable() {
  taken_ahead_ = 0;
  {
    // Ends before the next wait is set up: an answer that is ready goes out first.
    const LoopServices::DispatchScope scope(*loop_);
    ReadMore();
  }
  WaitReadable();
}

void Connection::ReadMore() {
  size_t left = kReadPerTurn;
  while (left != 0 && state_ != State::kClosed && !end_of_input_) {
    const bool more = state_ == State::kBody ? ReadBody(&left) : ReadInput(&left);
    if (!more || ahead_.size() >= kMaxAhead) return;
  }
}

// Straight into the buffer that the inputs will view.
bool Connection::ReadBody(size_t* left) {
  std::span<char> room;
  const auto outcome = received_.MakeRoom(std::min(body_size_ - received_.size(), *left), &room);
  if (outcome != memory::ReceiveBuffer::Outcome::kDone) {
    Refuse(RefusalOf(outcome));
    return false;
  }
  const Received got = Receive(socket_.native_handle(), room.data(), room.size());
  if (got.size == 0) return OnNothing(got.end, got.lost);
  received_.Advance(got.size);
  *left -= got.size;
  NoteProgress();
  if (received_.size() < body_size_) return true;  // large: there may be more by now
  TakeBody();
  Dispatch();
  return false;
}

bool Connection::ReadInput(size_t* left) {
  std::vector<char>& scratch = loop_->scratch();
  const Received got = Receive(socket_.native_handle(), scratch.data(), scratch.size());
  if (got.size == 0) return OnNothing(got.end, got.lost);
  *left -= std::min(*left, got.size * kCostOfParsing);
  if (state_ == State::kLingering) return true;
  TakeInput({scratch.data(), got.size});
  return got.size == scratch.size() || state_ == State::kBody;
}

bool Connection::OnNothing(bool end, bool lost) {
  if (lost) {
    Close();
  } else if (end) {
    OnEndOfInput();
  }
  return false;
}

// A client that closes sends the same as one that only has nothing more to say, so its requests go
// on. If it is gone, its system says so when something is sent to it: an answer, or a probe.
void Connection::OnEndOfInput() {
  end_of_input_ = true;
  if (IsAnswering()) return WaitLost();
  if (!taking_ahead_later_) Close();
}

void Connection::TakeInput(std::string_view input) {
  if (!ahead_.empty() || IsAnswering()) {
    ahead_.append(input);
    if (IsAnswering()) return;
    input = ahead_;
  }
  const bool is_stored = !ahead_.empty();
  bool more = true;
  while (more && !input.empty()) {
    switch (state_) {
      case State::kHead:
        more = ParseHead(&input);
        break;
      case State::kChunkedBody:
        more = ParseChunks(&input);
        break;
      default:
        more = false;
        break;
    }
  }
  if (state_ == State::kClosed || state_ == State::kLingering) return;
  if (is_stored) {
    ahead_.erase(0, ahead_.size() - input.size());
  } else {
    ahead_.assign(input);
  }
}

/// Begins the next of the requests that the client sent ahead of its answers.
void Connection::TakeAhead() {
  if (!ahead_.empty()) {
    if (++taken_ahead_ > kAheadPerTurn) return TakeAheadLater();
    TakeInput({});
  }
  if (!end_of_input_ || state_ == State::kClosed) return;
  if (IsAnswering()) return WaitLost();
  Close();
}

void Connection::TakeAheadLater() {
  taking_ahead_later_ = true;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->loop_->Protect(*self, [&self] { self->OnTurn(); });
  });
}

/// The others have had their turns.
void Connection::OnTurn() {
  taking_ahead_later_ = false;
  taken_ahead_ = 0;
  if (state_ == State::kHead) {
    const LoopServices::DispatchScope scope(*loop_);
    TakeAhead();
  } else if (end_of_input_ && !IsAnswering()) {
    Close();
  }
  if (loop_->draining() && !IsAnswering() && !taking_ahead_later_) Close();
  WaitReadable();
}

}  // namespace nereid::frontend::http
