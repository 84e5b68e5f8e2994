// SPDX-License-Identifier: Apache-2.0
#include "codec/compression/compression.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

namespace nereid::codec::compression {
namespace {

using Outcome = Inflated::Outcome;

// zlib's "window bits": the size of the window, plus a number for the format of the data.
constexpr int kWindowBits = 15;
constexpr int kGzipFrame = 16;
constexpr int kEitherFrame = 32;
constexpr size_t kMaxAtOnce = size_t{1} << 30;  // zlib counts in 32 bits
constexpr size_t kMinRoom = 4096;
constexpr size_t kLikelyRatio = 4;
constexpr uint64_t kFreeInflation = uint64_t{64} << 20;
constexpr uint64_t kMaxRatio = 64;
constexpr size_t kBlock = size_t{32} << 10;

int WindowBits(Encoding encoding) {
  return encoding == Encoding::kGzip ? kWindowBits + kGzipFrame : kWindowBits;
}

/// Ends a z_stream in its destructor.
class Stream {
 public:
  Stream(int opened, z_stream* stream, int (*end)(z_stream*))
      : ok_(opened == Z_OK), stream_(stream), end_(end) {}
  ~Stream() {
    if (ok_) end_(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  bool ok() const { return ok_; }

 private:
  const bool ok_;
  z_stream* const stream_;
  int (*const end_)(z_stream*);
};

Bytef* Bytes(const char* data) { return reinterpret_cast<Bytef*>(const_cast<char*>(data)); }

/// Inflates until the result has `space` bytes or zlib returns something else than Z_OK, which is
/// returned.
int InflateInto(z_stream* stream, char* result, size_t space, std::string_view* packed,
                size_t* size) {
  int state = Z_OK;
  while (state == Z_OK && *size < space) {
    const size_t in = std::min(packed->size(), kMaxAtOnce);
    const size_t out = std::min(space - *size, kMaxAtOnce);
    stream->next_in = Bytes(packed->data());
    stream->avail_in = static_cast<uInt>(in);
    stream->next_out = Bytes(result + *size);
    stream->avail_out = static_cast<uInt>(out);
    state = inflate(stream, Z_NO_FLUSH);
    packed->remove_prefix(in - stream->avail_in);
    *size += out - stream->avail_out;
  }
  return state;
}

Outcome OutcomeOf(int state) {
  switch (state) {
    case Z_STREAM_END:
      return Outcome::kDone;
    case Z_BUF_ERROR:
      return Outcome::kIncomplete;
    case Z_MEM_ERROR:
      return Outcome::kNoMemory;
    default:
      return Outcome::kDamaged;
  }
}

/// Returns whether the bytes are the beginning of a member of gzip data, as far as they go.
bool BeginsMember(std::string_view packed) {
  constexpr std::string_view kMagic = "\x1f\x8b";
  return kMagic.starts_with(packed.substr(0, kMagic.size()));
}

base::Status NoMemory() { return base::Status::Unavailable("not enough memory for compression"); }

/// Deflates the stream's input. Returns false if the sink or zlib failed.
bool DeflateInput(z_stream* stream, int flush, const PackedSink& sink) {
  char block[kBlock];
  int state = Z_OK;
  // A full block means that zlib may hold more output; with Z_FINISH the end of the stream must
  // come.
  do {
    stream->next_out = Bytes(block);
    stream->avail_out = kBlock;
    state = deflate(stream, flush);
    const size_t size = kBlock - stream->avail_out;
    if (size > 0 && !sink({block, size})) return false;
  } while (state == Z_OK && (stream->avail_out == 0 || flush == Z_FINISH));
  // zlib returns Z_BUF_ERROR if there was nothing to do.
  return flush == Z_FINISH ? state == Z_STREAM_END : state == Z_OK || state == Z_BUF_ERROR;
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

std::optional<Encoding> FindEncoding(std::string_view name) {
  for (const Encoding known : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    if (name == EncodingName(known)) return known;
  }
  return std::nullopt;
}

Inflated Inflate(std::string_view packed, std::optional<Encoding> encoding, size_t offset,
                 uint64_t limit, std::shared_ptr<base::ByteBudget> budget) {
  using Room = memory::ReceiveBuffer::Outcome;
  Inflated result;
  z_stream stream = {};
  const bool is_gzip = encoding ? *encoding == Encoding::kGzip : BeginsMember(packed);
  const int bits = encoding ? WindowBits(*encoding) : kWindowBits + kEitherFrame;
  const Stream opened(inflateInit2(&stream, bits), &stream, &inflateEnd);
  if (!opened.ok()) return result;
  memory::ReceiveBuffer plain(std::move(budget));
  // One byte more than the limit, to detect data that is too large.
  const uint64_t most = limit == UINT64_MAX ? limit : limit + 1;
  const size_t likely = std::max<size_t>(packed.size(), kMinRoom / kLikelyRatio) * kLikelyRatio;
  plain.Start(offset, static_cast<size_t>(std::min<uint64_t>(likely, most)));
  while (true) {
    std::span<char> room;
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(most - plain.size(), SIZE_MAX));
    const Room outcome = plain.MakeRoom(wanted, &room);
    if (outcome != Room::kDone) {
      result.outcome = outcome == Room::kNoMemory ? Outcome::kNoMemory : Outcome::kOverBudget;
      return result;
    }
    size_t size = 0;
    const int state = InflateInto(&stream, room.data(), room.size(), &packed, &size);
    plain.Advance(size);
    result.size = plain.size();
    if (result.size > limit) {
      result.outcome = Outcome::kTooLarge;
      return result;
    }
    if (state == Z_OK) continue;
    if (state == Z_STREAM_END && !packed.empty()) {
      if (is_gzip && BeginsMember(packed) && inflateReset(&stream) == Z_OK) continue;
      result.outcome = Outcome::kDamaged;
      return result;
    }
    result.outcome = OutcomeOf(state);
    result.buffer = plain.Take();
    return result;
  }
}

uint64_t InflationLimit(size_t packed, uint64_t limit) {
  const uint64_t by_ratio = packed > UINT64_MAX / kMaxRatio ? UINT64_MAX : packed * kMaxRatio;
  return std::min(limit, std::max(kFreeInflation, by_ratio));
}

base::Status Deflate(std::span<const tensor::ByteSpan> pieces, Encoding encoding, int level,
                     const PackedSink& sink) {
  z_stream stream = {};
  const Stream opened(
      deflateInit2(&stream, level, Z_DEFLATED, WindowBits(encoding), 8, Z_DEFAULT_STRATEGY),
      &stream, &deflateEnd);
  if (!opened.ok()) return NoMemory();
  for (const tensor::ByteSpan& piece : pieces) {
    for (size_t done = 0; done < piece.size;) {
      const size_t size = std::min(piece.size - done, kMaxAtOnce);
      stream.next_in = Bytes(piece.data + done);
      stream.avail_in = static_cast<uInt>(size);
      if (!DeflateInput(&stream, Z_NO_FLUSH, sink)) return NoMemory();
      done += size;
    }
  }
  stream.avail_in = 0;
  return DeflateInput(&stream, Z_FINISH, sink) ? base::Status::Ok() : NoMemory();
}

}  // namespace nereid::codec::compression
