// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nereid::frontend::grpc {

class CallStream;

/// The connection of a call, as the call sees it. Session implements it. Event loop thread only.
class CallHost {
 public:
  /// `call` has bytes to send, or has finished.
  virtual void CallChanged(CallStream& call) = 0;
  /// `call` takes bytes again after WantsLess().
  virtual void WantsMore(CallStream& call) = 0;
  /// Ends the stream at once with RST_STREAM. `error_code` is HTTP/2's.
  virtual void ResetStream(CallStream& call, uint32_t error_code) = 0;
  /// Returns the client's address, as net::Peer has it.
  virtual std::string PeerAddress() const = 0;

 protected:
  ~CallHost() = default;
};

}  // namespace nereid::frontend::grpc
