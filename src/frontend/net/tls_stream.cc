// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_stream.h"

#include <exception>
#include <utility>

#include "frontend/net/failure_log.h"

namespace nereid::frontend::net {
namespace {

/// How much is encrypted before it is written: a system call for each record would be dear, and
/// what does not fit into the socket stays in memory.
constexpr size_t kBatch = size_t{64} << 10;

void LogFailedHandshake(const std::string& service, std::string_view reason) noexcept {
  static base::LogThrottle throttle;
  LogFailure(throttle, base::LogLevel::kInfo,
             {service, ": a TLS handshake has failed: ", reason.empty() ? "no memory" : reason});
}

/// Returns the outcome of reading and writing in a phase other than kOpen.
ByteStream::Outcome Unusable(TlsPhase phase) {
  const bool is_early = phase == TlsPhase::kHandshake || phase == TlsPhase::kRefused;
  return {0, is_early ? ByteStream::State::kBlocked : ByteStream::State::kLost};
}

}  // namespace

TlsStream::TlsStream(TlsLoop& tls, std::unique_ptr<ByteStream> inner)
    : tls_(tls), inner_(std::move(inner)) {}

bool TlsStream::Open(ByteStream::Owner& owner) noexcept {
  owner_ = &owner;
  if (!inner_->Open(*this)) return false;
  EventLoop& loop = tls_.event_loop();
  loop.SetTimer(timer_, loop.NowNs() + kHandshakeNs);
  tls_.Add(*this);
  return true;
}

// ---- The handshake ----

void TlsStream::ReceiveHandshake() noexcept {
  const std::span<char> scratch = tls_.scratch();
  const Outcome got = inner_->Read(scratch);
  if (got.size == 0) return got.state == State::kBlocked ? void() : Lose();
  auto input = TlsHandshake::Input::kNotTls;
  try {
    if (handshake_ == nullptr) {
      TlsHandshake::Host& host = *this;
      handshake_ = std::make_shared<TlsHandshake>(host, tls_.event_loop().inbox());
    }
    input = handshake_->Add({scratch.data(), got.size});
  } catch (const std::exception& failure) {
    return GiveUp(failure.what());
  }
  switch (input) {
    case TlsHandshake::Input::kIncomplete:
      return;
    case TlsHandshake::Input::kReady:
      tls_.Remove(*this);
      return StartStep();
    case TlsHandshake::Input::kNotTls:
      return GiveUp("the client does not speak TLS");
    case TlsHandshake::Input::kLater:
      inner_is_reading_ = false;
      return inner_->SetReading(false);
  }
}

// While the step waits or runs, a client that goes is noticed, so that nothing is computed for it.
void TlsStream::StartStep() noexcept {
  if (!handshake_->Start(tls_.context())) GiveUp("too many others wait for their first step");
}

void TlsStream::OnHandshakeStep() noexcept {
  const bool sent = Send(&handshake_->output());
  handshake_->output() = std::string();
  if (!sent) return Lose();
  switch (handshake_->progress()) {
    case TlsSession::Progress::kWaits:
      if (!std::exchange(inner_is_reading_, true)) inner_->SetReading(true);
      if (handshake_->has_input()) return StartStep();
      return tls_.Add(*this);
    case TlsSession::Progress::kDone:
      return Establish();
    case TlsSession::Progress::kFailed:
      LogFailedHandshake(tls_.context().service(), handshake_->failure());
      return Refuse();
  }
}

void TlsStream::Establish() noexcept {
  session_ = handshake_->TakeSession();
  EndHandshake();
  phase_ = Phase::kOpen;
  has_unread_ = session_->HasUnread();
  WatchForInput();
  if (owed_.empty() && std::exchange(awaits_writable_, false)) owner_->OnWritable();
}

// If the socket were closed while bytes of the client are unread, the kernel would reset the
// connection, and the client could lose the alert.
void TlsStream::Refuse() noexcept {
  EndHandshake();
  phase_ = Phase::kRefused;
  ends_output_ = true;
  if (owed_.empty()) inner_->EndOutput();
  EventLoop& loop = tls_.event_loop();
  loop.SetTimer(timer_, loop.NowNs() + kLingerNs);
  if (!std::exchange(inner_is_reading_, true)) inner_->SetReading(true);
}

void TlsStream::EndHandshake() noexcept {
  tls_.Remove(*this);
  tls_.event_loop().CancelTimer(timer_);
  if (handshake_ == nullptr) return;
  handshake_->Abandon();
  handshake_.reset();
}

void TlsStream::GiveUp(const char* reason) noexcept {
  if (reason != nullptr) LogFailedHandshake(tls_.context().service(), reason);
  Lose();
}

// ---- The end ----

/// Tells the owner that the connection is lost, by what it waits for.
void TlsStream::Lose() noexcept {
  if (phase_ == Phase::kLost || phase_ == Phase::kClosed) return;
  EndHandshake();
  phase_ = Phase::kLost;
  if (std::exchange(inner_is_reading_, false)) inner_->SetReading(false);
  bool closed = false;
  was_closed_ = &closed;
  const bool awaited = std::exchange(awaits_writable_, false);
  if (awaited) owner_->OnWritable();
  if (closed) return;
  if (is_reading_) {
    owner_->OnReadable();
  } else if (!awaited) {
    owner_->OnLost();
  }
  if (!closed) was_closed_ = nullptr;
}

void TlsStream::OnDeadline() {
  switch (phase_) {
    case Phase::kHandshake:
      return GiveUp("it took longer than 10 s");
    case Phase::kRefused:
      return Lose();
    case Phase::kOpen:
      if (!has_unread_ || !is_reading_) return;
      session_->BeginTurn();
      WatchForInput();
      return owner_->OnReadable();
    case Phase::kLost:
    case Phase::kClosed:
      return;
  }
}

void TlsStream::EndOutput() noexcept {
  if (phase_ != Phase::kOpen) return;
  session_->EndOutput(&tls_.output());
  if (!Send(&tls_.output())) return;
  ends_output_ = true;
  if (owed_.empty()) inner_->EndOutput();
}

// The end is announced only if all bytes before it have gone: otherwise the client must see that
// something is missing.
void TlsStream::Close() noexcept {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kOpen && owed_.empty()) {
    session_->EndOutput(&tls_.output());
    (void)Send(&tls_.output());
  }
  EndHandshake();
  phase_ = Phase::kClosed;
  session_.reset();
  if (was_closed_ != nullptr) *std::exchange(was_closed_, nullptr) = true;
  inner_->Close();
}

// ---- Reading ----

void TlsStream::OnReadable() noexcept {
  switch (phase_) {
    case Phase::kOpen:
      session_->BeginTurn();
      return owner_->OnReadable();
    case Phase::kHandshake:
      return ReceiveHandshake();
    case Phase::kRefused: {
      const Outcome discarded = inner_->Read(tls_.scratch());
      if (discarded.size == 0 && discarded.state != State::kBlocked) Lose();
      return;
    }
    case Phase::kLost:
    case Phase::kClosed:
      return;
  }
}

ByteStream::Outcome TlsStream::Read(std::span<char> to) noexcept {
  if (phase_ != Phase::kOpen) return Unusable(phase_);
  if (owed_.IsFull()) return {0, State::kBlocked};
  const Outcome got = session_->Read(*inner_, to, &tls_.output());
  if (!Send(&tls_.output())) {
    phase_ = Phase::kLost;
    return Unusable(phase_);
  }
  has_unread_ = session_->is_resting() || (got.state != State::kBlocked && session_->HasUnread());
  if (has_unread_ || timer_.is_set() || owed_.IsFull()) WatchForInput();
  return got;
}

void TlsStream::SetReading(bool wanted) noexcept {
  is_reading_ = wanted;
  if (phase_ == Phase::kOpen) WatchForInput();
}

/// Has the owner called for bytes, if it wants that: by the inner stream for those that come, by
/// the timer in the next turn for those that wait in the session.
void TlsStream::WatchForInput() noexcept {
  const bool from_inner = is_reading_ && !owed_.IsFull();
  if (from_inner != inner_is_reading_) inner_->SetReading(inner_is_reading_ = from_inner);
  EventLoop& loop = tls_.event_loop();
  if (!has_unread_ || !is_reading_) {
    if (timer_.is_set()) loop.CancelTimer(timer_);
  } else if (!timer_.is_set()) {
    loop.SetTimer(timer_, loop.NowNs() + 1);
  }
}

Peer TlsStream::peer() const {
  Peer peer = inner_->peer();
  if (session_ != nullptr) peer.tls_subject = session_->client_subject();
  return peer;
}

// ---- Writing ----

ByteStream::Outcome TlsStream::Write(std::span<const iovec> pieces) noexcept {
  if (phase_ != Phase::kOpen) return Unusable(phase_);
  if (!owed_.empty()) {
    const OutQueue::Outcome flushed = owed_.Write(*inner_);
    if (flushed == OutQueue::Outcome::kLost) return {0, State::kLost};
    if (flushed != OutQueue::Outcome::kDone) return {0, State::kBlocked};
  }
  if (encrypted_ != 0) return {std::exchange(encrypted_, 0), State::kOpen};
  const size_t size = session_->Write(pieces, kBatch, &tls_.output());
  const bool sent = Send(&tls_.output());
  if (!sent || session_->has_failed()) return {0, State::kLost};
  if (owed_.empty()) return {size, State::kOpen};
  encrypted_ = size;
  return {0, State::kBlocked};
}

void TlsStream::AwaitWritable() noexcept {
  awaits_writable_ = true;
  if (phase_ == Phase::kOpen) inner_->AwaitWritable();
}

void TlsStream::OnWritable() noexcept {
  if (owed_.Write(*inner_) == OutQueue::Outcome::kLost) return Lose();
  if (!owed_.empty()) return inner_->AwaitWritable();
  if (ends_output_) inner_->EndOutput();
  if (phase_ != Phase::kOpen) return;
  if (is_reading_ != inner_is_reading_) WatchForInput();
  if (std::exchange(awaits_writable_, false)) owner_->OnWritable();
}

/// Sends `encrypted` to the client, or keeps what inner_ does not take, and clears it. Returns
/// false if the connection is lost or memory has run out.
bool TlsStream::Send(std::string* encrypted) noexcept {
  if (encrypted->empty()) return true;
  const OutQueue::Outcome outcome = owed_.Send(*inner_, *encrypted);
  encrypted->clear();
  if (outcome == OutQueue::Outcome::kBlocked) inner_->AwaitWritable();
  return outcome != OutQueue::Outcome::kLost;
}

}  // namespace nereid::frontend::net
