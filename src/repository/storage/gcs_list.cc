// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/gcs_list.h"

#include "repository/storage/digests.h"
#include "repository/storage/json_members.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

std::optional<ObjectChecksum> ChecksumOf(const rapidjson::Value& item) {
  const auto md5 = DecodeBase64(TextMember(item, "md5Hash"));
  if (md5 && md5->size() == 16) return ObjectChecksum{ObjectChecksum::Kind::kMd5, *md5};
  const auto crc32c = DecodeBase64(TextMember(item, "crc32c"));
  if (crc32c && crc32c->size() == 4) return ObjectChecksum{ObjectChecksum::Kind::kCrc32c, *crc32c};
  return std::nullopt;
}

base::Result<ObjectInfo> ReadItem(const rapidjson::Value& item) {
  ObjectInfo object;
  object.key = TextMember(item, "name");
  object.version = TextMember(item, "generation");
  const std::optional<uint64_t> size = NumberMember(item, "size");
  if (object.key.empty() || !size) {
    return Status::Internal("the store's list has an object without a valid name or size");
  }
  object.size = *size;
  object.checksum = ChecksumOf(item);
  return object;
}

/// Returns an array member, or null if there is none. Another type is an error.
base::Result<const rapidjson::Value*> ArrayMember(const rapidjson::Value& object,
                                                  const char* name) {
  const rapidjson::Value* const member = FindMember(object, name);
  if (member != nullptr && !member->IsArray()) {
    return Status::Internal(std::string("the member ") + name +
                            " of the store's list is not an array");
  }
  return member;
}

}  // namespace

base::Result<ObjectPage> ParseGcsList(std::string_view body) {
  NEREID_ASSIGN_OR_RETURN(const rapidjson::Document document,
                          ParseJsonObject(body, "the store's list"));
  NEREID_ASSIGN_OR_RETURN(const rapidjson::Value* const items, ArrayMember(document, "items"));
  NEREID_ASSIGN_OR_RETURN(const rapidjson::Value* const prefixes,
                          ArrayMember(document, "prefixes"));
  ObjectPage page;
  if (items != nullptr) {
    for (const rapidjson::Value& item : items->GetArray()) {
      NEREID_ASSIGN_OR_RETURN(ObjectInfo object, ReadItem(item));
      page.objects.push_back(std::move(object));
    }
  }
  if (prefixes != nullptr) {
    for (const rapidjson::Value& prefix : prefixes->GetArray()) {
      if (!prefix.IsString()) {
        return Status::Internal("the store's list has a prefix that is not a text");
      }
      page.directories.emplace_back(prefix.GetString(), prefix.GetStringLength());
    }
  }
  page.next_page = TextMember(document, "nextPageToken");
  return page;
}

}  // namespace nereid::repository::storage
