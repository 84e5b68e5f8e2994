// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::storage {

/// An object store in memory whose faults a test scripts with hooks. A read delivers the content as
/// it was when the read began, as real stores do. Thread-safe; set the members before use.
class FakeObjectStore final : public ObjectStore {
 public:
  /// What happens to one read.
  struct ReadFault {
    base::Status status = base::Status::Ok();  // returned after `after_bytes`
    uint64_t after_bytes = 0;
    bool corrupts = false;  // the first byte is changed
  };
  using Contents = std::map<std::string, std::string>;

  size_t page_size = 1000;
  size_t piece_size = 1 << 16;
  bool has_checksums = false;
  /// Called before each page of a list, with the number of the call (from 1). A failure ends it.
  std::function<base::Status(int call)> on_list;
  /// Called before each read, with the number of the call (from 1).
  std::function<ReadFault(int call, const ObjectInfo& object)> on_read;
  /// Called before each piece of a read is delivered.
  std::function<void(const ObjectInfo& object, uint64_t offset)> on_piece;

  void Put(const std::string& key, std::string content) {
    base::MutexLock lock(mutex_);
    objects_[key] = {std::move(content), ++last_version_};
  }
  void Remove(const std::string& key) {
    base::MutexLock lock(mutex_);
    objects_.erase(key);
  }
  /// Replaces all objects at one moment.
  void ReplaceAll(const Contents& contents) {
    base::MutexLock lock(mutex_);
    objects_.clear();
    for (const auto& [key, content] : contents) objects_[key] = {content, ++last_version_};
  }

  base::Result<ObjectPage> List(const std::string& prefix, bool only_this_level,
                                const std::string& page) override {
    const int call = ++lists;
    if (on_list) NEREID_RETURN_IF_ERROR(on_list(call));
    base::MutexLock lock(mutex_);
    ObjectPage result;
    std::string last;
    for (auto it = objects_.lower_bound(std::max(prefix, page)); it != objects_.end(); ++it) {
      const auto& [key, object] = *it;
      if (!key.starts_with(prefix)) break;
      if (!page.empty() && key <= page) continue;
      const size_t slash = only_this_level ? key.find('/', prefix.size()) : std::string::npos;
      const std::string directory = slash == std::string::npos ? "" : key.substr(0, slash + 1);
      if (!directory.empty() && page.starts_with(directory)) continue;
      const bool is_same = !directory.empty() && !result.directories.empty() &&
                           result.directories.back() == directory;
      if (!is_same && result.objects.size() + result.directories.size() == page_size) {
        result.next_page = last;
        break;
      }
      last = key;
      if (is_same) continue;
      if (directory.empty()) {
        result.objects.push_back(Info(key, object));
      } else {
        result.directories.push_back(directory);
      }
    }
    return result;
  }

  base::Status Read(const ObjectInfo& object, uint64_t offset, uint64_t size, const Sink& sink,
                    const std::function<bool()>& is_cancelled) override {
    const int call = ++reads;
    const ReadFault fault = on_read ? on_read(call, object) : ReadFault{};
    if (!fault.status.ok() && fault.after_bytes == 0) return fault.status;
    NEREID_ASSIGN_OR_RETURN(std::string content, ContentOf(object));
    if (offset > content.size() || size > content.size() - offset) {
      return base::Status::Internal("the range is not in the object");
    }
    content = content.substr(offset, size);
    if (fault.corrupts && !content.empty()) content[0] = static_cast<char>(content[0] ^ 1);
    const size_t end =
        fault.status.ok() ? content.size() : std::min<size_t>(content.size(), fault.after_bytes);
    for (size_t at = 0; at < end; at += piece_size) {
      if (is_cancelled && is_cancelled()) return base::Status::Cancelled("cancelled");
      if (on_piece) on_piece(object, offset + at);
      const size_t count = std::min(piece_size, end - at);
      NEREID_RETURN_IF_ERROR(sink(std::string_view(content).substr(at, count)));
      bytes_read += count;
    }
    return fault.status;
  }

  std::atomic<int> lists{0};
  std::atomic<int> reads{0};
  std::atomic<uint64_t> bytes_read{0};

 private:
  struct Object {
    std::string content;
    uint64_t version = 0;
  };

  ObjectInfo Info(const std::string& key, const Object& object) const {
    ObjectInfo info{key, object.content.size(), "v" + std::to_string(object.version)};
    if (!has_checksums) return info;
    std::array<uint8_t, EVP_MAX_MD_SIZE> md5{};
    unsigned size = 0;
    EVP_Digest(object.content.data(), object.content.size(), md5.data(), &size, EVP_md5(), nullptr);
    info.checksum = ObjectChecksum{ObjectChecksum::Kind::kMd5, {md5.begin(), md5.begin() + size}};
    return info;
  }
  base::Result<std::string> ContentOf(const ObjectInfo& object) {
    base::MutexLock lock(mutex_);
    const auto found = objects_.find(object.key);
    if (found == objects_.end()) {
      return base::Status::NotFound("there is no object '" + object.key + "'");
    }
    if ("v" + std::to_string(found->second.version) != object.version) {
      return base::Status::AlreadyExists("the object '" + object.key + "' was written again");
    }
    return found->second.content;
  }

  base::Mutex mutex_;
  std::map<std::string, Object> objects_ NEREID_GUARDED_BY(mutex_);
  uint64_t last_version_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::repository::storage
