// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <utility>

#include "frontend/net/byte_stream.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/socket.h"

namespace nereid::frontend::net {

/// The plain bytes of a TCP or Unix socket: each Read() is a recv(2), or a recvmsg(2) if
/// descriptors may come; each Write() is a sendmsg(2).
class SocketStream final : public ByteStream, private Watcher {
 public:
  SocketStream(EventLoop& loop, Socket socket)
      : Watcher(Rank::kNewcomer), loop_(loop), socket_(std::move(socket)) {}
  ~SocketStream() override { Close(); }

  bool Open(Owner& owner) noexcept override;
  void SetOwner(Owner& owner) noexcept override { owner_ = &owner; }
  Outcome Read(std::span<char> to) noexcept override;
  Outcome Write(std::span<const iovec> pieces) noexcept override;
  void SetReading(bool wanted) noexcept override;
  void AwaitWritable() noexcept override;
  void MarkServed() noexcept override;
  void EndOutput() noexcept override;
  void ProbePeer(std::chrono::seconds interval) noexcept override;
  void ReceiveDescriptors() noexcept override;
  Socket TakeDescriptor() noexcept override { return std::move(received_); }
  Peer peer() const override { return PeerOfSocket(socket_.descriptor()); }
  void Close() noexcept override;

 private:
  void OnReady(Ready ready) noexcept override;
  void TellLoop() noexcept;
  ssize_t Receive(std::span<char> to) noexcept;
  ssize_t ReceiveWithDescriptor(std::span<char> to) noexcept;

  EventLoop& loop_;
  Socket socket_;
  Socket received_;  // a descriptor that the peer has sent
  bool receives_descriptors_ = false;
  Owner* owner_ = nullptr;
  Interest wanted_;       // what the owner has set
  Interest known_;        // what the loop has
  bool watched_ = false;  // whether the loop watches the socket
};

}  // namespace nereid::frontend::net
