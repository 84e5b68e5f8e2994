// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "frontend/net/testing/certificates.h"
#include "frontend/net/testing/manual_loop.h"
#include "frontend/net/testing/memory_stream.h"
#include "frontend/net/testing/recording_owner.h"
#include "frontend/net/testing/tls_client.h"
#include "frontend/net/tls_context.h"
#include "frontend/net/tls_loop.h"
#include "frontend/net/tls_stream.h"

namespace nereid::frontend::net::testing {

/// One TLS stream over a stream in memory, with its client. The test is the owner of the stream,
/// the network and the threads of the handshakes, so nothing happens by itself.
class TlsTest : public ::testing::Test, protected RecordingOwner {
 protected:
  using State = ByteStream::State;

  ~TlsTest() override {
    if (stream_ != nullptr) stream_->Close();
  }

  /// Makes the server's side. Once, before Connect().
  void Serve(TlsSettings settings, size_t max_waiting = TlsLoop::kMaxWaiting) {
    auto made = TlsContext::Make(std::move(settings), clock_, [this](auto step) {
      if (refuses_steps_) return false;
      steps_.push_back(std::move(step));
      return true;
    });
    ASSERT_TRUE(made.ok()) << made.status().message();
    context_ = std::move(made).value();
    tls_ = std::make_unique<TlsLoop>(loop_, *context_, max_waiting);
  }
  void Serve() { Serve(files_.Settings()); }

  /// Makes the stream of a new connection, and its client.
  void Connect(const TlsClient::Options& options) {
    if (context_ == nullptr) Serve();
    client_ = std::make_unique<TlsClient>(options);
    auto inner = std::make_unique<MemoryStream>();
    inner_ = inner.get();
    stream_ = std::make_unique<TlsStream>(*tls_, std::move(inner));
    ASSERT_TRUE(stream_->Open(*this));
  }
  void Connect() { Connect({.authority = files_.authority}); }
  /// Connects and makes the handshake.
  void Establish() {
    Connect();
    Exchange();
    ASSERT_TRUE(client_->IsConnected());
  }

  /// Runs the steps of handshakes that the stream has requested.
  void RunSteps() {
    while (!steps_.empty()) {
      base::BlockingWorkers::Task step = std::move(steps_.front());
      steps_.pop_front();
      step.is_abandoned() ? step.drop() : step.run();
    }
  }
  /// One turn of the loop: the bytes that have arrived, room to write, tasks and timers.
  void Turn() {
    if (inner_->wants_reading && (!inner_->input.empty() || inner_->at_end != State::kBlocked)) {
      inner_->owner->OnReadable();
    }
    if (stream_ != nullptr && inner_->awaits_writable && inner_->room != 0) {
      inner_->awaits_writable = false;
      inner_->owner->OnWritable();
    }
    clock_.Advance(1);
    loop_.RunTurn();
  }
  /// Moves bytes and runs steps until nothing is left to do.
  void Exchange() {
    for (int i = 0; i < 50; ++i) {
      inner_->input += client_->TakeOutput();
      Turn();
      RunSteps();
      loop_.RunTurn();
      client_->Receive(std::exchange(inner_->output, {}));
    }
  }

  ByteStream::Outcome Read(size_t room) {
    buffer_.resize(room);
    const ByteStream::Outcome got = stream_->Read(buffer_);
    buffer_.resize(got.size);
    return got;
  }
  ByteStream::Outcome Write(std::string_view text) {
    const iovec piece = {const_cast<char*>(text.data()), text.size()};
    return stream_->Write({&piece, 1});
  }

  const CertificateFiles files_;
  base::FakeClock clock_;
  ManualLoop loop_{clock_};
  std::deque<base::BlockingWorkers::Task> steps_;
  bool refuses_steps_ = false;
  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<TlsLoop> tls_;
  MemoryStream* inner_ = nullptr;  // of stream_
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<TlsClient> client_;
  std::string buffer_;
};

}  // namespace nereid::frontend::net::testing
