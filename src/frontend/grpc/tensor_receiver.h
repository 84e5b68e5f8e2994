// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "api/input_memory.h"
#include "base/byte_budget.h"
#include "codec/proto/raw_contents.h"
#include "frontend/grpc/message_encoding.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::grpc {

/// Receives the raw_input_contents of one ModelInferRequest in memory of the model's backend, which
/// another process may write to, and the other fields apart from them. Not thread-safe.
class TensorReceiver {
 public:
  using Outcome = memory::ReceiveBuffer::Outcome;

  /// Smaller messages are not worth the trouble.
  static constexpr size_t kMinMessage = size_t{64} << 10;

  /// Returns a receiver for a message of `size` bytes that begins with `begin`, which Append() then
  /// takes first. Returns null if the message is to be received in one piece: because it is small,
  /// the backend has no wish, or the tensors do not begin in `begin`.
  static std::unique_ptr<TensorReceiver> Start(const api::InputMemorySource& source,
                                               std::shared_ptr<base::ByteBudget> budget,
                                               std::string_view begin, size_t size);

  /// Takes the next bytes of the message.
  Outcome Append(std::string_view bytes);
  /// Returns how many bytes of the message have come.
  size_t received() const { return received_; }
  /// Moves the complete message out.
  StoredBytes Take();

 private:
  struct Entry {
    size_t begin = 0;
    size_t size = 0;
  };

  TensorReceiver(std::shared_ptr<base::ByteBudget> budget, size_t start, size_t rest);
  /// Begins an entry at an address that suits its elements, if there is room for that.
  Outcome BeginEntry(size_t size);

  memory::ReceiveBuffer fields_;
  memory::ReceiveBuffer tensors_;
  codec::proto::RawContentsReader reader_;
  std::vector<Entry> entries_;  // in tensors_
  size_t start_left_;           // of the fields in front of the tensors
  size_t room_ = 0;             // in the memory of the tensors
  size_t entries_left_ = 0;     // bytes of the message from here on
  size_t received_ = 0;
};

}  // namespace nereid::frontend::grpc
