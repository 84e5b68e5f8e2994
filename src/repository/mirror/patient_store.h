// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "repository/mirror/retry.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::mirror {

/// An object store whose operations are repeated while it is temporarily unavailable. Thread-safe.
/// The errors are those of ObjectStore; UNAVAILABLE means that the policy's time is over.
class PatientStore {
 public:
  /// The arguments must outlive this object.
  PatientStore(storage::ObjectStore& store, const RetryContext& context)
      : store_(store), context_(context) {}

  using IsCancelled = std::function<bool()>;  // may be null
  /// Receives an object of a list. An error ends the list, which returns that error.
  using Visitor = std::function<base::Status(storage::ObjectInfo)>;

  /// Lists all objects whose keys begin with `prefix`, page by page.
  base::Status ListAll(const std::string& prefix, const IsCancelled& is_cancelled,
                       const Visitor& visit) const;
  /// Lists the names between `prefix` and the next '/' of all keys that have one, in the order of
  /// the store, without the '/'.
  base::Result<std::vector<std::string>> ListDirectories(const std::string& prefix,
                                                         const IsCancelled& is_cancelled) const;
  /// Returns whether the key of an object begins with `prefix`. Reads one page.
  base::Result<bool> HasObjects(const std::string& prefix, const IsCancelled& is_cancelled) const;

  /// Reads as ObjectStore::Read does. After a failure the read continues behind the bytes that the
  /// sink has received.
  base::Status Read(const storage::ObjectInfo& object, uint64_t offset, uint64_t size,
                    const storage::ObjectStore::Sink& sink, const IsCancelled& is_cancelled) const;

 private:
  base::Result<storage::ObjectPage> ListPage(const std::string& prefix, bool only_this_level,
                                             const std::string& page,
                                             const IsCancelled& is_cancelled) const;
  base::Status ListPages(const std::string& prefix, bool only_this_level,
                         const IsCancelled& is_cancelled,
                         const std::function<base::Status(storage::ObjectPage)>& visit) const;

  storage::ObjectStore& store_;
  const RetryContext& context_;
};

}  // namespace nereid::repository::mirror
