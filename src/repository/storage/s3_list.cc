// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/s3_list.h"

#include <cstdint>
#include <span>

#include "base/hex_text.h"
#include "repository/storage/url_encode.h"
#include "repository/storage/xml_document.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

std::optional<ObjectChecksum> ChecksumOf(std::string_view tag) {
  uint8_t digest[16];
  if (!base::ParseHexText(tag, digest)) return std::nullopt;  // "…-3": of an upload in parts
  return ObjectChecksum{ObjectChecksum::Kind::kMd5,
                        {reinterpret_cast<const char*>(digest), sizeof(digest)}};
}

/// Reads the names of a list, which may be encoded.
class NameReader {
 public:
  explicit NameReader(const pugi::xml_node& root)
      : encoded_(std::string_view(root.child_value("EncodingType")) == "url") {}

  base::Result<std::string> Read(const pugi::xml_node& parent, const char* child) const {
    const std::string_view text = parent.child_value(child);
    const std::optional<std::string> name =
        encoded_ ? PercentDecode(text, true) : std::optional<std::string>(text);
    if (!name || name->empty()) {
      return Status::Internal(std::string("the store's list has an entry whose ") + child +
                              " is missing or not valid");
    }
    return *name;
  }

 private:
  const bool encoded_;
};

}  // namespace

std::string_view WithoutQuotes(std::string_view tag) {
  if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') return tag;
  return tag.substr(1, tag.size() - 2);
}

base::Result<ObjectPage> ParseS3List(std::string_view body) {
  pugi::xml_document document;
  pugi::xml_node root;
  NEREID_RETURN_IF_ERROR(ParseXml(body, "ListBucketResult", &document, &root));
  const NameReader names(root);
  ObjectPage page;
  for (const pugi::xml_node& entry : root.children("Contents")) {
    ObjectInfo object;
    NEREID_ASSIGN_OR_RETURN(object.key, names.Read(entry, "Key"));
    const std::optional<uint64_t> size = NumberChild(entry, "Size");
    if (!size) return Status::Internal("the store's list has an object without a valid Size");
    object.size = *size;
    object.version = WithoutQuotes(entry.child_value("ETag"));
    object.checksum = ChecksumOf(object.version);
    page.objects.push_back(std::move(object));
  }
  for (const pugi::xml_node& entry : root.children("CommonPrefixes")) {
    NEREID_ASSIGN_OR_RETURN(std::string directory, names.Read(entry, "Prefix"));
    page.directories.push_back(std::move(directory));
  }
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next_page = root.child_value("NextContinuationToken");
    if (page.next_page.empty()) {
      return Status::Internal("the store's list continues, but has no NextContinuationToken");
    }
  }
  return page;
}

}  // namespace nereid::repository::storage
