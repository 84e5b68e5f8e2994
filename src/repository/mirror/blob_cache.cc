// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/blob_cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/hex_text.h"
#include "base/log.h"
#include "repository/mirror/blob_list.h"
#include "repository/mirror/digest.h"

namespace nereid::repository::mirror {

using base::Status;
using base::StatusCode;

namespace {

/// More remembered verifications than this are forgotten; the files are then verified again.
constexpr size_t kMaxVerified = 200'000;

constexpr uint64_t kMaxIndexEntryBytes = 64 << 10;

/// Returns the name of the object's index entry. Each part has its length before it, so that two
/// objects never have the same text.
std::string IndexName(const ObjectId& object) {
  std::string text;
  for (const std::string& part :
       {object.store, object.key, object.version, std::to_string(object.size)}) {
    text += std::to_string(part.size()) + ":" + part + ",";
  }
  return Sha256Text(text);
}

/// Returns the SHA-256 in an index entry; empty if the entry is damaged.
std::string ReadIndexEntry(const std::string& path) {
  const auto text = base::ReadFile(path, kMaxIndexEntryBytes);
  if (!text.ok()) return "";
  const std::string sha256 = text->substr(0, text->find('\n'));
  return IsSha256Text(sha256) ? sha256 : "";
}

std::string Hex(const std::string& bytes) {
  return base::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Status Damaged(const storage::ObjectInfo& object, const std::string& what, const std::string& found,
               const std::string& expected) {
  return Status::Unavailable("the object '" + object.key + "' was received with the " + what + " " +
                             found + " instead of " + expected);
}

}  // namespace

BlobCache::BlobCache(std::shared_ptr<CacheDirectory> directory, uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

base::Result<std::unique_ptr<BlobCache>> BlobCache::Open(const Options& options,
                                                         FileOperations& files) {
  NEREID_ASSIGN_OR_RETURN(auto directory, CacheDirectory::Open(options.directory, files));
  std::unique_ptr<BlobCache> cache(new BlobCache(std::move(directory), options.max_bytes));
  NEREID_RETURN_IF_ERROR(cache->MakeRoom(0));
  cache->PruneIndex();
  return cache;
}

std::optional<std::string> BlobCache::Find(const ObjectId& object) const {
  std::string sha256 = ReadIndexEntry(directory_->IndexPath(IndexName(object)));
  if (sha256.empty()) return std::nullopt;
  struct stat info {};
  if (::stat(directory_->BlobPath(sha256).c_str(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) != object.size) {
    return std::nullopt;
  }
  return sha256;
}

Status BlobCache::Place(const std::string& sha256, uint64_t size, const std::string& path) {
  const std::string blob = directory_->BlobPath(sha256);
  // The content is linked first and verified then: from now on it is in use, and the file that was
  // verified is the one that the model reads.
  NEREID_RETURN_IF_ERROR(Duplicate(blob, path));
  const Status verified = Verify(path, sha256, size);
  if (verified.ok()) {
    files().MarkUsed(blob);
    return Status::Ok();
  }
  NEREID_RETURN_IF_ERROR(files().Remove(path));
  if (verified.code() != StatusCode::kNotFound) return verified;
  LOG_WARNING << "the model cache's file '" << blob
              << "' is damaged and is deleted: " << verified.message();
  NEREID_RETURN_IF_ERROR(files().Remove(blob));
  return verified;
}

Status BlobCache::Duplicate(const std::string& from, const std::string& to) {
  const Status linked = files().Link(from, to);
  if (linked.code() != StatusCode::kUnsupported) return linked;
  return CopyFile(from, to, files());
}

Status BlobCache::Verify(const std::string& path, const std::string& sha256, uint64_t size) {
  if (IsVerified(path, sha256)) return Status::Ok();
  NEREID_ASSIGN_OR_RETURN(const ContentDigest digest, DigestFile(path));
  if (digest.size != size || digest.sha256 != sha256) {
    return Status::NotFound("it has " + std::to_string(digest.size) + " bytes with the SHA-256 " +
                            digest.sha256 + " instead of " + std::to_string(size) + " with " +
                            sha256);
  }
  Remember(path, sha256);
  return Status::Ok();
}

bool BlobCache::IsVerified(const std::string& path, const std::string& sha256) const {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  base::MutexLock lock(mutex_);
  const auto found = verified_.find(info.st_ino);
  if (found == verified_.end()) return false;
  const Verified& known = found->second;
  return known.sha256 == sha256 && known.size == static_cast<uint64_t>(info.st_size) &&
         known.modified.tv_sec == info.st_mtim.tv_sec &&
         known.modified.tv_nsec == info.st_mtim.tv_nsec;
}

void BlobCache::Remember(const std::string& path, const std::string& sha256) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  base::MutexLock lock(mutex_);
  if (verified_.size() >= kMaxVerified) verified_.clear();
  verified_[info.st_ino] = {sha256, info.st_mtim, static_cast<uint64_t>(info.st_size)};
}

base::Result<std::string> BlobCache::Add(const std::string& temporary,
                                         const storage::ObjectInfo& object,
                                         const std::string& path) {
  const auto kind = object.checksum ? std::optional(object.checksum->kind) : std::nullopt;
  NEREID_ASSIGN_OR_RETURN(const ContentDigest digest, DigestFile(temporary, kind));
  if (digest.size != object.size) {
    return Damaged(object, "size", std::to_string(digest.size), std::to_string(object.size));
  }
  if (object.checksum && digest.checksum != object.checksum->bytes) {
    return Damaged(object, "checksum", Hex(digest.checksum), Hex(object.checksum->bytes));
  }
  const std::string blob = directory_->BlobPath(digest.sha256);
  if (base::PathExists(blob)) {
    const Status placed = Place(digest.sha256, digest.size, path);
    if (placed.ok()) {
      NEREID_RETURN_IF_ERROR(files().Remove(temporary));
      return digest.sha256;
    }
    if (placed.code() != StatusCode::kNotFound) return placed;
  }
  NEREID_RETURN_IF_ERROR(files().Protect(temporary));
  Remember(temporary, digest.sha256);
  NEREID_RETURN_IF_ERROR(Duplicate(temporary, path));  // in use before others can see it
  NEREID_RETURN_IF_ERROR(Verify(path, digest.sha256, digest.size));  // computes if it is a copy
  NEREID_RETURN_IF_ERROR(
      files().MakeDirectory(directory_->blobs() + "/" + digest.sha256.substr(0, 2)));
  NEREID_RETURN_IF_ERROR(files().Rename(temporary, blob));
  bytes_ += digest.size;
  return digest.sha256;
}

Status BlobCache::Record(const ObjectId& object, const std::string& sha256) {
  const std::string name = IndexName(object);
  const std::string temporary = NewTemporaryPath();
  {
    NEREID_ASSIGN_OR_RETURN(const OpenFile file, files().Create(temporary));
    // The lines behind the first one are for people.
    NEREID_RETURN_IF_ERROR(files().Write(
        file, temporary, 0,
        sha256 + "\n" + object.store + "\n" + object.key + "\n" + object.version + "\n"));
    NEREID_RETURN_IF_ERROR(files().Sync(file, temporary));
  }
  NEREID_RETURN_IF_ERROR(files().MakeDirectory(directory_->index() + "/" + name.substr(0, 2)));
  return files().Rename(temporary, directory_->IndexPath(name));
}

Status BlobCache::MakeRoom(uint64_t bytes) {
  NEREID_ASSIGN_OR_RETURN(const FileLock lock, directory_->Lock());
  NEREID_ASSIGN_OR_RETURN(const std::vector<Blob> blobs, ListBlobs(directory_->blobs()));
  uint64_t total = 0;
  for (const Blob& blob : blobs) total += blob.size;
  for (const Blob& blob : BlobsToDelete(blobs, max_bytes_, bytes)) {
    NEREID_RETURN_IF_ERROR(files().Remove(blob.path));
    total -= blob.size;
  }
  bytes_ = total;
  return Status::Ok();
}

void BlobCache::PruneIndex() {
  const auto entries = ListEntries(directory_->index());
  if (!entries.ok()) return;  // a longer index does no harm
  for (const std::string& path : *entries) {
    const std::string sha256 = ReadIndexEntry(path);
    if (!sha256.empty() && base::PathExists(directory_->BlobPath(sha256))) continue;
    if (!files().Remove(path).ok()) return;
  }
}

}  // namespace nereid::repository::mirror
