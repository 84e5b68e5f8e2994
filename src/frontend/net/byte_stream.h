// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <span>

namespace nereid::frontend::net {

/// The bytes of one connection, in both directions. The front ends know only this interface, and
/// not whether the bytes are encrypted or which kind of socket carries them.
///
/// A stream never waits. It tells its owner when reading or writing may go on, and the owner calls
/// Read() or Write() until that says kBlocked. One virtual call moves as many bytes as there are;
/// nothing is copied in between.
///
/// The contract of an implementation, with TLS over another stream and buffers that io_uring has
/// filled in mind:
/// - OnReadable() means that Read() may give bytes, or the end. It comes again, in a later turn of
///   the loop, for as long as reading is wanted and the owner has not read up to kBlocked, also
///   where the rest lies decrypted in the stream and the socket has nothing more.
/// - The owner does not know of a handshake: until it is complete, Read() and Write() are blocked.
///   A stream that must write in order to read, or the other way round, watches for that itself.
/// - A handshake that fails, and a peer that has gone, are kLost.
///
/// Everything on the loop's thread. A stream may be closed and destroyed within each of the calls
/// that it makes to its owner.
class ByteStream {
 public:
  /// Whose stream it is: a front end's connection.
  class Owner {
   public:
    virtual void OnReadable() noexcept = 0;
    /// Comes once for each AwaitWritable().
    virtual void OnWritable() noexcept = 0;
    /// The peer has gone, and neither reading nor writing was waited for. Comes at most once.
    virtual void OnLost() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  enum class State {
    kOpen,     // more may be done at once
    kBlocked,  // not now
    kEnded,    // the peer has finished sending; it may still read
    kLost,     // the connection is broken
  };
  struct Outcome {
    size_t size = 0;  // of the bytes that were moved
    State state = State::kOpen;
  };

  virtual ~ByteStream() = default;

  /// Begins to watch for bytes to read. Returns false if the system lacks the means. Once, before
  /// everything else; `owner` must outlive the stream or close it.
  virtual bool Open(Owner& owner) noexcept = 0;

  /// Reads the bytes that have come, at most `to.size()` (above 0). A size above 0 comes with
  /// kOpen, or with kBlocked where it is known that there is no more.
  virtual Outcome Read(std::span<char> to) noexcept = 0;

  /// Writes as many of the pieces' bytes as may be written now, possibly none (kBlocked) or a part
  /// (kOpen: try the rest). After kBlocked the next call must begin with the same bytes.
  virtual Outcome Write(std::span<const iovec> pieces) noexcept = 0;

  /// Whether OnReadable() is wanted. It is in the beginning. A peer that goes while it is not is
  /// told by OnLost().
  virtual void SetReading(bool wanted) noexcept = 0;

  /// Wants OnWritable(), once, in a later turn of the loop.
  virtual void AwaitWritable() noexcept = 0;

  /// Tells the peer that nothing more will be written. Reading goes on.
  virtual void EndOutput() noexcept = 0;

  /// Has the system ask this often whether an idle peer is still there, where it can.
  virtual void ProbePeer(std::chrono::seconds interval) noexcept = 0;

  /// Closes the connection: the owner is not called any more. A second call does nothing.
  virtual void Close() noexcept = 0;
};

}  // namespace nereid::frontend::net
