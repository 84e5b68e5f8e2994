// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/blob_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/hex_text.h"
#include "repository/mirror/blob_list.h"
#include "repository/mirror/digest.h"
#include "repository/mirror/testing/dying_files.h"
#include "repository/mirror/testing/mirror_fixture.h"

namespace nereid::repository::mirror {
namespace {

using base::Status;
using base::StatusCode;

class BlobCacheTest : public MirrorTest {
 protected:
  static ObjectId IdOf(const std::string& key, const std::string& content) {
    return {"s3://b", key, "v1", content.size()};
  }
  /// Adds a content as that of an object; the checkout's path is `place`.
  static base::Result<std::string> Add(BlobCache& cache, const std::string& key,
                                       const std::string& content, const std::string& place) {
    const std::string temporary = cache.NewTemporaryPath();
    std::ofstream(temporary) << content;
    NEREID_ASSIGN_OR_RETURN(std::string sha256,
                            cache.Add(temporary, {key, content.size(), "v1"}, place));
    NEREID_RETURN_IF_ERROR(cache.Record(IdOf(key, content), sha256));
    return sha256;
  }
  static std::string Content(const std::string& path) { return base::ReadFile(path).value(); }
  /// Replaces what is in a blob's file, which nobody may write to.
  void Damage(const std::string& sha256, const std::string& content) {
    const std::string path = cache_path_ + "/blobs/" + sha256.substr(0, 2) + "/" + sha256;
    ::chmod(path.c_str(), 0600);
    std::ofstream(path) << content;
  }
};

TEST_F(BlobCacheTest, GivesOutWhatWasAdded) {
  const auto cache = OpenCache();
  const auto checkout = cache->NewCheckout();
  ASSERT_TRUE(checkout.ok());
  const std::string place = (*checkout)->path();
  EXPECT_EQ(cache->Find(IdOf("k", "content")), std::nullopt);
  const auto added = Add(*cache, "k", "content", place + "/a");
  ASSERT_TRUE(added.ok()) << added.status().message();
  EXPECT_EQ(*added, Sha256Text("content"));
  EXPECT_EQ(Content(place + "/a"), "content");
  EXPECT_EQ(cache->Find(IdOf("k", "content")), *added);
  EXPECT_EQ(cache->bytes(), 7u);
  ASSERT_TRUE(cache->Place(*added, 7, place + "/b").ok());
  EXPECT_EQ(Content(place + "/b"), "content");
  struct stat a {
  }, b{};
  ::stat((place + "/a").c_str(), &a);
  ::stat((place + "/b").c_str(), &b);
  EXPECT_EQ(a.st_ino, b.st_ino);
  EXPECT_EQ(a.st_mode & 0222, 0u);
}

TEST_F(BlobCacheTest, TellsVersionsApart) {
  const auto cache = OpenCache();
  ASSERT_TRUE(Add(*cache, "k", "content", cache->NewTemporaryPath()).ok());
  for (const ObjectId& other : {ObjectId{"s3://b", "k", "v2", 7}, ObjectId{"s3://b", "l", "v1", 7},
                                ObjectId{"s3://c", "k", "v1", 7}, ObjectId{"s3://b", "k", "v1", 8},
                                ObjectId{"s3://bk", "", "v1", 7}}) {
    EXPECT_EQ(cache->Find(other), std::nullopt);
  }
}

TEST_F(BlobCacheTest, StoresEqualContentsOnce) {
  const auto cache = OpenCache();
  ASSERT_TRUE(Add(*cache, "k", "content", cache->NewTemporaryPath()).ok());
  ASSERT_TRUE(Add(*cache, "l", "content", cache->NewTemporaryPath()).ok());
  EXPECT_EQ(CountFiles("blobs"), 1u);
  EXPECT_EQ(cache->bytes(), 7u);
}

TEST_F(BlobCacheTest, SurvivesARestart) {
  ASSERT_TRUE(Add(*OpenCache(), "k", "content", directory_->path() + "/a").ok());
  EXPECT_EQ(CountFiles("owners"), 0u);
  const auto cache = OpenCache();
  EXPECT_EQ(cache->bytes(), 7u);
  const auto found = cache->Find(IdOf("k", "content"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(cache->Place(*found, 7, directory_->path() + "/b").ok());
}

TEST_F(BlobCacheTest, DeletesADamagedContent) {
  const auto sha256 = Add(*OpenCache(), "k", "content", directory_->path() + "/a");
  ASSERT_TRUE(sha256.ok());
  Damage(*sha256, "CONTENT");
  const auto cache = OpenCache();
  ASSERT_TRUE(cache->Find(IdOf("k", "content")).has_value());  // the size is right
  EXPECT_EQ(cache->Place(*sha256, 7, directory_->path() + "/b").code(), StatusCode::kNotFound);
  EXPECT_FALSE(base::PathExists(directory_->path() + "/b"));
  EXPECT_EQ(cache->Find(IdOf("k", "content")), std::nullopt);
  const auto again = Add(*cache, "k", "content", directory_->path() + "/c");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(Content(directory_->path() + "/c"), "content");
}

TEST_F(BlobCacheTest, NoticesDamageInTheSameProcess) {
  const auto cache = OpenCache();
  const auto sha256 = Add(*cache, "k", "content", directory_->path() + "/a");
  ASSERT_TRUE(cache->Place(*sha256, 7, directory_->path() + "/b").ok());
  Damage(*sha256, "CONTENT");
  EXPECT_EQ(cache->Place(*sha256, 7, directory_->path() + "/c").code(), StatusCode::kNotFound);
}

TEST_F(BlobCacheTest, ReplacesADamagedContentThatIsDownloadedAgain) {
  const auto cache = OpenCache();
  const auto sha256 = Add(*cache, "k", "content", directory_->path() + "/a");
  Damage(*sha256, "CONTENT");
  ASSERT_TRUE(Add(*cache, "l", "content", directory_->path() + "/b").ok());
  EXPECT_EQ(Content(directory_->path() + "/b"), "content");
  ASSERT_TRUE(cache->Place(*sha256, 7, directory_->path() + "/c").ok());
}

TEST_F(BlobCacheTest, IgnoresADamagedIndex) {
  const auto cache = OpenCache();
  ASSERT_TRUE(Add(*cache, "k", "content", directory_->path() + "/a").ok());
  for (const std::string text : {"", "\n", "../../../etc/passwd\n", "abc"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(cache_path_ + "/index")) {
      if (entry.is_regular_file()) std::ofstream(entry.path()) << text;
    }
    EXPECT_EQ(cache->Find(IdOf("k", "content")), std::nullopt);
  }
  EXPECT_EQ(CountFiles("index"), 1u);
  OpenCache();
  EXPECT_EQ(CountFiles("index"), 0u);
}

TEST_F(BlobCacheTest, ChecksSizeAndChecksum) {
  const auto cache = OpenCache();
  const std::string temporary = cache->NewTemporaryPath();
  std::ofstream(temporary) << "content";
  const std::string place = directory_->path() + "/a";
  EXPECT_EQ(cache->Add(temporary, {"k", 8, "v"}, place).status().code(), StatusCode::kUnavailable);
  storage::ObjectInfo object{"k", 7, "v"};
  object.checksum = {storage::ObjectChecksum::Kind::kMd5, std::string(16, '\0')};
  EXPECT_EQ(cache->Add(temporary, object, place).status().message(),
            "the object 'k' was received with the checksum 9a0364b9e99bb480dd25e1f0284c8555 "
            "instead of 00000000000000000000000000000000");
  EXPECT_FALSE(base::PathExists(place));
  EXPECT_EQ(CountFiles("blobs"), 0u);
  std::string md5(16, '\0');
  base::ParseHexText("9a0364b9e99bb480dd25e1f0284c8555",
                     {reinterpret_cast<uint8_t*>(md5.data()), md5.size()});
  object.checksum->bytes = md5;
  EXPECT_TRUE(cache->Add(temporary, object, place).ok());
}

TEST_F(BlobCacheTest, DeletesTheLeastRecentlyUsed) {
  const auto cache = OpenCache(30);
  const std::string place = directory_->path();
  for (const std::string key : {"a", "b", "c"}) {
    const auto sha256 = Add(*cache, key, std::string(10, key[0]), place + "/" + key);
    ASSERT_TRUE(sha256.ok());
    ASSERT_TRUE(cache->files().Remove(place + "/" + key).ok());
    const std::string blob = cache_path_ + "/blobs/" + sha256->substr(0, 2) + "/" + *sha256;
    const timespec times[] = {{1000 + key[0], 0}, {0, UTIME_OMIT}};
    ASSERT_EQ(::utimensat(AT_FDCWD, blob.c_str(), times, 0), 0);
  }
  // "a" is the oldest, but it is used again.
  ASSERT_TRUE(cache->Place(Sha256Text(std::string(10, 'a')), 10, place + "/again").ok());
  ASSERT_TRUE(cache->files().Remove(place + "/again").ok());
  ASSERT_TRUE(cache->MakeRoom(5).ok());
  EXPECT_EQ(cache->bytes(), 20u);
  EXPECT_TRUE(cache->Find(IdOf("a", std::string(10, 'a'))).has_value());
  EXPECT_FALSE(cache->Find(IdOf("b", std::string(10, 'b'))).has_value());
  EXPECT_TRUE(cache->Find(IdOf("c", std::string(10, 'c'))).has_value());
}

TEST_F(BlobCacheTest, KeepsWhatIsInUse) {
  const auto cache = OpenCache(10);
  auto checkout = cache->NewCheckout();
  ASSERT_TRUE(checkout.ok());
  ASSERT_TRUE(Add(*cache, "a", std::string(10, 'a'), (*checkout)->path() + "/a").ok());
  ASSERT_TRUE(cache->MakeRoom(10).ok());
  EXPECT_EQ(cache->bytes(), 10u);
  // Another process sees the link, too.
  OpenCache(1);
  EXPECT_TRUE(cache->Find(IdOf("a", std::string(10, 'a'))).has_value());
  checkout->reset();
  ASSERT_TRUE(cache->MakeRoom(10).ok());
  EXPECT_EQ(cache->bytes(), 0u);
}

TEST_F(BlobCacheTest, DeletesNoMoreThanNeeded) {
  std::vector<Blob> blobs{
      {"a", 10, 3, false}, {"b", 10, 1, false}, {"c", 10, 2, true}, {"d", 10, 2, false}};
  const auto names = [](const std::vector<Blob>& list) {
    std::string text;
    for (const Blob& blob : list) text += blob.path;
    return text;
  };
  EXPECT_EQ(names(BlobsToDelete(blobs, 0, 1000)), "");
  EXPECT_EQ(names(BlobsToDelete(blobs, 40, 0)), "");
  EXPECT_EQ(names(BlobsToDelete(blobs, 40, 1)), "b");
  EXPECT_EQ(names(BlobsToDelete(blobs, 40, 11)), "bd");
  EXPECT_EQ(names(BlobsToDelete(blobs, 40, UINT64_MAX)), "bda");
}

TEST_F(BlobCacheTest, CopiesWhereThereAreNoLinks) {
  ScriptedFiles files;
  files.on_link = [](const std::string&) { return Status::Unsupported("no links"); };
  const auto cache = OpenCache(0, files);
  const auto sha256 = Add(*cache, "k", "content", directory_->path() + "/a");
  ASSERT_TRUE(sha256.ok()) << sha256.status().message();
  EXPECT_EQ(Content(directory_->path() + "/a"), "content");
  Damage(*sha256, "CONTENT");
  EXPECT_EQ(cache->Place(*sha256, 7, directory_->path() + "/b").code(), StatusCode::kNotFound);
  EXPECT_FALSE(base::PathExists(directory_->path() + "/b"));
}

TEST_F(BlobCacheTest, DeletesWhatDeadProcessesLeft) {
  const std::string dead = cache_path_ + "/owners/123-456";
  OpenCache();
  std::filesystem::create_directories(dead + "/7/1");
  std::ofstream(dead + "/8") << "half a download";
  std::ofstream(dead + ".lock") << "";
  const auto living = OpenCache();
  const auto checkout = living->NewCheckout();
  ASSERT_TRUE(checkout.ok());
  EXPECT_FALSE(base::PathExists(dead));
  EXPECT_FALSE(base::PathExists(dead + ".lock"));
  OpenCache();
  EXPECT_TRUE(base::PathExists((*checkout)->path()));
}

TEST_F(BlobCacheTest, SaysWhyADirectoryCannotBeUsed) {
  std::ofstream(cache_path_) << "a file";
  const auto cache = BlobCache::Open({cache_path_, 0});
  EXPECT_EQ(cache.status().message(),
            "failed to make the directory '" + cache_path_ + "': File exists");
  const auto below = BlobCache::Open({directory_->path() + "/no/cache", 0});
  EXPECT_EQ(below.status().code(), StatusCode::kInternal);
  EXPECT_NE(FileFailure("write", "/x", ENOSPC).message().find("--model-cache-size"),
            std::string::npos);
  EXPECT_NE(FileFailure("write", "/x", EACCES).message().find("--model-cache-directory"),
            std::string::npos);
}

}  // namespace
}  // namespace nereid::repository::mirror
