// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::net::testing {

/// A stream without a socket: the test fills `input` and reads `output`. It never calls its owner,
/// which the test may do.
class MemoryStream final : public ByteStream {
 public:
  std::string input;               // what Read() gives
  std::string output;              // what Write() took
  size_t room = SIZE_MAX;          // how many bytes Write() takes before it is blocked
  size_t max_write = SIZE_MAX;     // how many bytes one Write() takes
  State at_end = State::kBlocked;  // what follows after `input`
  bool is_lost = false;            // Write() finds the peer gone
  int writes = 0;                  // calls of Write()
  bool wants_reading = true;
  bool awaits_writable = false;
  bool output_ended = false;
  bool closed = false;
  Peer who = {.address = "192.0.2.1:1000"};  // what peer() returns

  Owner* owner = nullptr;  // as Open() or SetOwner() has set it

  bool Open(Owner& opener) noexcept override {
    owner = &opener;
    return true;
  }

  void SetOwner(Owner& next) noexcept override { owner = &next; }

  Outcome Read(std::span<char> to) noexcept override {
    const size_t size = std::min(to.size(), input.size());
    if (size == 0) return {0, at_end};
    std::memcpy(to.data(), input.data(), size);
    input.erase(0, size);
    return {size, size < to.size() && at_end == State::kBlocked ? State::kBlocked : State::kOpen};
  }

  Outcome Write(std::span<const iovec> pieces) noexcept override {
    ++writes;
    if (is_lost) return {0, State::kLost};
    size_t left = std::min(room, max_write);
    size_t size = 0;
    for (const iovec& piece : pieces) {
      const size_t taken = std::min(left - size, piece.iov_len);
      output.append(static_cast<const char*>(piece.iov_base), taken);
      size += taken;
    }
    room -= size;
    return {size, size == 0 ? State::kBlocked : State::kOpen};
  }

  void SetReading(bool wanted) noexcept override { wants_reading = wanted; }
  void AwaitWritable() noexcept override { awaits_writable = true; }
  void EndOutput() noexcept override { output_ended = true; }
  void ProbePeer(std::chrono::seconds) noexcept override {}
  Peer peer() const override { return who; }
  void Close() noexcept override { closed = true; }
};

}  // namespace nereid::frontend::net::testing
