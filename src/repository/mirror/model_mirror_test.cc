// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/model_mirror.h"

#include <random>

#include "base/files.h"
#include "repository/mirror/testing/dying_files.h"
#include "repository/mirror/testing/mirror_fixture.h"

namespace nereid::repository::mirror {
namespace {

using base::Status;
using base::StatusCode;
using storage::FakeObjectStore;
using storage::ObjectInfo;
using Files = std::map<std::string, std::string>;

class ModelMirrorTest : public MirrorTest {
 protected:
  void SetUp() override {
    MirrorTest::SetUp();
    options_.chunk_bytes = 1000;
    store_.piece_size = 300;
    store_.has_checksums = true;
  }
  void PutModel() {
    store_.Put("m/config.pbtxt", "backend: \"x\"");
    store_.Put("m/1/model.bin", large_);
    store_.Put("m/1/empty", "");
    store_.Put("m/2/", "");
    store_.Put("mm/config.pbtxt", "another model");
  }
  Files ModelFiles() const {
    return {{"1/", ""},
            {"1/empty", ""},
            {"1/model.bin", large_},
            {"2/", ""},
            {"config.pbtxt", "backend: \"x\""}};
  }

  std::string large_ = [] {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += std::to_string(i) + " ";
    return text;
  }();
};

TEST_F(ModelMirrorTest, CopiesAModel) {
  PutModel();
  const auto mirror = NewMirror();
  auto copy = mirror->Copy(Model());
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  const std::string path = copy->checkout->path();
  EXPECT_EQ(Tree(path), ModelFiles());
  EXPECT_EQ(copy->objects.size(), 4u);
  EXPECT_EQ(mirror->counts().bytes_downloaded, large_.size() + 12);
  EXPECT_EQ(mirror->cache_bytes(), large_.size() + 12);
  copy->checkout.reset();
  EXPECT_FALSE(base::PathExists(path));
  EXPECT_EQ(mirror->board().Find("s3://bucket/m"), nullptr);
}

TEST_F(ModelMirrorTest, DownloadsNothingTwice) {
  PutModel();
  { ASSERT_TRUE(NewMirror()->Copy(Model()).ok()); }
  const int reads = store_.reads;
  const auto mirror = NewMirror();  // after a restart
  const auto copy = mirror->Copy(Model());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles());
  EXPECT_EQ(store_.reads, reads);
  EXPECT_EQ(mirror->counts().bytes_downloaded, 0u);
  EXPECT_EQ(mirror->counts().cache_hits, 3u);
}

TEST_F(ModelMirrorTest, DownloadsOnlyWhatChanged) {
  PutModel();
  const auto mirror = NewMirror();
  const auto before = mirror->Copy(Model());
  ASSERT_TRUE(before.ok());
  store_.Put("m/config.pbtxt", "backend: \"yy\"");
  const auto after = mirror->Copy(Model());
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(mirror->counts().bytes_downloaded, large_.size() + 12 + 13);
  EXPECT_EQ(Tree(before->checkout->path()), ModelFiles());  // the loaded model keeps its files
  Files expected = ModelFiles();
  expected["config.pbtxt"] = "backend: \"yy\"";
  EXPECT_EQ(Tree(after->checkout->path()), expected);
}

TEST_F(ModelMirrorTest, SurvivesFaults) {
  PutModel();
  store_.page_size = 2;
  store_.on_list = [](int call) {
    return call % 4 == 1 ? Status::Unavailable("503") : Status::Ok();
  };
  store_.on_read = [](int call, const ObjectInfo&) {
    FakeObjectStore::ReadFault fault;
    if (call % 5 == 1) fault = {Status::Unavailable("cut off"), 450};
    if (call % 5 == 2) fault.status = Status::Unavailable("no connection");
    // Not more often: an object whose content is wrong four times is given up.
    fault.corrupts = call == 3 || call == 20;
    return fault;
  };
  const auto mirror = NewMirror();
  const auto copy = mirror->Copy(Model());
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles());
  EXPECT_GT(mirror->counts().retries, 0u);
}

TEST_F(ModelMirrorTest, RefusesAContentThatStaysCorrupt) {
  PutModel();
  store_.on_read = [](int, const ObjectInfo&) {
    FakeObjectStore::ReadFault fault;
    fault.corrupts = true;
    return fault;
  };
  const auto copy = NewMirror()->Copy(Model());
  EXPECT_EQ(copy.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(copy.status().message().find("with the checksum"), std::string::npos);
  EXPECT_LE(CountFiles("blobs"), 1u);  // the empty file
}

TEST_F(ModelMirrorTest, ReportsWhatIsWrong) {
  const auto mirror = NewMirror();
  EXPECT_EQ(mirror->Copy(Model()).status().code(), StatusCode::kNotFound);
  store_.Put("m/../../etc/passwd", "x");
  EXPECT_EQ(mirror->Copy(Model()).status().code(), StatusCode::kInvalidArgument);
  store_.on_list = [](int) { return Status::InvalidArgument("the key of AWS is refused"); };
  EXPECT_EQ(mirror->Copy(Model()).status().message(), "the key of AWS is refused");
  store_.on_list = [](int) { return Status::Unavailable("away"); };
  EXPECT_EQ(mirror->Copy(Model()).status().code(), StatusCode::kUnavailable);
}

TEST_F(ModelMirrorTest, CopiesAgainWhatChangesMeanwhile) {
  PutModel();
  store_.on_read = [&](int call, const ObjectInfo&) {
    if (call == 3) {
      large_ += "more";
      PutModel();
    }
    return FakeObjectStore::ReadFault{};
  };
  const auto copy = NewMirror()->Copy(Model());
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles());
}

TEST_F(ModelMirrorTest, GivesUpAModelThatAlwaysChanges) {
  PutModel();
  store_.on_list = [&](int) {
    store_.Put("m/new", "x");
    return Status::Ok();
  };
  const auto copy = NewMirror()->Copy(Model());
  EXPECT_EQ(copy.status().message(),
            "model 's3://bucket/m' was changed during each of 6 downloads; load it again when its "
            "upload is complete");
}

TEST_F(ModelMirrorTest, EndsWhenItIsCancelled) {
  PutModel();
  std::atomic<bool> cancelled{false};
  options_.is_cancelled = [&] { return cancelled.load(); };
  store_.on_read = [&](int call, const ObjectInfo&) {
    if (call == 4) cancelled = true;  // later calls must not take it back
    return FakeObjectStore::ReadFault{};
  };
  EXPECT_EQ(NewMirror()->Copy(Model()).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(CountFiles("owners"), 0u);
}

TEST_F(ModelMirrorTest, ReportsAFullDisk) {
  PutModel();
  ScriptedFiles files;
  int writes = 0;
  base::Mutex mutex;
  files.on_write = [&](const std::string& path) {
    base::MutexLock lock(mutex);
    return ++writes > 5 ? FileFailure("write", path, ENOSPC) : Status::Ok();
  };
  {
    const auto copy = NewMirror(0, files)->Copy(Model());
    EXPECT_EQ(copy.status().code(), StatusCode::kInternal);
    EXPECT_NE(copy.status().message().find("No space left on device; free space there"),
              std::string::npos)
        << copy.status().message();
  }
  EXPECT_EQ(CountFiles("owners"), 0u);
  const auto copy = NewMirror()->Copy(Model());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles());
}

TEST_F(ModelMirrorTest, MakesRoomForAModel) {
  PutModel();
  store_.Put("n/file", std::string(20'000, 'n'));
  const auto mirror = NewMirror(25'000);
  { ASSERT_TRUE(mirror->Copy(Model("n")).ok()); }
  const auto copy = mirror->Copy(Model());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(mirror->cache_bytes(), large_.size() + 12);
  // A model that is larger than the cache is loaded nevertheless, and nothing in use is deleted.
  store_.Put("big/file", std::string(50'000, 'b'));
  const auto big = mirror->Copy(Model("big"));
  ASSERT_TRUE(big.ok());
  EXPECT_EQ(Tree(copy->checkout->path()), ModelFiles());
}

TEST_F(ModelMirrorTest, ShowsItsProgress) {
  PutModel();
  auto mirror = NewMirror();
  std::string text;
  store_.on_piece = [&](const ObjectInfo&, uint64_t) {
    const auto progress = mirror->board().Find("s3://bucket/m");
    ASSERT_NE(progress, nullptr);
    const auto numbers = progress->numbers();
    EXPECT_EQ(numbers.all_objects, 3u);
    EXPECT_EQ(numbers.all_bytes, large_.size() + 12);
    EXPECT_LE(numbers.bytes, numbers.all_bytes);
  };
  ASSERT_TRUE(mirror->Copy(Model()).ok());
}

TEST_F(ModelMirrorTest, ReadsOneObjectThroughTheCache) {
  PutModel();
  const ObjectInfo object{"m/config.pbtxt", 12, "v1"};
  const auto mirror = NewMirror();
  for (int i = 0; i < 2; ++i) {
    const auto text = mirror->ReadObject(Model(), object);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(*text, "backend: \"x\"");
  }
  EXPECT_EQ(store_.reads, 1);
  EXPECT_EQ(mirror->ReadObject(Model(), {"m/config.pbtxt", 12, "v0"}).status().code(),
            StatusCode::kAlreadyExists);
}

TEST_F(ModelMirrorTest, SharesTheReadsOfAllLoads) {
  options_.max_reads = 2;
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  store_.on_piece = [&](const ObjectInfo&, uint64_t) {
    const int count = ++now;
    int seen = most;
    while (count > seen && !most.compare_exchange_weak(seen, count)) {
    }
    std::this_thread::yield();
    --now;
  };
  for (const std::string name : {"a", "b", "c"}) store_.Put(name + "/file", name + large_);
  const auto mirror = NewMirror();
  std::vector<std::thread> threads;
  for (const std::string name : {"a", "b", "c"}) {
    threads.emplace_back([&, name] { EXPECT_TRUE(mirror->Copy(Model(name)).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

/// A model whose files all have the number of their generation, and faults at random.
class Generations {
 public:
  explicit Generations(FakeObjectStore& store, uint32_t seed) : store_(store), random_(seed) {
    WriteNext();
    store_.on_list = [this](int) {
      return Chance(8) ? Status::Unavailable("503") : (MayWrite(), Status::Ok());
    };
    store_.on_read = [this](int, const ObjectInfo&) {
      MayWrite();
      FakeObjectStore::ReadFault fault;
      if (Chance(6)) fault = {Status::Unavailable("cut"), Below(600)};
      fault.corrupts = Chance(15);
      return fault;
    };
    store_.on_piece = [this](const ObjectInfo&, uint64_t) { MayWrite(); };
  }

  static std::string FileText(int generation, const std::string& file) {
    std::string text = std::to_string(generation) + "\n" + file + "\n";
    while (text.size() < 1500) text += "generation " + std::to_string(generation) + "\n";
    return text;
  }

 private:
  void MayWrite() {
    if (Chance(25)) WriteNext();
  }
  /// Replaces all objects; the number of files and their names differ between generations.
  void WriteNext() {
    base::MutexLock lock(mutex_);
    if (generation_ >= 12) return;
    ++generation_;
    FakeObjectStore::Contents contents;
    for (int i = 0; i < 2 + generation_ % 4; ++i) {
      const std::string file = std::to_string(i % 2) + "/f" + std::to_string(i * generation_ % 7);
      contents["m/" + file] = FileText(generation_, file);
    }
    store_.ReplaceAll(contents);
  }
  bool Chance(uint32_t one_in) { return Below(one_in) == 0; }
  uint64_t Below(uint32_t bound) {
    base::MutexLock lock(random_mutex_);
    return random_() % bound;
  }

  FakeObjectStore& store_;
  base::Mutex mutex_;
  int generation_ NEREID_GUARDED_BY(mutex_) = 0;
  base::Mutex random_mutex_;
  std::mt19937 random_ NEREID_GUARDED_BY(random_mutex_);
};

TEST_F(ModelMirrorTest, NeverMixesGenerations) {
  options_.max_rounds = 40;
  int copies = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    store_.page_size = 1 + seed % 3;
    Generations generations(store_, seed);
    const auto mirror = NewMirror();
    for (int i = 0; i < 3; ++i) {
      const auto copy = mirror->Copy(Model());
      if (!copy.ok()) continue;
      ++copies;
      std::string tag;
      size_t files = 0;
      for (const auto& [path, text] : Tree(copy->checkout->path())) {
        if (path.back() == '/') continue;
        const std::string generation = text.substr(0, text.find('\n'));
        if (files++ == 0) tag = generation;
        ASSERT_EQ(generation, tag) << "seed " << seed << ", file " << path;
        ASSERT_EQ(text, Generations::FileText(std::stoi(tag), path)) << "seed " << seed;
      }
      // No file of the generation is missing.
      ASSERT_EQ(files, copy->objects.size()) << "seed " << seed;
    }
    store_.on_list = nullptr;
    store_.on_read = nullptr;
    store_.on_piece = nullptr;
  }
  EXPECT_GT(copies, 160);  // of 180: nearly all arrive
}

}  // namespace
}  // namespace nereid::repository::mirror
