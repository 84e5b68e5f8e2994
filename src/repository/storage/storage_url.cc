// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/storage_url.h"

#include <algorithm>
#include <optional>

#include "base/ascii_case.h"
#include "base/parse_number.h"
#include "curl/url_text.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr size_t kMaxUrl = 4096;
constexpr size_t kMaxName = 255;  // of a bucket, container or account; the services allow 63
constexpr std::string_view kAzureDomains[] = {"blob.core.windows.net", "blob.core.chinacloudapi.cn",
                                              "blob.core.usgovcloudapi.net"};

constexpr std::string_view kS3Form =
    "s3://BUCKET/PATH, s3://HOST:PORT/BUCKET/PATH or s3://https://HOST:PORT/BUCKET/PATH";
constexpr std::string_view kGcsForm = "gs://BUCKET/PATH";
constexpr std::string_view kAzureForm = "as://ACCOUNT/CONTAINER/PATH";

Status Invalid(std::string_view url, std::string_view reason, std::string_view form) {
  // The scheme apart: behind "s3://" there may be a whole URL with a user.
  const size_t scheme = IsStorageUrl(url) ? 5 : 0;
  const std::string shown = curl::UrlForMessages(std::string(url.substr(scheme)));
  return Status::InvalidArgument("the repository URL '" + std::string(url.substr(0, scheme)) +
                                 shown + "' is not usable: " + std::string(reason) +
                                 "; expected the form " + std::string(form));
}

bool IsLetterOrDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns whether the text can be the name of a bucket, or a host: it cannot change the URL that
/// it is inserted into.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && IsLetterOrDigit(text.front()) &&
         text.find("..") == text.npos && std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetterOrDigit(c) || c == '.' || c == '-' || c == '_';
         });
}

bool IsIpv6(std::string_view text) {
  return text.size() > 2 && text.size() < 50 && text.front() == '[' && text.back() == ']' &&
         std::all_of(text.begin() + 1, text.end() - 1, [](char c) {
           return (c >= '0' && c <= '9') ||
                  (base::LowerCase(c) >= 'a' && base::LowerCase(c) <= 'f') || c == ':' || c == '.';
         });
}

/// Removes and returns the text before the first '/', which is removed too.
std::string_view TakeComponent(std::string_view* rest) {
  const size_t end = std::min(rest->find('/'), rest->size());
  const std::string_view component = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return component;
}

/// Returns the path with single slashes between its components, or nothing if a component is "." or
/// ".." or has a character that a path of a repository may not have.
std::optional<std::string> NormalPath(std::string_view rest) {
  std::string path;
  while (!rest.empty()) {
    const std::string_view component = TakeComponent(&rest);
    if (component.empty()) continue;
    if (component == "." || component == ".." || component.find('\\') != component.npos) {
      return std::nullopt;
    }
    if (!path.empty()) path += '/';
    path += component;
  }
  return path;
}

/// Reads "host:port" or, if `port_is_optional`, "host". Returns nothing if it is neither.
std::optional<std::string> Authority(std::string_view text, bool port_is_optional) {
  const size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && text.find(']', colon) == text.npos;
  const std::string_view host = has_port ? text.substr(0, colon) : text;
  if (!IsName(host) && !IsIpv6(host)) return std::nullopt;
  if (!has_port) return port_is_optional ? std::optional(base::ToLower(host)) : std::nullopt;
  const auto port = base::ParseWhole<uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  return base::ToLower(host) + ":" + std::to_string(*port);
}

/// Reads the server of an S3 URL, if it names one, and removes it from `rest`.
Status TakeEndpoint(std::string_view url, std::string_view* rest, std::string* endpoint) {
  std::string scheme;
  for (const std::string_view known : {"http://", "https://"}) {
    if (rest->starts_with(known)) scheme = known;
  }
  rest->remove_prefix(scheme.size());
  const std::string_view first = rest->substr(0, rest->find('/'));
  if (scheme.empty() && first.find(':') == first.npos) return {};  // a bucket
  if (first.empty()) return Invalid(url, "it names no host", kS3Form);
  const std::optional<std::string> authority = Authority(first, !scheme.empty());
  if (!authority) return Invalid(url, "the host or its port is not valid", kS3Form);
  *endpoint = (scheme.empty() ? "http://" : scheme) + *authority;
  TakeComponent(rest);
  while (rest->starts_with('/')) rest->remove_prefix(1);
  return {};
}

Status TakeAccount(std::string_view url, std::string_view* rest, StorageUrl* parts) {
  std::string account = base::ToLower(TakeComponent(rest));
  parts->domain = kAzureDomains[0];
  for (const std::string_view domain : kAzureDomains) {
    if (!account.ends_with("." + std::string(domain))) continue;
    account.resize(account.size() - domain.size() - 1);
    parts->domain = domain;
  }
  if (!IsName(account) || account.find('.') != account.npos || account.find('_') != account.npos) {
    return Invalid(url, "the name of the storage account is not valid", kAzureForm);
  }
  parts->account = std::move(account);
  while (rest->starts_with('/')) rest->remove_prefix(1);
  return {};
}

}  // namespace

bool IsStorageUrl(std::string_view text) {
  return text.starts_with("s3://") || text.starts_with("gs://") || text.starts_with("as://");
}

base::Result<StorageUrl> ParseStorageUrl(std::string_view url) {
  StorageUrl parts;
  std::string_view form = kS3Form;
  if (url.starts_with("gs://")) parts.kind = StoreKind::kGcs, form = kGcsForm;
  if (url.starts_with("as://")) parts.kind = StoreKind::kAzure, form = kAzureForm;
  if (url.size() > kMaxUrl) return Invalid(url.substr(0, 100), "it is too long", form);
  const bool has_control = std::any_of(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (has_control) return Status::InvalidArgument("a repository URL has control characters");
  if (!IsStorageUrl(url)) return Invalid(url, "it is not of an object store", form);

  std::string_view rest = url.substr(5);
  const size_t mark = std::min(rest.find_first_of("?#"), rest.size());
  if (mark != rest.size()) {
    if (parts.kind != StoreKind::kAzure || rest[mark] == '#') {
      return Invalid(url, "it has a query or a fragment", form);
    }
    parts.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (parts.kind == StoreKind::kS3) {
    NEREID_RETURN_IF_ERROR(TakeEndpoint(url, &rest, &parts.endpoint));
  } else if (parts.kind == StoreKind::kAzure) {
    NEREID_RETURN_IF_ERROR(TakeAccount(url, &rest, &parts));
  }
  parts.bucket = TakeComponent(&rest);
  if (!IsName(parts.bucket) && !(parts.kind == StoreKind::kAzure && parts.bucket == "$root")) {
    return Invalid(url,
                   parts.kind == StoreKind::kAzure ? "the name of the container is not valid"
                                                   : "the name of the bucket is not valid",
                   form);
  }
  const std::optional<std::string> path = NormalPath(rest);
  if (!path) return Invalid(url, "its path has '.', '..' or a backslash", form);
  parts.prefix = *path;
  return parts;
}

std::string BucketName(const StorageUrl& url) {
  switch (url.kind) {
    case StoreKind::kGcs:
      return "gs://" + url.bucket;
    case StoreKind::kAzure:
      return "as://" + url.account + "/" + url.bucket;
    case StoreKind::kS3:
      break;
  }
  return "s3://" + (url.endpoint.empty() ? "" : url.endpoint + "/") + url.bucket;
}

}  // namespace nereid::repository::storage
