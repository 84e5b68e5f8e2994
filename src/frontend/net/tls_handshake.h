// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/net/inbox.h"
#include "frontend/net/tls_context.h"
#include "frontend/net/tls_session.h"

namespace nereid::frontend::net {

/// The handshake of one connection. It is made in steps, each with the bytes that the client has
/// sent; a step runs on another thread than the loop's, and its end is a task for the loop. The
/// connection may close meanwhile: it abandons the handshake, which keeps itself alive until the
/// step has ended.
///
/// Nothing is computed, and no session exists, before the first record is complete: a client that
/// only connects costs nearly nothing.
class TlsHandshake final : public TlsContext::Handshake,
                           public std::enable_shared_from_this<TlsHandshake> {
 public:
  /// The connection. On the loop's thread.
  class Host {
   public:
    /// Called when a step has ended, unless the handshake is abandoned.
    virtual void OnHandshakeStep() noexcept = 0;

   protected:
    ~Host() = default;
  };

  TlsHandshake(Host& host, std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)), host_(&host) {}

  // ---- For the connection. While a step runs, only Add(), Abandon() and is_running()
  // may be called. ----

  enum class Input { kIncomplete, kReady, kNotTls, kLater };
  /// Adds bytes of the client. Returns kReady if a step can be made with them, kNotTls if they are
  /// not the beginning of a TLS session, kLater if a step runs: they are for the next one. May
  /// throw std::bad_alloc.
  Input Add(std::string_view bytes);

  /// Begins a step. Returns false if that is not possible now; see TlsContext::Run().
  bool Start(TlsContext& context) noexcept;
  bool is_running() const { return is_running_; }

  /// The host is not called any more.
  void Abandon() noexcept {
    host_ = nullptr;
    is_abandoned_.store(true, std::memory_order_relaxed);
  }

  /// Returns whether bytes came during the last step, which need another one.
  bool has_input() const { return !input_.empty(); }
  // The result of a step: kWaits for more bytes of the client, kDone or kFailed.
  TlsSession::Progress progress() const { return progress_; }
  /// Returns why the handshake has failed, for people.
  const std::string& failure() const { return failure_; }
  /// Returns the bytes for the client; the caller clears them.
  std::string& output() { return output_; }
  /// Returns the session when the handshake is done.
  std::unique_ptr<TlsSession> TakeSession() { return std::move(session_); }

  // TlsContext::Handshake
  bool has_begun() const override { return session_ != nullptr; }
  bool is_abandoned() const override { return is_abandoned_.load(std::memory_order_relaxed); }
  /// Makes the step, and posts its end to the loop.
  void MakeStep(TlsContext& context) noexcept override;

 private:
  void OnStepEnd();

  const std::shared_ptr<Inbox> inbox_;
  Host* host_;  // loop thread only; null: abandoned
  std::atomic<bool> is_abandoned_{false};
  bool is_running_ = false;  // loop thread only
  std::string later_;        // loop thread only: bytes that came while a step was running
  // Of the step while it runs, of the loop's thread otherwise.
  std::string input_;
  std::string output_;
  std::string failure_;
  std::unique_ptr<TlsSession> session_;
  TlsSession::Progress progress_ = TlsSession::Progress::kWaits;
  MemberTask<TlsHandshake, &TlsHandshake::OnStepEnd> step_end_{*this};
};

}  // namespace nereid::frontend::net
