// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <span>
#include <utility>

#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::http2 {
namespace {

constexpr uint64_t kPrefaceNs = 20'000'000'000;
// How much one connection may read, and how much it may write, before the others have their turn.
// The time of both together is limited, too (TurnBudget): many small frames take longer than these
// bytes.
constexpr size_t kTurnBytes = size_t{4} << 20;

bool AwaitsPreface(const Session* session) {
  return session == nullptr || !session->received_preface();
}

}  // namespace

Connection::Connection(const SessionOptions& options, Host& host,
                       std::unique_ptr<net::ByteStream> client, std::unique_ptr<StreamMaker> maker)
    : options_(options), host_(host), client_(std::move(client)), maker_(std::move(maker)) {}

// The usual client never needs kept_: its bytes are taken in while they are in the loop's buffer.
void Connection::KeepUnread() {
  if (unread_.empty()) {
    kept_ = std::string();
  } else if (unread_.data() + unread_.size() != kept_.data() + kept_.size()) {
    kept_.assign(unread_);
    unread_ = kept_;
  }
}

Session& Connection::session() {
  if (session_ == nullptr) {
    session_ = std::make_unique<Session>(options_, *maker_, host_.event_loop(),
                                         static_cast<Session::Transport&>(*this));
    ArmUpkeep();
  }
  return *session_;
}

template <typename Body>
void Connection::Turn(const Body& body) noexcept {
  const std::shared_ptr<Connection> self = shared_from_this();
  budget_.Begin();
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

// The SETTINGS of the server go out with the first reply to the client's preface, which the client
// sends without waiting for them (RFC 9113, section 3.4): one write less for each connection, and
// none for a client that says nothing.
void Connection::Start() {
  if (!client_->Open(*this)) return Close();
  BeginUpkeep();
}

void Connection::TakeOver(std::string_view received) {
  client_->SetOwner(*this);
  BeginUpkeep();
  Turn([this, received] {
    static constexpr std::string_view kPreface = NGHTTP2_CLIENT_MAGIC;
    if (!session().Receive(kPreface)) return Close();
    unread_ = received;
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
  uint64_t upkeep_ns = session_ == nullptr ? preface_deadline_ns_ : session_->NextUpkeepNs();
  if (AwaitsPreface(session_.get())) upkeep_ns = std::min(upkeep_ns, preface_deadline_ns_);
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
  if (AwaitsPreface(session_.get()) && now >= preface_deadline_ns_) return Close();
  if (session_ != nullptr && !session_->Upkeep(now)) Close();
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
  const std::span<char> buffer = host_.read_buffer();
  for (size_t read = 0; read < kTurnBytes; read += buffer.size()) {
    const auto got = client_->Read(buffer);
    if (got.size == 0) {
      if (got.state != net::ByteStream::State::kBlocked) Close();
      return;
    }
    const bool has_more = got.size == buffer.size();
    if (session().Heard(host_.event_loop().RoughNowNs())) ArmUpkeep();
    unread_ = {buffer.data(), got.size};
    TakeIn();
    if (closed_ || waits_for_room_ || !unread_.empty() || !has_more) return;
    if (TurnIsOver()) return;
  }
}

// Gives the bytes that were read to the session, until they end or the turn is over.
void Connection::TakeIn() {
  if (closed_) return;
  flush_requested_ = true;  // done below or, if the replies are held back, in a later turn
  bool intact = true;
  while (intact && !unread_.empty() && !session_->IsOverfull()) {
    const std::string_view slice = unread_.substr(0, session_->NextSlice());
    unread_.remove_prefix(slice.size());
    intact = session_->Receive(slice);
    if (unread_.empty() || TurnIsOver()) break;
  }
  const bool goes_on = intact && !unread_.empty() && !session_->IsOverfull();
  if (!goes_on || !budget_.HoldsBack(host_.event_loop().NowNs())) WriteOut();
  if (!intact) Close();
  if (closed_) return;
  KeepUnread();
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
  budget_.Begin();
  WriteOut();
}

void Connection::WriteOut() {
  flush_requested_ = false;
  budget_.EndHold();
  if (closed_ || blocked_ || session_ == nullptr) return;
  Write();
  if (closed_ || !waits_for_room_ || session_->IsOverfull()) return;
  waits_for_room_ = false;
  TakeInLater();
}

void Connection::Write() {
  size_t written = 0;
  while (true) {
    if (!session_->FillQueue()) return Close();
    net::OutQueue& queue = session_->queue();
    if (queue.empty()) break;
    written += queue.size();
    switch (queue.Write(*client_)) {
      case net::OutQueue::Outcome::kDone:
        break;
      case net::OutQueue::Outcome::kPaused:
      case net::OutQueue::Outcome::kBlocked:
        return WaitUntilWritable();
      case net::OutQueue::Outcome::kLost:
        return Close();
    }
    // Others have their turn first; the client takes more at once.
    if (written >= kTurnBytes) return WaitUntilWritable();
    // Usually the queue takes everything, and the clock is not read.
    if (session_->filled_up() && TurnIsOver()) return WaitUntilWritable();
  }
  if (session_->Finished()) return Close();
  if (session_->has_replied()) client_->MarkServed();
}

void Connection::WaitUntilWritable() {
  blocked_ = true;
  blocked_ns_ = host_.event_loop().NowNs();
  client_->AwaitWritable();
}

void Connection::OnWritable() noexcept {
  Turn([this] {
    blocked_ = false;
    WriteOut();
  });
}

void Connection::BeginDrain() {
  if (!closed_) session().GoAway();
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
