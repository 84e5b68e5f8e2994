// SPDX-License-Identifier: Apache-2.0
#include "codec/json/shared_memory.h"

#include <optional>

#include "base/json_writer.h"
#include "base/narrow.h"
#include "codec/json/array_text.h"
#include "codec/json/base64.h"
#include "codec/json/repository_members.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;
using base::Status;

/// The size of a cudaIpcMemHandle_t.
constexpr size_t kCudaHandleSize = 64;

Status MissingField(std::string_view name) {
  return Status::InvalidArgument("Shared memory register request has no '" + std::string(name) +
                                 "' field");
}

// Read the value at the cursor unless it is null, or the member was read before: the first of
// repeated members counts.
Status ReadText(Cursor& cursor, std::string_view name, std::optional<std::string>* value) {
  if (value->has_value()) return cursor.SkipValue();
  return cursor.ReadNull() ? Status::Ok() : ReadStringMember(cursor, name, &value->emplace());
}

Status ReadUnsigned(Cursor& cursor, std::string_view name, std::optional<uint64_t>* value) {
  if (value->has_value()) return cursor.SkipValue();
  return cursor.ReadNull() ? Status::Ok() : ReadUnsignedMember(cursor, name, &value->emplace());
}

Status ReadHandle(Cursor& cursor, std::string_view name, std::optional<std::string>* base64) {
  if (base64->has_value()) return cursor.SkipValue();
  NEREID_RETURN_IF_ERROR(CheckIsObject(cursor, name));
  NEREID_RETURN_IF_ERROR(cursor.ForEachMember([&](std::string_view key) {
    return key == "b64" ? ReadText(cursor, key, base64) : cursor.SkipValue();
  }));
  if (!base64->has_value()) return MissingField("b64");
  return Status::Ok();
}

Status CheckNotEmpty(std::string_view json) {
  Cursor cursor(json);
  return cursor.Peek() == '\0' ? cursor.SyntaxError("The document is empty.") : Status::Ok();
}

void WriteSystemRegion(const memory::SharedRegion& region, JsonWriter* json) {
  json->BeginObject().Key("name").String(region.name).Key("key").String(region.key);
  json->Key("offset").Integer(region.offset).Key("byte_size").Integer(region.byte_size);
  json->EndObject();
}

void WriteCudaRegion(const api::CudaRegion& region, JsonWriter* json) {
  json->BeginObject().Key("name").String(region.name);
  json->Key("device_id").Integer(region.device_id);
  json->Key("byte_size").Integer(region.byte_size).EndObject();
}

template <typename Region>
std::string EncodeRegions(const std::vector<Region>& regions,
                          void (*write)(const Region&, JsonWriter*)) {
  std::string text;
  JsonWriter json(&text);
  WriteArray(regions, &json, write);
  return text;
}

}  // namespace

base::Result<memory::SharedRegion> DecodeSystemRegion(std::string_view name, std::string_view json,
                                                      KeyIs key_is) {
  NEREID_RETURN_IF_ERROR(CheckNotEmpty(json));
  std::optional<std::string> key;
  std::optional<uint64_t> offset, byte_size;
  NEREID_RETURN_IF_ERROR(ForEachRootMember(json, [&](Cursor& cursor, std::string_view member) {
    if (member == "key") return ReadText(cursor, member, &key);
    if (member == "offset") return ReadUnsigned(cursor, member, &offset);
    if (member == "byte_size") return ReadUnsigned(cursor, member, &byte_size);
    return cursor.SkipValue();
  }));
  if (!key && key_is == KeyIs::kRequired) return MissingField("key");
  if (!byte_size) return MissingField("byte_size");
  return memory::SharedRegion{std::string(name), std::move(key).value_or(""), offset.value_or(0),
                              *byte_size};
}

base::Result<api::CudaRegion> DecodeCudaRegion(std::string_view name, std::string_view json) {
  NEREID_RETURN_IF_ERROR(CheckNotEmpty(json));
  std::optional<std::string> base64;
  std::optional<uint64_t> device_id, byte_size;
  NEREID_RETURN_IF_ERROR(ForEachRootMember(json, [&](Cursor& cursor, std::string_view member) {
    if (member == "raw_handle") return ReadHandle(cursor, member, &base64);
    if (member == "device_id") return ReadUnsigned(cursor, member, &device_id);
    if (member == "byte_size") return ReadUnsigned(cursor, member, &byte_size);
    return cursor.SkipValue();
  }));
  if (!base64) return MissingField("raw_handle");
  if (!device_id) return MissingField("device_id");
  if (!byte_size) return MissingField("byte_size");
  std::string handle = DecodeBase64(*base64);
  if (handle.size() != kCudaHandleSize) {
    return Status::InvalidArgument(
        "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t");
  }
  const auto device = base::Narrow<int64_t>(*device_id);
  if (!device) return base::OutOfRange("'device_id'", std::to_string(*device_id), "INT64");
  return api::CudaRegion{std::string(name), std::move(handle), *device, *byte_size};
}

std::string EncodeSystemRegions(const std::vector<memory::SharedRegion>& regions) {
  return EncodeRegions(regions, WriteSystemRegion);
}

std::string EncodeCudaRegions(const std::vector<api::CudaRegion>& regions) {
  return EncodeRegions(regions, WriteCudaRegion);
}

}  // namespace nereid::codec::json
