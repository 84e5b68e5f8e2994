// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/testing/fuzzed_client.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace nereid::frontend::net::testing {
namespace {

/// The client, which the stream and the loop share.
struct Client {
  std::string bytes;    // that were not read yet
  size_t arrived = 0;   // of these, bytes that Read() may give
  size_t piece = 4096;  // bytes that arrive together
  size_t room = 0;      // bytes that Write() takes
  size_t reads = 0;     // bytes that the client reads between two pieces; 0: all
  bool has_ended = false;
  bool is_lost = false;

  ByteStream::Owner* owner = nullptr;  // null before Open() and after Close()
  bool wants_reading = true;
  bool awaits_writable = false;
};

class FuzzedStream final : public ByteStream {
 public:
  explicit FuzzedStream(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  ~FuzzedStream() override { FuzzedStream::Close(); }

  bool Open(Owner& owner) noexcept override {
    client_->owner = &owner;
    return true;
  }
  void SetOwner(Owner& owner) noexcept override { client_->owner = &owner; }

  Outcome Read(std::span<char> to) noexcept override {
    if (client_->is_lost) return {0, State::kLost};
    const size_t size = std::min(to.size(), client_->arrived);
    if (size == 0) return {0, client_->has_ended ? State::kEnded : State::kBlocked};
    std::memcpy(to.data(), client_->bytes.data(), size);
    client_->bytes.erase(0, size);
    client_->arrived -= size;
    return {size, State::kOpen};
  }

  Outcome Write(std::span<const iovec> pieces) noexcept override {
    if (client_->is_lost) return {0, State::kLost};
    size_t size = 0;
    for (const iovec& piece : pieces) size += piece.iov_len;
    size = std::min(size, client_->room);
    client_->room -= size;
    return {size, size == 0 ? State::kBlocked : State::kOpen};
  }

  void SetReading(bool wanted) noexcept override { client_->wants_reading = wanted; }
  void AwaitWritable() noexcept override { client_->awaits_writable = true; }
  void EndOutput() noexcept override {}
  void ProbePeer(std::chrono::seconds) noexcept override {}
  Peer peer() const override { return {.address = "192.0.2.1:1000"}; }
  void Close() noexcept override {
    client_->owner = nullptr;
    client_->awaits_writable = false;
  }

 private:
  const std::shared_ptr<Client> client_;
};

/// A loop whose only event is its client. It ends some turns after the client.
class FuzzedLoop final : public EventLoop {
 public:
  FuzzedLoop(base::FakeClock& clock, std::shared_ptr<Client> client, uint64_t pause_ns)
      : EventLoop(Inbox::Make().value(), clock),
        clock_(clock),
        client_(std::move(client)),
        pause_ns_(pause_ns) {}

  std::unique_ptr<ByteStream> NewStream(Socket) override { std::abort(); }
  bool Watch(int, Watcher&, Interest) noexcept override { return false; }
  void Change(int, Watcher&, Interest) noexcept override {}
  void Unwatch(int, Watcher&) noexcept override {}

 private:
  bool Move(int, Watcher&, Interest) noexcept override { return false; }
  bool Wait(bool, uint64_t) override {
    inbox()->Disarm();
    if (client_->owner == nullptr) return Rest();
    if (client_->arrived == 0) NextPiece();
    client_->room = client_->reads == 0 ? SIZE_MAX : client_->room + client_->reads;
    const size_t unread = client_->bytes.size();
    CallOwner();
    // Replies of other threads take a moment; the connection may read nothing before they are sent.
    if (client_->bytes.size() == unread) return Rest();
    quiet_turns_ = 0;
    return true;
  }

  void NextPiece() {
    clock_.Advance(pause_ns_);
    client_->arrived = std::min(client_->piece, client_->bytes.size());
  }

  void CallOwner() {
    const bool has_input = client_->arrived > 0 || client_->has_ended || client_->is_lost;
    if (client_->owner != nullptr && client_->awaits_writable) {
      client_->awaits_writable = false;
      client_->owner->OnWritable();
    }
    if (client_->owner != nullptr && client_->wants_reading && has_input) {
      client_->owner->OnReadable();
    }
    if (client_->owner != nullptr && !client_->wants_reading && client_->is_lost) {
      client_->owner->OnLost();
    }
  }

  /// Ends a turn in which nothing arrived: the client ends step by step.
  bool Rest() {
    ++quiet_turns_;
    const bool is_read = client_->bytes.empty() || client_->owner == nullptr;
    if (quiet_turns_ > 4 && quiet_turns_ < kTurnsBeforeTheLoss && !is_read) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (quiet_turns_ > 4 && is_read) client_->has_ended = true;
    const int loss = is_read ? 8 : kTurnsBeforeTheLoss;
    if (quiet_turns_ > loss) client_->is_lost = true;
    if (quiet_turns_ > loss + 8) Stop();
    return true;
  }

  static constexpr int kTurnsBeforeTheLoss = 100;
  base::FakeClock& clock_;
  const std::shared_ptr<Client> client_;
  const uint64_t pause_ns_;
  int quiet_turns_ = 0;
};

}  // namespace

void ServeFuzzedClient(const ProtocolMaker& make_protocol, std::string_view opening,
                       const uint8_t* data, size_t size) {
  if (size < 3) return;
  const auto client = std::make_shared<Client>();
  client->bytes = opening;
  client->bytes.append(reinterpret_cast<const char*>(data) + 3, size - 3);
  if (data[0] != 0) client->piece = data[0];
  client->reads = size_t{16} * data[2];
  base::FakeClock clock;
  ServerLoop loop(std::make_unique<FuzzedLoop>(clock, client, data[1] * uint64_t{1'000'000}),
                  "fuzz", nullptr);
  const std::shared_ptr<Protocol> protocol = make_protocol(loop);
  loop.SetProtocol(protocol);
  const std::shared_ptr<Connection> connection =
      protocol->Connect(std::make_unique<FuzzedStream>(client));
  loop.connections().Add(connection);
  connection->Start();
  loop.Run();
  if (!loop.connections().empty()) {
    std::fputs("the client has gone, and its connection is still there\n", stderr);
    std::abort();
  }
}

}  // namespace nereid::frontend::net::testing
