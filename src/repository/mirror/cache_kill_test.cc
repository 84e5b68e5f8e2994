// SPDX-License-Identifier: Apache-2.0
// A process may be killed after each operation on the disk. A later process finds a usable cache.
#include "repository/mirror/model_mirror.h"
#include "repository/mirror/testing/dying_files.h"
#include "repository/mirror/testing/mirror_fixture.h"

namespace nereid::repository::mirror {
namespace {

class CacheKillTest : public MirrorTest {
 protected:
  void SetUp() override {
    MirrorTest::SetUp();
    options_.chunk_bytes = 700;
    options_.max_reads = 1;  // so that each operation comes in a fixed order
    store_.piece_size = 500;
    store_.Put("old/config.pbtxt", "old");
    store_.Put("old/1/weights", std::string(900, 'w'));
    store_.Put("m/config.pbtxt", "new");
    store_.Put("m/1/weights", std::string(900, 'w'));  // equal to a content that is there
    store_.Put("m/1/model", std::string(2000, 'm'));
  }
  static std::map<std::string, std::string> ModelFiles() {
    return {{"1/", ""},
            {"1/model", std::string(2000, 'm')},
            {"1/weights", std::string(900, 'w')},
            {"config.pbtxt", "new"}};
  }
};

TEST_F(CacheKillTest, LeavesAUsableCache) {
  int points = 0;
  for (bool was_killed = true; was_killed; ++points) {
    std::filesystem::remove_all(cache_path_);
    { ASSERT_TRUE(NewMirror(4000)->Copy(Model("old")).ok()); }
    DyingFiles dying(points);
    if (auto cache = BlobCache::Open({cache_path_, 2500}, dying); cache.ok()) {
      ModelMirror mirror(std::move(cache).value(), options_);
      const auto copy = mirror.Copy(Model());
      if (copy.ok()) {
        EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles()) << points;
      }
    }
    was_killed = dying.is_dead();
    // The next process deletes the leftovers and loads the whole model.
    const uint64_t bytes_before = store_.bytes_read;
    const auto mirror = NewMirror(4000);
    ASSERT_EQ(CountFiles("owners"), 1u) << points;  // its own lock
    const auto copy = mirror->Copy(Model());
    ASSERT_TRUE(copy.ok()) << points << ": " << copy.status().message();
    EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles()) << points;
    // The cache is warm then.
    const uint64_t bytes = store_.bytes_read;
    EXPECT_LE(bytes - bytes_before, 2903u) << points;
    ASSERT_TRUE(mirror->Copy(Model()).ok());
    EXPECT_EQ(store_.bytes_read, bytes) << points;
  }
  EXPECT_GT(points, 40);  // the operations of one load
}

}  // namespace
}  // namespace nereid::repository::mirror
