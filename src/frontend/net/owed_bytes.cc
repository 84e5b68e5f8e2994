// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/owed_bytes.h"

#include <exception>

namespace nereid::frontend::net {
namespace {

using State = ByteStream::State;

constexpr size_t kKeptCapacity = 4096;

ByteStream::Outcome Write(ByteStream& stream, const char* data, size_t size) {
  const iovec piece = {const_cast<char*>(data), size};
  return stream.Write({&piece, 1});
}

}  // namespace

bool OwedBytes::Send(std::string_view bytes) noexcept {
  while (empty() && !bytes.empty()) {
    const ByteStream::Outcome sent = Write(stream_, bytes.data(), bytes.size());
    if (sent.state == State::kLost) return false;
    if (sent.state == State::kBlocked) break;
    bytes.remove_prefix(sent.size);
  }
  if (bytes.empty()) return true;
  try {
    bytes_.append(bytes);
  } catch (const std::exception&) {
    return false;
  }
  stream_.AwaitWritable();
  return true;
}

bool OwedBytes::Flush() noexcept {
  while (size() != 0) {
    const ByteStream::Outcome sent = Write(stream_, bytes_.data() + written_, size());
    if (sent.state == State::kLost) return false;
    if (sent.state == State::kBlocked) return true;
    written_ += sent.size;
  }
  written_ = 0;
  bytes_.clear();
  if (bytes_.capacity() > kKeptCapacity) bytes_ = std::string();
  return true;
}

}  // namespace nereid::frontend::net
