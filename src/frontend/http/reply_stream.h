// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.h"

namespace nereid::frontend::http {

/// The body of an answer that is sent in pieces while they come to be. Between the threads that
/// write it and the connection that sends it; what waits for the client is bounded. Thread-safe.
class ReplyStream : public std::enable_shared_from_this<ReplyStream> {
 public:
  /// Tells the connection that there is something to Take; called on the writing thread.
  using Wake = std::function<void(std::shared_ptr<ReplyStream>)>;

  struct Piece {
    std::string text;
    base::ByteShare waiting;
  };
  /// What is there to be sent.
  struct Ready {
    std::vector<Piece> pieces;
    int status = 200;
    bool ended = false;
  };

  ReplyStream(size_t limit, std::chrono::milliseconds patience, Wake wake);

  // ---- For the writer. ----

  /// `status` counts for the first piece. Waits for the client where it reads slowly, `may_wait`,
  /// and the thread may block. False: too much waits, or nobody reads any more; nothing is written.
  bool Write(int status, std::string text, bool may_wait);
  /// Writes a last piece, however much waits, and ends. Nothing after End.
  void EndWith(int status, std::string text);
  /// Nothing more comes. A second call does nothing.
  void End();

  /// Bytes that may wait.
  size_t limit() const { return budget_->limit(); }

  // ---- For the connection, on its loop. ----

  Ready Take();
  /// Nobody reads any more: drops what waits, and whatever comes.
  void Close();

 private:
  void Add(int status, Piece piece, bool end);

  const std::shared_ptr<base::ByteBudget> budget_;
  std::mutex mutex_;
  Wake wake_;           // guarded by mutex_; null once closed
  Ready ready_;         // guarded by mutex_
  bool begun_ = false;  // guarded by mutex_: the status is decided
  bool awake_ = false;  // guarded by mutex_: the connection knows
};

}  // namespace nereid::frontend::http
