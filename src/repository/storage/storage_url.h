// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::repository::storage {

enum class StoreKind { kS3, kGcs, kAzure };

/// The parts of the URL of a model repository in an object store.
///
///     s3://BUCKET/PATH                    AWS
///     s3://HOST:PORT/BUCKET/PATH          another server that speaks S3's protocol, over http
///     s3://http://HOST:PORT/BUCKET/PATH
///     s3://https://HOST:PORT/BUCKET/PATH
///     gs://BUCKET/PATH
///     as://ACCOUNT/CONTAINER/PATH         ACCOUNT may be ACCOUNT.blob.core.windows.net;
///     as://ACCOUNT/CONTAINER/PATH?QUERY   QUERY is a shared access signature
struct StorageUrl {
  StoreKind kind = StoreKind::kS3;
  std::string endpoint;  // S3: "http://host:port", lower case, if the URL names a host; else empty
  std::string account;   // Azure
  std::string domain;    // Azure: "blob.core.windows.net" or that of another cloud of Azure
  std::string bucket;    // Azure: the container
  /// The path below the bucket, without '/' at its ends and without empty components.
  std::string prefix;
  std::string query;  // Azure: without '?'. A secret
};

/// Returns whether the text begins with "s3://", "gs://" or "as://".
bool IsStorageUrl(std::string_view text);

/// Returns the parts, or INVALID_ARG with the expected form.
base::Result<StorageUrl> ParseStorageUrl(std::string_view url);

/// Returns the bucket's URL without a query, for texts that others read: "s3://bucket",
/// "s3://http://host:port/bucket", "as://account/container".
std::string BucketName(const StorageUrl& url);

}  // namespace nereid::repository::storage
