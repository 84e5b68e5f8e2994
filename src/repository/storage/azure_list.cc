// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_list.h"

#include "repository/storage/digests.h"
#include "repository/storage/s3_list.h"
#include "repository/storage/url_encode.h"
#include "repository/storage/xml_document.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

/// Returns the name of an entry. Names that XML cannot express have the attribute Encoded.
base::Result<std::string> NameOf(const pugi::xml_node& entry) {
  const pugi::xml_node name = entry.child("Name");
  const std::string_view text = name.child_value();
  const std::optional<std::string> decoded =
      name.attribute("Encoded").as_bool() ? PercentDecode(text) : std::optional<std::string>(text);
  if (!decoded || decoded->empty()) {
    return Status::Internal("the store's list has an entry whose Name is missing or not valid");
  }
  return *decoded;
}

base::Result<ObjectInfo> ReadBlob(const pugi::xml_node& entry) {
  ObjectInfo object;
  NEREID_ASSIGN_OR_RETURN(object.key, NameOf(entry));
  const pugi::xml_node properties = entry.child("Properties");
  const std::optional<uint64_t> size = NumberChild(properties, "Content-Length");
  if (!size) return Status::Internal("the store's list has a blob without a valid Content-Length");
  object.size = *size;
  object.version = WithoutQuotes(properties.child_value("Etag"));
  const auto md5 = DecodeBase64(properties.child_value("Content-MD5"));
  if (md5 && md5->size() == 16) object.checksum = ObjectChecksum{ObjectChecksum::Kind::kMd5, *md5};
  if (std::string_view(properties.child_value("ResourceType")) == "directory") object.key += '/';
  return object;
}

}  // namespace

base::Result<ObjectPage> ParseAzureList(std::string_view body) {
  pugi::xml_document document;
  pugi::xml_node root;
  NEREID_RETURN_IF_ERROR(ParseXml(body, "EnumerationResults", &document, &root));
  ObjectPage page;
  const pugi::xml_node entries = root.child("Blobs");
  for (const pugi::xml_node& entry : entries.children("Blob")) {
    NEREID_ASSIGN_OR_RETURN(ObjectInfo object, ReadBlob(entry));
    page.objects.push_back(std::move(object));
  }
  for (const pugi::xml_node& entry : entries.children("BlobPrefix")) {
    NEREID_ASSIGN_OR_RETURN(std::string directory, NameOf(entry));
    page.directories.push_back(std::move(directory));
  }
  page.next_page = root.child_value("NextMarker");
  return page;
}

}  // namespace nereid::repository::storage
