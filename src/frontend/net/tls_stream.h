// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frontend/net/byte_stream.h"
#include "frontend/net/out_queue.h"
#include "frontend/net/timer.h"
#include "frontend/net/tls_handshake.h"
#include "frontend/net/tls_loop.h"
#include "frontend/net/tls_session.h"

namespace nereid::frontend::net {

/// What a TlsStream does.
enum class TlsPhase {
  kHandshake,
  kOpen,
  kRefused,  // the handshake has failed, and the client gets time to read the alert
  kLost,
  kClosed,
};

/// The server's side of TLS over another stream.
///
/// The handshake runs on other threads (TlsHandshake) and has a time limit; its failure is told to
/// the client by an alert, and to the owner as a lost connection. A client that ends the connection
/// without announcing it (close_notify) is lost, too, because an attacker could have cut it off.
///
/// Bytes count as written when their encrypted form has left this stream. So Close() loses nothing
/// that was written, as with a plain socket.
class TlsStream final : public ByteStream,
                        public WaitingHandshake,
                        private ByteStream::Owner,
                        private TlsHandshake::Host {
 public:
  static constexpr uint64_t kHandshakeNs = 10'000'000'000;
  /// How long a client that was refused has to read the alert.
  static constexpr uint64_t kLingerNs = 1'000'000'000;

  /// The stream must be closed before `tls` is destroyed.
  TlsStream(TlsLoop& tls, std::unique_ptr<ByteStream> inner);
  ~TlsStream() override { Close(); }

  // ByteStream
  bool Open(ByteStream::Owner& owner) noexcept override;
  void SetOwner(ByteStream::Owner& owner) noexcept override { owner_ = &owner; }
  Outcome Read(std::span<char> to) noexcept override;
  Outcome Write(std::span<const iovec> pieces) noexcept override;
  void SetReading(bool wanted) noexcept override;
  void AwaitWritable() noexcept override;
  void MarkServed() noexcept override { inner_->MarkServed(); }
  void EndOutput() noexcept override;
  void ProbePeer(std::chrono::seconds interval) noexcept override { inner_->ProbePeer(interval); }
  Peer peer() const override;
  void Close() noexcept override;

  void GiveUp(const char* reason) noexcept override;  // WaitingHandshake

 private:
  using Phase = TlsPhase;

  // The owner of inner_
  void OnReadable() noexcept override;
  void OnWritable() noexcept override;
  void OnLost() noexcept override { Lose(); }

  void ReceiveHandshake() noexcept;
  void StartStep() noexcept;
  void OnHandshakeStep() noexcept override;  // TlsHandshake::Host
  void Establish() noexcept;
  void Refuse() noexcept;
  void EndHandshake() noexcept;
  void Lose() noexcept;
  void OnDeadline();

  bool Send(std::string* encrypted) noexcept;
  void WatchForInput() noexcept;

  TlsLoop& tls_;
  const std::unique_ptr<ByteStream> inner_;
  /// Encrypted bytes that inner_ has not taken yet. While it is full, nothing is read that may need
  /// an answer, because the client does not read the answers.
  OutQueue owed_{size_t{128} << 10};
  ByteStream::Owner* owner_ = nullptr;
  Phase phase_ = Phase::kHandshake;
  bool is_reading_ = true;        // as the owner has set it
  bool awaits_writable_ = false;  // the owner must be told
  bool inner_is_reading_ = true;  // what inner_ was told
  bool ends_output_ = false;      // after what is owed
  bool has_unread_ = false;       // bytes wait in the session, and none may come from inner_
  bool* was_closed_ = nullptr;    // set by Close() while the owner is being called
  size_t encrypted_ = 0;          // plain bytes whose encrypted form is in owed_, not yet reported
  std::shared_ptr<TlsHandshake> handshake_;  // from the first byte to the end of the handshake
  std::unique_ptr<TlsSession> session_;      // in kOpen
  /// The time limit of the handshake; later it makes the owner read what waits in the session.
  MemberTimer<TlsStream, &TlsStream::OnDeadline> timer_{*this};
};

}  // namespace nereid::frontend::net
