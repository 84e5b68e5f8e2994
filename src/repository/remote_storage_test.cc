// SPDX-License-Identifier: Apache-2.0
// Repositories in object stores, from the list of a bucket to the models that serve.
#include "repository/remote_storage.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/files.h"
#include "repository/storage/testing/fake_object_store.h"
#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using base::Status;
using base::StatusCode;
using storage::FakeObjectStore;
using storage::ObjectInfo;

/// Passes all calls to a store that the test owns.
class BorrowedStore final : public storage::ObjectStore {
 public:
  explicit BorrowedStore(storage::ObjectStore& store) : store_(store) {}
  base::Result<storage::ObjectPage> List(const std::string& prefix, bool only_this_level,
                                         const std::string& page) override {
    return store_.List(prefix, only_this_level, page);
  }
  Status Read(const ObjectInfo& object, uint64_t offset, uint64_t size, const Sink& sink,
              const std::function<bool()>& is_cancelled) override {
    return store_.Read(object, offset, size, sink, is_cancelled);
  }

 private:
  storage::ObjectStore& store_;
};

class RemoteStorageTest : public RepositoryTest {
 protected:
  void SetUp() override {
    RepositoryTest::SetUp();
    options_.poll.repositories = {"s3://bucket/models"};
    options_.poll.storage = NewStorage();
    PutModel("a");
  }
  std::shared_ptr<RepositoryStorage> NewStorage() {
    remote_ = std::make_shared<RemoteStorage>(
        [this](const std::string& url) -> base::Result<storage::OpenedObjectStore> {
          if (!url.starts_with("s3://")) {
            return Status::InvalidArgument("the scheme of '" + url + "' is not known");
          }
          ++opened_;
          return storage::OpenedObjectStore{std::make_unique<BorrowedStore>(store_), "models",
                                            url.substr(0, url.find('?'))};
        },
        [this]() -> base::Result<std::unique_ptr<mirror::ModelMirror>> {
          NEREID_ASSIGN_OR_RETURN(auto cache, mirror::BlobCache::Open({cache_->path() + "/c", 0}));
          mirror::ModelMirror::Options options;
          options.clock = &clock_;
          options.sleep = [this](uint64_t ns) { clock_.Advance(ns); };
          return std::make_unique<mirror::ModelMirror>(std::move(cache), std::move(options));
        });
    return std::make_shared<MixedStorage>(LocalStorage(), remote_);
  }
  void PutModel(const std::string& name, const std::string& config = "backend: \"x\"") {
    store_.Put("models/" + name + "/config.pbtxt", config);
    store_.Put("models/" + name + "/1/model.bin", "the model " + name);
  }
  uint64_t Downloaded() const {
    return remote_->UsedMirror() == nullptr ? 0 : remote_->UsedMirror()->counts().bytes_downloaded;
  }

  FakeObjectStore store_;
  base::FakeClock clock_;
  std::unique_ptr<base::TemporaryDirectory> cache_ = base::TemporaryDirectory::Create().value();
  std::shared_ptr<RemoteStorage> remote_;
  std::atomic<int> opened_{0};
};

TEST(IsUrl, NeedsAScheme) {
  EXPECT_TRUE(IsUrl("s3://bucket"));
  EXPECT_TRUE(IsUrl("s3://http://localhost:9000/bucket"));
  EXPECT_TRUE(IsUrl("x-y+z.1://"));
  EXPECT_FALSE(IsUrl("/models"));
  EXPECT_FALSE(IsUrl("models/s3://bucket"));
  EXPECT_FALSE(IsUrl("://bucket"));
  EXPECT_FALSE(IsUrl(""));
}

TEST_F(RemoteStorageTest, LoadsModels) {
  PutModel("b");
  store_.Put("models/readme.txt", "no model");
  store_.Put("other/c/config.pbtxt", "in another directory");
  std::string content;
  loader_.on_load = [&](const VersionSource& source) {
    content += base::ReadFile(source.version_directory + "/model.bin").value() + ";";
  };
  options_.load_threads = 1;
  ModelLifecycle lifecycle(options_, loader_);
  const LoadReport report = lifecycle.LoadAll();
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(content, "the model a;the model b;");
  EXPECT_EQ(IndexText(lifecycle), "a/1/READY/\nb/1/READY/\n");
  EXPECT_EQ(opened_, 1);
}

TEST_F(RemoteStorageTest, PrefixesWithoutAModelCostNoReadiness) {
  store_.Put("models/.git/config", "[core]");
  store_.Put("models/.ipynb_checkpoints/config-checkpoint.pbtxt", "backend: \"x\"");
  store_.Put("models/old.bak/note.txt", "no model");
  store_.Put("models/a/1_old/model.bin", "a copy");
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_TRUE(lifecycle.LoadAll().failures.empty());
  EXPECT_TRUE(lifecycle.AllReady());
  EXPECT_EQ(IndexText(lifecycle), "a/1/READY/\nold.bak///\n");
}

TEST_F(RemoteStorageTest, KeepsTheFilesAsLongAsTheModel) {
  std::string path;
  loader_.on_load = [&](const VersionSource& source) { path = source.directory; };
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("a").ok());
  auto serving = lifecycle.Table()->Find("a", 1).value();
  EXPECT_TRUE(base::PathExists(path + "/1/model.bin"));
  ASSERT_TRUE(lifecycle.Unload("a").ok());
  EXPECT_TRUE(base::PathExists(path + "/1/model.bin"));
  serving.reset();
  EXPECT_FALSE(base::PathExists(path));
}

TEST_F(RemoteStorageTest, PollsByListsOnly) {
  for (int i = 0; i < 20; ++i) PutModel("m" + std::to_string(i));
  ModelLifecycle lifecycle(options_, loader_);
  lifecycle.LoadAll();
  EXPECT_EQ(loader_.loads, 21);
  const int lists = store_.lists;
  const int reads = store_.reads;
  lifecycle.LoadAll();
  EXPECT_EQ(store_.lists, lists + 2);  // the names, and the states of all models
  EXPECT_EQ(store_.reads, reads);
  EXPECT_EQ(loader_.loads, 21);
}

TEST_F(RemoteStorageTest, ReloadsWhatChanged) {
  PutModel("b");
  ModelLifecycle lifecycle(options_, loader_);
  lifecycle.LoadAll();
  loader_.TakeEvents();
  store_.Put("models/a/1/model.bin", "the model A");  // the size is the same
  lifecycle.LoadAll();
  EXPECT_EQ(loader_.TakeEvents(),
            (std::vector<std::string>{"load a:1", "gone a:1", "activate a:1"}));
  store_.Put("models/a/2/model.bin", "a new version");
  lifecycle.LoadAll();
  EXPECT_EQ(IndexText(lifecycle), "a/1/UNAVAILABLE/unloaded\na/2/READY/\nb/1/READY/\n");
  store_.Remove("models/b/config.pbtxt");
  store_.Remove("models/b/1/model.bin");
  lifecycle.LoadAll();
  EXPECT_EQ(lifecycle.Table()->Find("b", 1).status().code(), StatusCode::kUnavailable);
}

TEST_F(RemoteStorageTest, UpdatesInstancesWithoutADownloadOfTheModel) {
  store_.Put("models/a/1/model.bin", std::string(100'000, 'm'));
  ModelLifecycle lifecycle(options_, loader_);
  lifecycle.LoadAll();
  loader_.TakeEvents();
  const std::string config = "backend: \"x\" instance_group { count: 3 }";
  store_.Put("models/a/config.pbtxt", config);
  const uint64_t before = Downloaded();
  lifecycle.LoadAll();
  EXPECT_EQ(loader_.TakeEvents()[0], "update a:1");
  EXPECT_EQ(Downloaded(), before + config.size());
}

TEST_F(RemoteStorageTest, KeepsTheModelsWhenTheStoreIsAway) {
  ModelLifecycle lifecycle(options_, loader_);
  lifecycle.LoadAll();
  for (const Status& failure :
       {Status::Unavailable("no connection"), Status::InvalidArgument("the key is refused")}) {
    store_.on_list = [failure](int) { return failure; };
    const LoadReport report = lifecycle.LoadAll();
    EXPECT_EQ(report.unreadable.size(), 1u);
    EXPECT_EQ(report.unreadable.begin()->second.message().find(failure.message()), 0u);
    EXPECT_TRUE(lifecycle.Table()->Find("a", 1).ok());
  }
  // The names are listed, but not the states.
  store_.on_list = [first = store_.lists.load()](int call) {
    return call == first + 1 ? Status::Ok() : Status::Unavailable("no connection");
  };
  EXPECT_TRUE(lifecycle.LoadAll().unreadable.empty());
  store_.on_list = nullptr;
  lifecycle.LoadAll();
  EXPECT_TRUE(lifecycle.Table()->Find("a", 1).ok());
  EXPECT_EQ(loader_.loads, 1);
}

TEST_F(RemoteStorageTest, LoadsFromDirectoriesAndStores) {
  options_.poll.repositories.insert(root_.string());
  options_.namespacing = true;
  Write("a", "backend: \"x\"", {"7"});
  Write("local", "backend: \"x\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_TRUE(lifecycle.LoadAll().failures.empty());
  const auto table = lifecycle.Table();
  EXPECT_TRUE(table->Find(ModelId{"a", "s3://bucket/models"}, 1).ok());
  EXPECT_TRUE(table->Find(ModelId{"a", root_.string()}, 7).ok());
  EXPECT_TRUE(table->Find("local", 1).ok());
}

TEST_F(RemoteStorageTest, LoadsWithOverrides) {
  std::string path;
  loader_.on_load = [&](const VersionSource& source) { path = source.version_directory; };
  ModelLifecycle lifecycle(options_, loader_);
  LoadOverrides config;
  config.config = R"({"backend": "x", "max_batch_size": 7})";
  ASSERT_TRUE(lifecycle.Load("a", config).ok());
  auto serving = lifecycle.Table()->Find("a", 1).value();
  EXPECT_EQ(serving->config().max_batch_size(), 7);
  EXPECT_EQ(base::ReadFile(path + "/model.bin").value(), "the model a");
  LoadOverrides files = config;
  files.files = {{"1/model.bin", "from the request"}};
  ASSERT_TRUE(lifecycle.Load("a", files).ok());
  EXPECT_EQ(base::ReadFile(path + "/model.bin").value(), "from the request");
  ASSERT_TRUE(lifecycle.Load("a").ok());
  EXPECT_EQ(base::ReadFile(path + "/model.bin").value(), "the model a");
}

TEST_F(RemoteStorageTest, ReadsTheConfigurationAlone) {
  store_.Put("models/a/1/model.bin", std::string(100'000, 'm'));
  PutModel("e", R"(platform: "ensemble" ensemble_scheduling { step { model_name: "a" } })");
  store_.Put("models/e/configs/other.pbtxt",
             R"(platform: "ensemble" ensemble_scheduling { step { model_name: "b" } })");
  EXPECT_EQ(ReadMembers({"e", "s3://bucket/models/e"}, options_.poll),
            (std::set<std::string>{"a"}));
  options_.poll.config_name = "other";
  EXPECT_EQ(ReadMembers({"e", "s3://bucket/models/e"}, options_.poll),
            (std::set<std::string>{"b"}));
  EXPECT_LT(Downloaded(), 200u);
  EXPECT_TRUE(ReadMembers({"none", "s3://bucket/models/none"}, options_.poll).empty());
}

TEST_F(RemoteStorageTest, ShowsTheDownloadInTheIndex) {
  ModelLifecycle lifecycle(options_, loader_);
  std::string index;
  const auto look = [&](const ObjectInfo& object, uint64_t) {
    if (object.key.ends_with("model.bin")) index = IndexText(lifecycle);
  };
  store_.on_piece = look;
  lifecycle.LoadAll();
  EXPECT_EQ(index.find("a//LOADING/downloading: "), 0u) << index;
  EXPECT_NE(index.find(" of 2 objects, "), std::string::npos) << index;
  EXPECT_NE(index.find(" of 23 bytes"), std::string::npos) << index;
  // A model that serves stays READY while its successor is downloaded.
  store_.Put("models/a/1/model.bin", "other");
  lifecycle.LoadAll();
  EXPECT_EQ(index, "a/1/READY/\n");
  EXPECT_EQ(IndexText(lifecycle), "a/1/READY/\n");
}

TEST_F(RemoteStorageTest, NamesWhatIsWrong) {
  options_.poll.repositories = {"ftp://host/models", "s3://bucket/models"};
  ModelLifecycle lifecycle(options_, loader_);
  const LoadReport report = lifecycle.LoadAll();
  EXPECT_EQ(report.unreadable.at("ftp://host/models").message(),
            "the scheme of 'ftp://host/models' is not known");
  EXPECT_TRUE(lifecycle.Table()->Find("a", 1).ok());
  EXPECT_EQ(lifecycle.RegisterRepository("ftp://x", {}).message(),
            "failed to register 'ftp://x': the scheme of 'ftp://x' is not known");
  EXPECT_TRUE(lifecycle.RegisterRepository("s3://bucket/models/", {{"renamed", "a"}}).ok());
  EXPECT_EQ(lifecycle.Load("none").code(), StatusCode::kInternal);
}

TEST_F(RemoteStorageTest, StartsAgainWithoutADownload) {
  { ModelLifecycle(options_, loader_).LoadAll(); }
  const int reads = store_.reads;
  options_.poll.storage = NewStorage();
  ModelLifecycle lifecycle(options_, loader_);
  lifecycle.LoadAll();
  EXPECT_EQ(IndexText(lifecycle), "a/1/READY/\n");
  EXPECT_EQ(store_.reads, reads);
  EXPECT_EQ(Downloaded(), 0u);
}

TEST_F(RemoteStorageTest, TakesTheQueryForASecret) {
  const std::string repository = "s3://bucket/models?sig=a/b";
  const auto listed = options_.poll.storage->ListModels(repository);
  ASSERT_TRUE(listed.ok());
  const auto fetched = options_.poll.storage->Fetch(base::JoinPath(repository, "a"));
  ASSERT_TRUE(fetched.ok()) << fetched.status().message();
  const auto missing = options_.poll.storage->Fetch(base::JoinPath(repository, "b"));
  EXPECT_EQ(missing.status().message(), "there is no object of the model 's3://bucket/models/b'");
}

}  // namespace
}  // namespace nereid::repository
