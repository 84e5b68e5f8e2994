// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace nereid::frontend::grpc {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipFlag = 16;  // added to the window bits: gzip's frame instead of zlib's

int WindowBits(Encoding encoding) {
  return encoding == Encoding::kGzip ? kWindowBits + kGzipFlag : kWindowBits;
}

base::Status Malformed() {
  return base::Status::InvalidArgument(
      "the message is not what its compression flag says: the "
      "compressed data is malformed");
}

class Inflater {
 public:
  explicit Inflater(Encoding encoding) {
    initialised_ = inflateInit2(&stream_, WindowBits(encoding)) == Z_OK;
  }
  ~Inflater() {
    if (initialised_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool initialised() const { return initialised_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
  bool initialised_ = false;
};

// The larger buffer keeps what is there.
bool Grow(memory::HostBuffer* buffer, size_t size, size_t filled) {
  memory::HostBuffer larger = memory::HostBuffer::Allocate(size);
  if (!larger) return false;
  if (filled > 0) std::memcpy(larger.data(), buffer->data(), filled);
  *buffer = std::move(larger);
  return true;
}

}  // namespace

std::string_view EncodingName(Encoding encoding) {
  switch (encoding) {
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kIdentity:
      break;
  }
  return "identity";
}

bool EncodingFromName(std::string_view name, Encoding* encoding) {
  for (const Encoding known : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    if (name != EncodingName(known)) continue;
    *encoding = known;
    return true;
  }
  return false;
}

Encoding ChooseEncoding(std::string_view accept) {
  Encoding chosen = Encoding::kIdentity;
  while (!accept.empty()) {
    const size_t comma = accept.find(',');
    std::string_view name = accept.substr(0, comma);
    accept.remove_prefix(comma == std::string_view::npos ? accept.size() : comma + 1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    Encoding offered = Encoding::kIdentity;
    if (EncodingFromName(name, &offered)) chosen = std::max(chosen, offered);
  }
  return chosen;
}

base::Result<StoredBytes> Decompress(std::string_view compressed, Encoding encoding, size_t limit) {
  const base::Status out_of_memory =
      base::Status::Unavailable("out of memory while decompressing a message");
  Inflater inflater(encoding);
  if (!inflater.initialised()) return out_of_memory;
  z_stream& stream = inflater.stream();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  StoredBytes result;
  size_t capacity = std::max<size_t>(256, std::min(limit, compressed.size() * 4));
  size_t filled = 0;
  if (!Grow(&result.storage, capacity, 0)) return out_of_memory;
  while (true) {
    const size_t space = std::min<size_t>(capacity - filled, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(result.storage.data() + filled);
    stream.avail_out = static_cast<uInt>(space);
    const int state = inflate(&stream, Z_NO_FLUSH);
    filled += space - stream.avail_out;
    if (filled > limit) {
      return base::Status::Unavailable("Received message larger than max (" +
                                       std::to_string(filled) + " vs. " + std::to_string(limit) +
                                       ") after decompression");
    }
    if (state == Z_STREAM_END) break;
    // Without room left more output may follow; with room left the input ended too early.
    if ((state != Z_OK && state != Z_BUF_ERROR) || stream.avail_out != 0) return Malformed();
    if (filled == capacity) {
      capacity *= 2;
      if (!Grow(&result.storage, capacity, filled)) return out_of_memory;
    }
  }
  if (stream.avail_in != 0) return Malformed();
  result.bytes = {result.storage.data(), filled};
  return result;
}

base::Status Compress(std::span<const std::string_view> pieces, Encoding encoding, int level,
                      std::string* out) {
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, WindowBits(encoding), 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return base::Status::Unavailable("out of memory while compressing a message");
  }
  char block[16384];
  int state = Z_OK;
  for (size_t i = 0; i <= pieces.size() && state != Z_STREAM_END; ++i) {
    const bool last = i == pieces.size();
    if (!last) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(pieces[i].data()));
      stream.avail_in = static_cast<uInt>(pieces[i].size());
    }
    do {
      stream.next_out = reinterpret_cast<Bytef*>(block);
      stream.avail_out = sizeof(block);
      state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      out->append(block, sizeof(block) - stream.avail_out);
    } while (stream.avail_out == 0 || (last && state == Z_OK));
  }
  deflateEnd(&stream);
  return state == Z_STREAM_END ? base::Status::Ok()
                               : base::Status::Internal("a response could not be compressed");
}

}  // namespace nereid::frontend::grpc
