// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::http2 {
namespace {

constexpr uint64_t kPrefaceNs = 20'000'000'000;
// How long one connection may use the loop before the others have their turn, and how much it may
// read or write meanwhile.
constexpr uint64_t kTurnNs = 2'000'000;
constexpr size_t kTurnBytes = size_t{4} << 20;

}  // namespace

// The kernel provides memory only for the pages of the buffer that are written.
Connection::Connection(const SessionOptions& options, Host& host,
                       std::unique_ptr<net::ByteStream> client, std::unique_ptr<StreamMaker> maker)
    : options_(options),
      host_(host),
      client_(std::move(client)),
      maker_(std::move(maker)),
      session_(std::make_unique<Session>(options, *maker_, host.event_loop(),
                                         static_cast<Session::Transport&>(*this))),
      buffer_(new char[kReadSize]) {}

template <typename Body>
void Connection::Turn(const Body& body) noexcept {
  const std::shared_ptr<Connection> self = shared_from_this();
  const bool done = Guarded("HTTP/2: a connection", false, [&] {
    body();
    return true;
  });
  Guarded("HTTP/2: a connection", false, [&] {
    if (!done) Close();
    host_.EndTurn();
    return true;
  });
}

void Connection::Start() {
  if (!client_->Open(*this)) return Close();
  BeginUpkeep();
  Flush();
}

void Connection::TakeOver(std::string_view received) {
  client_->SetOwner(*this);
  BeginUpkeep();
  Turn([this, received] {
    static constexpr std::string_view kPreface = NGHTTP2_CLIENT_MAGIC;
    if (received.size() > kReadSize || !session_->Receive(kPreface)) return Close();
    if (!received.empty()) std::memcpy(buffer_.get(), received.data(), received.size());
    unread_ = {buffer_.get(), received.size()};
    TakeIn();
  });
}

void Connection::BeginUpkeep() {
  preface_deadline_ns_ = host_.event_loop().NowNs() + kPrefaceNs;
  ArmUpkeep();
}

const net::Peer& Connection::peer() {
  if (!peer_) peer_ = client_->peer();
  return *peer_;
}

void Connection::ArmUpkeep() {
  uint64_t upkeep_ns = session_->NextUpkeepNs();
  if (!session_->received_preface()) upkeep_ns = std::min(upkeep_ns, preface_deadline_ns_);
  host_.event_loop().SetTimer(*this, upkeep_ns);
}

void Connection::OnDeadline() {
  Turn([this] {
    Upkeep();
    if (!closed_) ArmUpkeep();
  });
}

void Connection::Upkeep() {
  const uint64_t now = host_.event_loop().NowNs();
  const auto patience = static_cast<uint64_t>(options_.stall_timeout.count()) * 1'000'000;
  if (blocked_ && now - blocked_ns_ >= patience) return Close();
  if (!session_->received_preface() && now >= preface_deadline_ns_) return Close();
  if (!session_->Upkeep(now)) Close();
}

void Connection::RequestFlush() {
  if (flush_requested_ || closed_) return;
  flush_requested_ = true;
  host_.FlushLater(shared_from_this());
}

void Connection::OnReadable() noexcept {
  Turn([this] { Read(); });
}

void Connection::OnLost() noexcept { Close(); }

// Once for each turn of the loop, unless the client has more to say than the buffer holds.
void Connection::Read() {
  uint64_t begin_ns = 0;
  for (size_t read = 0; read < kTurnBytes; read += kReadSize) {
    const auto got = client_->Read(std::span(buffer_.get(), kReadSize));
    if (got.size == 0) {
      if (got.state != net::ByteStream::State::kBlocked) Close();
      return;
    }
    const bool has_more = got.size == kReadSize;
    if (has_more && begin_ns == 0) begin_ns = host_.event_loop().NowNs();
    if (session_->Heard(host_.event_loop().RoughNowNs())) ArmUpkeep();
    unread_ = {buffer_.get(), got.size};
    TakeIn();
    if (closed_ || waits_for_room_ || !unread_.empty() || !has_more) return;
    if (host_.event_loop().NowNs() - begin_ns >= kTurnNs) return;
  }
}

// Gives the bytes that were read to the session, until they end or the turn is over.
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
    const uint64_t now = host_.event_loop().NowNs();
    if (begin_ns == 0) begin_ns = now;
    if (now - begin_ns >= kTurnNs) break;
  }
  Flush();
  if (!intact) Close();
  if (closed_) return;
  client_->SetReading(unread_.empty() && !session_->IsOverfull());
  if (session_->IsOverfull()) {
    waits_for_room_ = true;  // the client must read first
  } else if (!unread_.empty()) {
    TakeInLater();
  }
}

void Connection::TakeInLater() { host_.event_loop().Post(turn_, shared_from_this()); }

void Connection::OnTurn() noexcept {
  Turn([this] { TakeIn(); });
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
    switch (queue.Write(*client_)) {
      case WriteQueue::Outcome::kDone:
        break;
      case WriteQueue::Outcome::kBlocked:
        return WaitUntilWritable();
      case WriteQueue::Outcome::kFailed:
        return Close();
    }
    // Others have their turn first; the client takes more at once.
    if (written >= kTurnBytes) return WaitUntilWritable();
  }
  if (session_->Finished()) Close();
}

void Connection::WaitUntilWritable() {
  blocked_ = true;
  blocked_ns_ = host_.event_loop().NowNs();
  client_->AwaitWritable();
}

void Connection::OnWritable() noexcept {
  Turn([this] {
    blocked_ = false;
    Flush();
  });
}

void Connection::BeginDrain() {
  if (!closed_) session_->GoAway();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  host_.event_loop().CancelTimer(*this);
  session_.reset();
  client_->Close();
  host_.Closed(*this);
}

}  // namespace nereid::frontend::http2
