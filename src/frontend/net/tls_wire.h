// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::net {

/// The encrypted side of a TLS session, as OpenSSL sees it (a BIO): bytes that were received before
/// and then those of a stream, and a text to which OpenSSL's bytes are appended. Not thread-safe.
class TlsWire {
 public:
  /// Returns a BIO for SSL_set_bio(), which frees it. The wire must outlive it. Null if memory has
  /// run out.
  BIO* NewBio();

  void Feed(std::string_view encrypted);
  bool has_input() const { return input_.size() != taken_; }

  /// Counts something that the client makes OpenSSL do besides its data: new keys, an attempt to
  /// renegotiate, an answer to it. Each costs as much as many records. A client that makes too many
  /// between two calls of BeginTurn() is an attacker: then nothing can be read or written any more.
  void CountExtraWork() {
    if (++extra_work_ > kMaxExtraWork) is_broken_ = true;
  }
  void BeginTurn() { extra_work_ = 0; }

  /// While it lives, OpenSSL may read `budget` bytes of `source` (null: only what was fed), and
  /// its bytes go to `output`.
  class Use {
   public:
    Use(TlsWire& wire, std::string* output, ByteStream* source = nullptr, size_t budget = 0);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    TlsWire& wire_;
  };

  /// Returns whether the source has told that it has no more bytes now.
  bool source_is_empty() const { return source_is_empty_; }

  // ---- For the BIO. ----

  /// Returns kBlocked at the end of the budget, too.
  ByteStream::Outcome Read(std::span<char> to);
  /// Returns false if memory has run out.
  bool Write(std::string_view encrypted);

 private:
  static constexpr int kMaxExtraWork = 64;

  std::string input_;
  size_t taken_ = 0;  // of input_
  std::string* output_ = nullptr;
  ByteStream* source_ = nullptr;
  size_t budget_ = 0;
  bool source_is_empty_ = false;
  int extra_work_ = 0;
  bool is_broken_ = false;
};

}  // namespace nereid::frontend::net
