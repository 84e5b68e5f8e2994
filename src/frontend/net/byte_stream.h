// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <span>

#include "frontend/net/peer.h"
#include "frontend/net/socket.h"

namespace nereid::frontend::net {

/// The bytes of one connection, in both directions. The front ends use only this interface. They do
/// not know whether the bytes are encrypted or which kind of socket is used.
///
/// A stream never waits. It calls its owner when reading or writing is possible, and the owner
/// calls Read() or Write() until the result is kBlocked. One virtual call moves all available bytes
/// without a copy.
///
/// The contract of an implementation, also of TLS over another stream and of buffers that io_uring
/// has filled:
///
/// - OnReadable() means that Read() may return bytes or the end. It is called again in a later turn
///   of the loop as long as reading is enabled and the owner has not read until kBlocked, even if
///   the remaining bytes are decrypted in the stream and the socket has no more.
/// - A handshake is invisible to the owner: until it is complete, Read() and Write() are blocked. A
///   stream that must write in order to read, or the reverse, watches the socket for this itself.
/// - A failed handshake and a peer that has gone are kLost.
///
/// All functions run on the loop's thread. A stream may be closed and destroyed during each call
/// that it makes to its owner.
class ByteStream {
 public:
  /// The owner of a stream: a front end's connection.
  class Owner {
   public:
    virtual void OnReadable() noexcept = 0;
    /// Called once for each AwaitWritable().
    virtual void OnWritable() noexcept = 0;
    /// Called at most once, if the peer has gone while neither reading nor writing was awaited.
    virtual void OnLost() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  enum class State {
    kOpen,     // more is possible at once
    kBlocked,  // not possible now
    kEnded,    // the peer has finished sending; it may still read
    kLost,     // the connection is broken
  };
  struct Outcome {
    size_t size = 0;  // bytes that were moved
    State state = State::kOpen;
  };

  virtual ~ByteStream() = default;

  /// Begins to watch for bytes to read. Returns false if the system lacks resources. Must be called
  /// once, before all other functions; `owner` must outlive the stream or close it.
  virtual bool Open(Owner& owner) noexcept = 0;

  /// Replaces the owner, also while it is being called; `owner` must outlive the stream or close
  /// it.
  virtual void SetOwner(Owner& owner) noexcept = 0;

  /// Reads the available bytes, at most `to.size()` (above 0). A size above 0 is returned with
  /// kOpen, or with kBlocked if it is known that no more bytes are available.
  virtual Outcome Read(std::span<char> to) noexcept = 0;

  /// Writes as many bytes of the pieces as possible, perhaps none (kBlocked) or a part (kOpen: try
  /// the rest). After kBlocked the next call must begin with the same bytes.
  virtual Outcome Write(std::span<const iovec> pieces) noexcept = 0;

  /// Enables or disables OnReadable(); it is enabled at first. If the peer goes while it is
  /// disabled, OnLost() is called.
  virtual void SetReading(bool wanted) noexcept = 0;

  /// Requests one call of OnWritable() in a later turn of the loop.
  virtual void AwaitWritable() noexcept = 0;

  /// Says that the peer is a client that has had replies. Until then it is a newcomer, whose bytes
  /// the loop reads after those of all others. Further calls do nothing.
  virtual void MarkServed() noexcept {}

  /// Tells the peer that no more bytes will be written. Reading continues.
  virtual void EndOutput() noexcept = 0;

  /// Makes the system check at this interval whether an idle peer still exists, if it can.
  virtual void ProbePeer(std::chrono::seconds interval) noexcept = 0;

  /// Accepts descriptors that the peer of a Unix socket sends with its bytes (SCM_RIGHTS); without
  /// this call the kernel closes them. Streams that cannot carry any ignore it.
  virtual void ReceiveDescriptors() noexcept {}
  /// Returns the descriptor that came with the bytes of the last Read(); usually none, which is a
  /// closed Socket. Of several only one is kept.
  virtual Socket TakeDescriptor() noexcept { return {}; }

  /// Returns who the peer is. Costs system calls, so it is asked only by those who need to know.
  /// May throw std::bad_alloc.
  virtual Peer peer() const = 0;

  /// Closes the connection. The owner is not called any more. A second call does nothing.
  virtual void Close() noexcept = 0;
};

}  // namespace nereid::frontend::net
