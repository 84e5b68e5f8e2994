// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.h"
#include "base/mutex.h"

namespace nereid::frontend::http {

/// The body of a streamed reply: a queue of pieces between the threads that write them and the
/// connection that sends them. The bytes that wait for the client are bounded. Thread-safe.
class ReplyStream : public std::enable_shared_from_this<ReplyStream> {
 public:
  /// Tells the connection that there is something to take. Called on the writing thread, without a
  /// lock, and not again before Take().
  using Wake = std::function<void(std::shared_ptr<ReplyStream>)>;

  struct Piece {
    std::string text;
    base::ByteShare waiting;  // its share of the bound; returned when the piece is destroyed
  };
  /// The pieces that can be sent now.
  struct Ready {
    std::vector<Piece> pieces;
    int status = 200;    // of the reply
    bool ended = false;  // these are the last pieces
  };

  /// At most `limit` bytes wait. A thread that may block waits for `patience` before it is refused.
  ReplyStream(size_t limit, std::chrono::milliseconds patience, Wake wake);

  // ---- For the threads that write. ----

  /// Adds a piece. The status of the first piece is the status of the reply. If too many bytes
  /// wait, waits for the client, provided that `may_wait` is true and the thread may block. Returns
  /// false, without adding the piece, if too many bytes still wait or the connection has closed the
  /// stream.
  bool Write(int status, std::string text, bool may_wait);
  /// Adds the last piece, even if too many bytes wait, and ends the stream. Does nothing after the
  /// end.
  void EndWith(int status, std::string text);
  /// Ends the stream. A second call does nothing.
  void End();

  /// The number of bytes that may wait.
  size_t limit() const { return budget_->limit(); }

  // ---- For the connection, on its loop. ----

  /// Removes and returns the pieces that wait.
  Ready Take();
  /// Drops the pieces that wait and all later ones, because the client has gone or has them all.
  void Close();

 private:
  void Add(int status, Piece piece, bool end);

  const std::shared_ptr<base::ByteBudget> budget_;
  base::Mutex mutex_;
  Wake wake_ NEREID_GUARDED_BY(mutex_);  // null: closed
  Ready ready_ NEREID_GUARDED_BY(mutex_);
  bool has_status_ NEREID_GUARDED_BY(mutex_) = false;  // a piece has set the status
  bool is_woken_ NEREID_GUARDED_BY(mutex_) = false;    // the connection will call Take()
};

}  // namespace nereid::frontend::http
