// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/cloud_credential_file.h"

#include "base/files.h"
#include "curl/url_text.h"
#include "repository/storage/json_members.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr char kVariable[] = "TRITON_CLOUD_CREDENTIAL_PATH";
constexpr uint64_t kMaxFile = size_t{1} << 20;

const char* SectionOf(StoreKind kind) {
  switch (kind) {
    case StoreKind::kGcs:
      return "gs";
    case StoreKind::kAzure:
      return "as";
    case StoreKind::kS3:
      break;
  }
  return "s3";
}

std::string TextOf(const rapidjson::Value& text) {
  return {text.GetString(), text.GetStringLength()};
}

CloudCredentialEntry EntryOf(const rapidjson::Value& value) {
  CloudCredentialEntry entry;
  if (value.IsString()) entry.fields["path"] = TextOf(value);
  if (!value.IsObject()) return entry;
  for (const auto& member : value.GetObject()) {
    if (member.value.IsString()) entry.fields[TextOf(member.name)] = TextOf(member.value);
  }
  return entry;
}

/// Returns the member whose name is the longest beginning of the URL, or null.
const rapidjson::Value::Member* LongestPrefix(const rapidjson::Value& section,
                                              const std::string& url) {
  const rapidjson::Value::Member* best = nullptr;
  for (const auto& member : section.GetObject()) {
    if (!url.starts_with(TextOf(member.name))) continue;
    if (best == nullptr || member.name.GetStringLength() > best->name.GetStringLength()) {
      best = &member;
    }
  }
  return best;
}

}  // namespace

base::Result<CloudCredentials> ReadCloudCredentials(const StoreContext& context, StoreKind kind,
                                                    const std::string& url) {
  CloudCredentials credentials;
  const std::string path = context.Variable(kVariable);
  if (path.empty()) return credentials;
  credentials.is_used = true;
  const std::string file = "the file '" + path + "' (" + kVariable + ")";
  const base::Result<std::string> text = base::ReadFile(path, kMaxFile);
  if (!text.ok()) {
    return Status::InvalidArgument(file + " cannot be read: " + text.status().message());
  }
  const base::Result<rapidjson::Document> document = ParseJsonObject(*text, file);
  if (!document.ok()) return Status::InvalidArgument(document.status().message());
  const rapidjson::Value* const section = FindMember(*document, SectionOf(kind));
  if (section == nullptr) return credentials;
  const std::string section_name = std::string("the member \"") + SectionOf(kind) + "\" of " + file;
  if (!section->IsObject()) return Status::InvalidArgument(section_name + " is not an object");
  const rapidjson::Value::Member* const found = LongestPrefix(*section, url);
  if (found == nullptr) {
    return Status::InvalidArgument(section_name + " has no entry for '" +
                                   curl::UrlForMessages(url) +
                                   "'; expected a beginning of this URL, or \"\" for all");
  }
  credentials.entry = EntryOf(found->value);
  if (credentials.entry->fields.empty()) {
    return Status::InvalidArgument("the entry '" + curl::UrlForMessages(TextOf(found->name)) +
                                   "' in " + section_name + " has no credentials");
  }
  credentials.entry->source =
      "of the entry '" + curl::UrlForMessages(TextOf(found->name)) + "' in " + file;
  return credentials;
}

}  // namespace nereid::repository::storage
