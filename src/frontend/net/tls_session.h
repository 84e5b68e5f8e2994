// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "frontend/net/byte_stream.h"
#include "frontend/net/tls_credentials.h"
#include "frontend/net/tls_wire.h"

namespace nereid::frontend::net {

/// The server's side of one TLS session: it turns encrypted bytes into plain ones, and the reverse.
/// It never waits, and knows no socket: encrypted bytes come from Feed() or from a stream, and are
/// appended to a text.
///
/// Not thread-safe. The handshake may be made on another thread than the rest, if only one of them
/// uses the session at a time.
class TlsSession {
 public:
  /// May throw std::bad_alloc.
  explicit TlsSession(std::shared_ptr<const TlsCredentials> credentials);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Adds encrypted bytes of the client. They are used before those of a stream. May throw
  /// std::bad_alloc.
  void Feed(std::string_view encrypted);

  enum class Progress { kWaits, kDone, kFailed };
  /// Continues the handshake with the bytes that there are, as far as these suffice. Computes with
  /// the private key, which takes milliseconds. Appends the bytes for the client to `output`, an
  /// alert among them if the handshake fails. If it fails, `failure` is the reason, for people.
  Progress Handshake(std::string* output, std::string* failure) noexcept;

  // ---- After the handshake. ----

  /// Permits more work for the client, because the other connections of the loop had their turns.
  void BeginTurn();
  /// Reads as ByteStream::Read() does. In a turn it takes a maximum number of records, because a
  /// client may send one for each byte, and only a little more from `source` than `to` can hold,
  /// because records may have no content; the rest is unread. Appends the bytes for the client (the
  /// answer to a request for new keys, alerts) to `output`. The end is kEnded only if the client
  /// has announced it; otherwise it may be an attacker's work and is kLost.
  ByteStream::Outcome Read(ByteStream& source, std::span<char> to, std::string* output) noexcept;
  /// Returns whether Read() has stopped early: nothing is read before the next turn.
  bool is_resting() const { return records_left_ == 0; }
  /// Returns whether Read() may return something although the stream has no more bytes.
  bool HasUnread() const;

  /// Encrypts the first `max` bytes of the pieces and appends them to `output`. Small pieces share
  /// a record. Returns the number of plain bytes; see has_failed().
  size_t Write(std::span<const iovec> pieces, size_t max, std::string* output) noexcept;
  /// Appends the announcement that no more bytes will be written (close_notify), once.
  void EndOutput(std::string* output) noexcept;

  /// Returns whether the session is broken: nothing can be read or written.
  bool has_failed() const { return has_failed_; }
  /// Returns the subject of the client's certificate (RFC 4514); empty without one.
  const std::string& client_subject() const { return client_subject_; }

 private:
  static constexpr size_t kRecordsPerTurn = 2048;
  struct FreeSession {
    void operator()(SSL* session) const;
  };

  bool Encrypt(const char* data, size_t size);
  Progress Finish(std::string* failure);
  ByteStream::Outcome AfterFailedRead(size_t size, int error);

  const std::shared_ptr<const TlsCredentials> credentials_;
  TlsWire wire_;
  const std::unique_ptr<SSL, FreeSession> session_;
  std::string client_subject_;
  bool has_ended_ = false;  // the client has announced the end
  bool has_failed_ = false;
  size_t records_left_ = kRecordsPerTurn;
};

}  // namespace nereid::frontend::net
