// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/raw_contents.h"

#include <algorithm>

#include "codec/proto/wire_reader.h"

namespace nereid::codec::proto {
namespace {

constexpr uint32_t LengthTag(uint32_t field) { return MakeTag(field, WireType::kLength); }
constexpr uint32_t kModelName = LengthTag(1);
constexpr uint32_t kModelVersion = LengthTag(2);
constexpr uint32_t kInputs = LengthTag(5);
constexpr uint32_t kRawInputContents = LengthTag(7);

constexpr int kMaxFields = 128;
constexpr size_t kMaxStart = size_t{16} << 10;

}  // namespace

std::optional<RequestStart> FindRawContents(std::string_view begin) {
  begin = begin.substr(0, kMaxStart);
  RequestStart start;
  bool has_numbers = false;
  WireReader reader(begin);
  for (int fields = 0; fields < kMaxFields && !reader.done(); ++fields) {
    start.size = begin.size() - reader.left();
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return std::nullopt;
    if (tag == kRawInputContents) return has_numbers ? std::optional(start) : std::nullopt;
    // All fields of the message have this wire type.
    std::string_view body;
    if ((tag & 7) != static_cast<uint32_t>(WireType::kLength) || !reader.ReadBytes(&body)) {
      return std::nullopt;
    }
    if (tag == kModelName) start.model_name = body;
    if (tag == kModelVersion) start.model_version = body;
    if (tag == kInputs) has_numbers |= body.find("BYTES") == std::string_view::npos;
  }
  return std::nullopt;
}

RawContentsReader::Piece RawContentsReader::Next(std::string_view* data) {
  if (!in_rest_ && entry_left_ == 0) return ReadHeader(data);
  const size_t taken = in_rest_ ? data->size() : std::min<uint64_t>(data->size(), entry_left_);
  const std::string_view bytes = data->substr(0, taken);
  data->remove_prefix(taken);
  left_ -= taken;
  if (in_rest_) return {Kind::kRest, bytes};
  entry_left_ -= taken;
  return {Kind::kBytes, bytes};
}

/// Reads the tag and the size of an entry, which may arrive in several pieces.
RawContentsReader::Piece RawContentsReader::ReadHeader(std::string_view* data) {
  while (!data->empty()) {
    header_[header_size_++] = data->front();
    data->remove_prefix(1);
    --left_;
    WireReader reader({header_.data(), header_size_});
    uint32_t tag = 0;
    if (reader.ReadTag(&tag)) {
      if (tag != kRawInputContents) return BeginRest();
      if (reader.ReadVarint(&entry_left_)) {
        if (entry_left_ > left_ || entries_left_ == 0) return BeginRest();
        header_size_ = 0;
        --entries_left_;
        return {Kind::kEntry, {}, static_cast<size_t>(entry_left_)};
      }
    }
    if (header_size_ == header_.size() || left_ == 0) return BeginRest();
  }
  return {};
}

RawContentsReader::Piece RawContentsReader::BeginRest() {
  entry_left_ = 0;
  in_rest_ = true;
  return {Kind::kRest, {header_.data(), header_size_}};
}

}  // namespace nereid::codec::proto
