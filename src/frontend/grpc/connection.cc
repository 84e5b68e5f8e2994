// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/connection.h"

#include <boost/asio/buffer.hpp>
#include <utility>

namespace nereid::frontend::grpc {
namespace {

// Read at once; only pages that bytes have come to are memory.
constexpr size_t kReadSize = size_t{64} << 10;
constexpr uint64_t kPrefaceNs = 20'000'000'000;

}  // namespace

Connection::Connection(ServerContext& context, Host& host, boost::asio::ip::tcp::socket socket)
    : host_(host),
      socket_(std::move(socket)),
      session_(std::make_unique<Session>(context, host.services(),
                                         static_cast<Session::Transport&>(*this))),
      buffer_(new char[kReadSize]) {}

void Connection::Start() {
  boost::system::error_code ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  preface_deadline_ns_ = host_.services().NowNs() + kPrefaceNs;
  host_.services().AddDeadline(preface_deadline_ns_, this);
  Flush();
  Read();
}

void Connection::OnDeadline() {
  preface_deadline_ns_ = 0;
  if (!session_->received_preface()) Close();
}

void Connection::RequestFlush() {
  if (flush_requested_ || closed_) return;
  flush_requested_ = true;
  host_.FlushLater(shared_from_this());
}

void Connection::Read() {
  if (closed_) return;
  socket_.async_read_some(boost::asio::buffer(buffer_.get(), kReadSize),
                          [self = shared_from_this()](const boost::system::error_code& error,
                                                      size_t size) { self->OnRead(error, size); });
}

void Connection::OnRead(const boost::system::error_code& error, size_t size) {
  if (closed_) return;
  if (error) {
    Close();
    host_.EndTurn();
    return;
  }
  flush_requested_ = true;  // done below
  const bool intact = session_->Receive({buffer_.get(), size});
  Flush();
  if (!intact) Close();
  Read();
  host_.EndTurn();
}

void Connection::Flush() {
  flush_requested_ = false;
  if (closed_ || blocked_) return;
  while (true) {
    if (!session_->FillQueue()) return Close();
    WriteQueue& queue = session_->queue();
    if (queue.pending() == 0) break;
    switch (queue.Write(socket_.native_handle())) {
      case WriteQueue::Outcome::kDone:
        break;
      case WriteQueue::Outcome::kBlocked:
        return WaitUntilWritable();
      case WriteQueue::Outcome::kFailed:
        return Close();
    }
  }
  if (session_->Finished()) Close();
}

void Connection::WaitUntilWritable() {
  blocked_ = true;
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->blocked_ = false;
                       if (self->closed_) return;
                       if (error) {
                         self->Close();
                       } else {
                         self->Flush();
                       }
                       self->host_.EndTurn();
                     });
}

void Connection::GoAway() {
  if (!closed_) session_->GoAway();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  if (preface_deadline_ns_ != 0) host_.services().RemoveDeadline(preface_deadline_ns_, this);
  session_.reset();
  boost::system::error_code ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  host_.Closed(*this);
}

}  // namespace nereid::frontend::grpc
