// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::repository::storage {

/// A checksum of an object's content that the store itself keeps.
struct ObjectChecksum {
  enum class Kind { kMd5, kCrc32c };
  Kind kind = Kind::kMd5;
  std::string bytes;  // 16 bytes; 4 bytes, the most significant one first
};

/// One object of a store, as a list of the store shows it.
struct ObjectInfo {
  /// Below the bucket or container, without a leading '/'. One with '/' at its end marks a
  /// directory, which may be empty.
  std::string key;
  uint64_t size = 0;    // bytes
  std::string version;  // ETag or generation: differs after each write of the object; never empty
  std::optional<ObjectChecksum> checksum = std::nullopt;  // of the whole content, if known
};

/// One page of a list.
struct ObjectPage {
  std::vector<ObjectInfo> objects;
  /// With a delimiter: the prefixes, each with its '/' at the end, that contain further objects.
  std::vector<std::string> directories;
  std::string next_page;  // the token of the next page; empty after the last one
};

/// A bucket of an object store (S3, Google Cloud Storage, Azure Blob Storage). Thread-safe. Each
/// function makes one attempt and blocks until it has ended; the caller retries.
///
/// Errors, for all functions:
/// - UNAVAILABLE: temporary; the same call may succeed later (no connection, time-out, 408, 429,
///   5xx, a response that was cut off).
/// - NOT_FOUND: no such bucket or object.
/// - INVALID_ARGUMENT: the credentials are missing or refused, or the request is not permitted. The
///   message names the credentials' source and what to change.
/// - CANCELLED: `is_cancelled` of Read returned true.
/// - INTERNAL: the response does not follow the store's protocol.
class ObjectStore {
 public:
  /// Receives the content of an object in order, piece by piece. An error ends the read, which
  /// returns that error.
  using Sink = std::function<base::Status(std::string_view)>;

  virtual ~ObjectStore() = default;

  /// Lists the objects whose keys begin with `prefix`. With `only_this_level`, keys with a '/'
  /// behind the prefix are summarized in ObjectPage::directories. `page` is empty, or the token of
  /// the page before. A page has at most a few thousand entries.
  virtual base::Result<ObjectPage> List(const std::string& prefix, bool only_this_level,
                                        const std::string& page) = 0;

  /// Reads `size` bytes of the object from `offset`. The read is of exactly `object.version`: if
  /// the object was written again since, the result is ALREADY_EXISTS, and the caller lists again.
  /// The result is OK only if the sink received all bytes. `is_cancelled` (may be null) is called
  /// at least once a second.
  virtual base::Status Read(const ObjectInfo& object, uint64_t offset, uint64_t size,
                            const Sink& sink, const std::function<bool()>& is_cancelled) = 0;
};

}  // namespace nereid::repository::storage
