// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/connection.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "frontend/grpc/exception_guard.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

// Read at once; only pages that bytes have come to are memory.
constexpr size_t kReadSize = size_t{64} << 10;
constexpr uint64_t kPrefaceNs = 20'000'000'000;
// How long one connection may use the loop before the others have their turn, and how much it may
// write meanwhile.
constexpr uint64_t kTurnNs = 2'000'000;
constexpr size_t kTurnBytes = size_t{4} << 20;

}  // namespace

Connection::Connection(ServerContext& context, Host& host, net::Socket socket)
    : context_(context),
      host_(host),
      socket_(std::move(socket)),
      session_(std::make_unique<Session>(context, host.services(),
                                         static_cast<Session::Transport&>(*this))),
      buffer_(new char[kReadSize]) {}

template <typename Body>
void Connection::Turn(const Body& body) noexcept {
  const bool done = Guarded("a connection", false, [&] {
    body();
    return true;
  });
  Guarded("a connection", false, [&] {
    if (!done) Close();
    host_.EndTurn();
    return true;
  });
}

void Connection::Start() {
  boost::system::error_code ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(boost::asio::socket_base::keep_alive(true), ignored);
  socket_.non_blocking(true, ignored);
  preface_deadline_ns_ = host_.services().NowNs() + kPrefaceNs;
  ArmUpkeep();
  Flush();
  Read();
}

void Connection::ArmUpkeep() {
  upkeep_ns_ = session_->NextUpkeepNs();
  if (!session_->received_preface()) upkeep_ns_ = std::min(upkeep_ns_, preface_deadline_ns_);
  host_.services().AddDeadline(upkeep_ns_, this);
}

void Connection::OnDeadline() {
  upkeep_ns_ = 0;
  Upkeep();
  if (!closed_) ArmUpkeep();
}

void Connection::Upkeep() {
  const uint64_t now = host_.services().NowNs();
  const auto patience = static_cast<uint64_t>(context_.options.stall_timeout.count()) * 1'000'000;
  if (blocked_ && now - blocked_ns_ >= patience) return Close();
  if (!session_->received_preface() && now >= preface_deadline_ns_) return Close();
  if (!session_->Upkeep(now)) Close();
}

void Connection::RequestFlush() {
  if (flush_requested_ || closed_) return;
  flush_requested_ = true;
  host_.FlushLater(shared_from_this());
}

void Connection::Read() {
  if (closed_) return;
  socket_.async_read_some(
      boost::asio::buffer(buffer_.get(), kReadSize),
      [self = shared_from_this()](const boost::system::error_code& error, size_t size) {
        self->Turn([&] { self->OnRead(error, size); });
      });
}

void Connection::OnRead(const boost::system::error_code& error, size_t size) {
  if (closed_) return;
  if (error) return Close();
  session_->Heard(host_.services().RoughNowNs());
  unread_ = {buffer_.get(), size};
  TakeIn();
}

// Hands what was read to the session, for as long as a turn may last.
void Connection::TakeIn() {
  if (closed_) return;
  flush_requested_ = true;  // done below
  uint64_t begin_ns = 0;
  bool intact = true;
  while (intact && !unread_.empty() && !session_->IsOverfull()) {
    const std::string_view slice = unread_.substr(0, session_->NextSlice());
    unread_.remove_prefix(slice.size());
    intact = session_->Receive(slice);
    if (unread_.empty()) break;
    const uint64_t now = host_.services().NowNs();
    if (begin_ns == 0) begin_ns = now;
    if (now - begin_ns >= kTurnNs) break;
  }
  Flush();
  if (!intact) Close();
  if (closed_) return;
  if (session_->IsOverfull()) {
    waits_for_room_ = true;  // the client must read first
  } else if (unread_.empty()) {
    Read();
  } else {
    TakeInLater();
  }
}

void Connection::TakeInLater() {
  boost::asio::post(socket_.get_executor(),
                    [self = shared_from_this()] { self->Turn([&] { self->TakeIn(); }); });
}

void Connection::Flush() {
  flush_requested_ = false;
  if (closed_ || blocked_) return;
  Write();
  if (closed_ || !waits_for_room_ || session_->IsOverfull()) return;
  waits_for_room_ = false;
  TakeInLater();
}

void Connection::Write() {
  size_t written = 0;
  while (true) {
    if (!session_->FillQueue()) return Close();
    WriteQueue& queue = session_->queue();
    if (queue.pending() == 0) break;
    written += queue.pending();
    switch (queue.Write(socket_.native_handle())) {
      case WriteQueue::Outcome::kDone:
        break;
      case WriteQueue::Outcome::kBlocked:
        return WaitUntilWritable();
      case WriteQueue::Outcome::kFailed:
        return Close();
    }
    // Others have their turn first; the socket is writable at once.
    if (written >= kTurnBytes) return WaitUntilWritable();
  }
  if (session_->Finished()) Close();
}

void Connection::WaitUntilWritable() {
  blocked_ = true;
  blocked_ns_ = host_.services().NowNs();
  socket_.async_wait(net::Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->Turn([&] { self->OnWritable(error); });
                     });
}

void Connection::OnWritable(const boost::system::error_code& error) {
  blocked_ = false;
  if (closed_) return;
  if (error) return Close();
  Flush();
}

void Connection::GoAway() {
  if (!closed_) session_->GoAway();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  if (upkeep_ns_ != 0) host_.services().RemoveDeadline(upkeep_ns_, this);
  session_.reset();
  boost::system::error_code ignored;
  socket_.shutdown(net::Socket::shutdown_both, ignored);
  socket_.close(ignored);
  host_.Closed(*this);
}

}  // namespace nereid::frontend::grpc
