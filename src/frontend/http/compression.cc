// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace nereid::frontend::http {
namespace {

using base::Status;

constexpr int kWindowBits = 15;
constexpr int kGzipWrapper = 16;
constexpr int kEitherWrapper = 32;
constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view piece = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return piece;
}

/// The weight in the parameters of an Accept-Encoding element; 1 if there is none.
double Weight(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = Trim(TakeUntil(&parameters, ';'));
    if (parameter.substr(0, 2) == "q=") {
      return std::strtod(std::string(parameter.substr(2)).c_str(), nullptr);
    }
  }
  return 1.0;
}

class Inflater {
 public:
  Inflater() { ok_ = inflateInit2(&stream_, kWindowBits + kEitherWrapper) == Z_OK; }
  ~Inflater() {
    if (ok_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ok_;
};

class Deflater {
 public:
  explicit Deflater(int window_bits) {
    ok_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ok_) deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ok_;
};

Status TooBig(uint64_t max_size) {
  return Status::InvalidArgument("Decompressed data size exceeds the maximum allowed value of " +
                                 std::to_string(max_size) +
                                 " bytes. Use --http-max-input-size to increase the limit.");
}

Status NoMemory() { return Status::Unavailable("not enough memory for compression"); }

}  // namespace

base::Result<Encoding> EncodingFromName(std::string_view name) {
  name = Trim(name);
  if (name.empty() || name == "identity") return Encoding::kIdentity;
  if (name == "gzip") return Encoding::kGzip;
  if (name == "deflate") return Encoding::kDeflate;
  return Status::Unsupported("Unsupported compression type");
}

Encoding BestEncoding(std::string_view accepted) {
  Encoding best = Encoding::kIdentity;
  double best_weight = 0;
  while (!accepted.empty()) {
    std::string_view element = TakeUntil(&accepted, ',');
    const std::string_view name = Trim(TakeUntil(&element, ';'));
    if (name.empty()) continue;
    const base::Result<Encoding> encoding = EncodingFromName(name);
    if (!encoding.ok()) continue;
    const double weight = Weight(element);
    if (weight <= best_weight) continue;
    best = *encoding;
    best_weight = weight;
  }
  return best;
}

std::string_view EncodingName(Encoding encoding) {
  switch (encoding) {
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kIdentity:
      break;
  }
  return "identity";
}

base::Result<Body> Decompress(std::string_view packed, size_t offset, uint64_t max_size) {
  if (packed.empty()) return Status::InvalidArgument("nothing to be decompressed");
  Inflater inflater;
  if (!inflater.ok()) return NoMemory();
  z_stream& stream = inflater.stream();
  Body body;
  body.offset = offset;
  size_t room = std::max<size_t>(packed.size() * 4, 4096);
  std::string_view left = packed;
  while (true) {
    room = std::min<uint64_t>(room, max_size);
    memory::HostBuffer bigger = memory::HostBuffer::Allocate(offset + room + 1);
    if (!bigger) return NoMemory();
    if (body.size != 0) std::memcpy(bigger.data() + offset, body.buffer.data() + offset, body.size);
    body.buffer = std::move(bigger);
    int result = Z_OK;
    // One byte more than allowed, to notice what is too big.
    while (result == Z_OK && body.size < room + 1) {
      const size_t in = std::min(left.size(), kMostAtOnce);
      const size_t out = std::min(room + 1 - body.size, kMostAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
      stream.avail_in = static_cast<uInt>(in);
      stream.next_out = reinterpret_cast<Bytef*>(body.buffer.data() + offset + body.size);
      stream.avail_out = static_cast<uInt>(out);
      result = inflate(&stream, Z_NO_FLUSH);
      left.remove_prefix(in - stream.avail_in);
      body.size += out - stream.avail_out;
    }
    if (body.size > max_size) return TooBig(max_size);
    if (result == Z_STREAM_END) return body;
    if (result != Z_OK) {
      return Status::InvalidArgument(
          result == Z_BUF_ERROR ? "the compressed request body is incomplete"
                                : "the compressed request body cannot be decompressed: it is "
                                  "neither gzip nor zlib data, or damaged");
    }
    room = room * 2;
  }
}

Status Compress(std::span<const tensor::ByteSpan> pieces, Encoding encoding,
                codec::json::TextBuffer* out) {
  Deflater deflater(encoding == Encoding::kGzip ? kWindowBits + kGzipWrapper : kWindowBits);
  if (!deflater.ok()) return NoMemory();
  z_stream& stream = deflater.stream();
  const auto run = [&](int flush) -> Status {
    int result = Z_OK;
    do {
      constexpr size_t kRoom = size_t{32} << 10;
      char* to = out->Room(kRoom);
      if (to == nullptr) return NoMemory();
      stream.next_out = reinterpret_cast<Bytef*>(to);
      stream.avail_out = kRoom;
      result = deflate(&stream, flush);
      out->Commit(to + (kRoom - stream.avail_out));
    } while (result == Z_OK && (stream.avail_out == 0 || flush == Z_FINISH));
    return Status::Ok();
  };
  for (const tensor::ByteSpan& piece : pieces) {
    for (size_t done = 0; done < piece.size;) {
      const size_t size = std::min(piece.size - done, kMostAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data + done));
      stream.avail_in = static_cast<uInt>(size);
      NEREID_RETURN_IF_ERROR(run(Z_NO_FLUSH));
      done += size;
    }
  }
  return run(Z_FINISH);
}

}  // namespace nereid::frontend::http
