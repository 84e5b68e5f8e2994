// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "nereid/backend/error.h"
#include "python/messages.h"
#include "python/segments.h"

namespace nereid::python {

/// A message that was received. The views are valid until the next one is received into it.
struct Incoming {
  MessageHeader header;
  Bytes body;

  /// The memory of the views.
  std::vector<char> buffer;
  std::vector<char> long_message;
};

/// The server's end of one of the two sockets of a worker. One thread receives; Send and Post may
/// be called by any thread.
class Channel {
 public:
  enum class Received { kMessage, kNothing, kClosed };

  /// `segments` outlives the channel.
  /// `wake` is an eventfd that is signalled when a message has to wait in the queue.
  Channel(base::UniqueFd socket, Segments* segments, int wake)
      : socket_(std::move(socket)), segments_(*segments), wake_(wake) {}

  /// Receives the next message. Announcements of segments and the lists of released segments are
  /// handled on the way. If `wait` is false and no message is there, returns kNothing. If the
  /// worker breaks the protocol, `*violation` says how, and the result is kClosed.
  Received Receive(bool wait, Incoming* in, std::string* violation);

  /// Sends a message, which begins with a header, and waits until the socket takes it. Those of
  /// `segments` that the worker does not know are announced first. Returns false if the worker is
  /// gone, or if there is no memory for the file of a long message.
  bool Send(const std::vector<char>& message, std::span<const TakenSegment> segments = {})
      NEREID_EXCLUDES(mutex_);

  /// Does the same without waiting: what the socket does not take at once waits in a queue, which
  /// Flush sends. Returns false also if the queue has kMaxQueued bytes already, unless the message
  /// is `urgent`: a short one that ends something.
  bool Post(std::vector<char> message, std::span<const TakenSegment> segments = {},
            bool urgent = false) NEREID_EXCLUDES(mutex_);

  /// Sends queued messages. Returns whether the queue is empty.
  bool Flush() NEREID_EXCLUDES(mutex_);
  bool HasQueued() NEREID_EXCLUDES(mutex_);

  /// Whether Send would take a message at once: the worker has read all but little.
  bool HasSpace() const;

  /// Ends the connection: both sides see its end, and waiting calls return.
  void Shutdown();

  int socket() const { return socket_.get(); }

  static constexpr uint64_t kMaxQueued = uint64_t{256} << 20;

 private:
  struct Outgoing {
    std::vector<char> message;
    /// Keeps the file that is passed with the message, and closes it after that.
    std::shared_ptr<SharedMemory> memory;
    /// Does so without closing it.
    std::shared_ptr<InputArena> arena;

    int file() const;
    void Passed() const;
  };
  enum class Sent { kYes, kFull, kGone };

  Received ReceiveDatagram(bool wait, Incoming* in, Bytes* message, base::UniqueFd* file,
                           std::string* violation);
  bool TakeSegment(const Incoming& in, base::UniqueFd file, std::string* violation);
  bool ReadLong(base::UniqueFd file, Incoming* in, std::string* violation);
  Sent SendDatagram(const std::vector<char>& message, int file, bool wait) const;
  /// Adds the announcement of a segment, unless the worker knows it.
  static void Announce(const TakenSegment& segment, std::vector<Outgoing>* datagrams);
  /// Returns the announcements of the segments that the worker is to forget.
  std::vector<Outgoing> Forgotten();
  /// Returns the datagrams that pass a message: announcements of its segments, and the message, in
  /// a file if it is long. Empty if there is no memory for the file.
  std::vector<Outgoing> Datagrams(std::vector<char> message,
                                  std::span<const TakenSegment> segments);

  base::UniqueFd socket_;
  Segments& segments_;
  const int wake_;
  base::Mutex mutex_;
  std::deque<Outgoing> queue_ NEREID_GUARDED_BY(mutex_);
  uint64_t queued_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::python
