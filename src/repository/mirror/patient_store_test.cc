// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/patient_store.h"

#include <gtest/gtest.h>

#include "repository/storage/testing/fake_object_store.h"

namespace nereid::repository::mirror {
namespace {

using base::Status;
using base::StatusCode;
using storage::FakeObjectStore;
using storage::ObjectInfo;

class PatientStoreTest : public ::testing::Test {
 protected:
  Status List(const std::string& prefix) {
    keys_.clear();
    return patient_.ListAll(prefix, nullptr, [this](const ObjectInfo& object) {
      keys_.push_back(object.key);
      last_ = object;
      return Status::Ok();
    });
  }
  base::Result<std::string> Read(const ObjectInfo& object, uint64_t offset, uint64_t size) {
    std::string text;
    NEREID_RETURN_IF_ERROR(patient_.Read(
        object, offset, size,
        [&](std::string_view piece) {
          text += piece;
          return Status::Ok();
        },
        nullptr));
    return text;
  }

  FakeObjectStore store_;
  base::FakeClock clock_;
  int retries_ = 0;
  RetryContext context_{RetryPolicy{}, &clock_, [this](uint64_t ns) { clock_.Advance(ns); },
                        nullptr, [this] { ++retries_; }};
  PatientStore patient_{store_, context_};
  std::vector<std::string> keys_;
  ObjectInfo last_;
};

TEST_F(PatientStoreTest, ListsAllPages) {
  for (const char* key : {"a/1", "a/2", "a/3", "b/1", "a"}) store_.Put(key, "x");
  store_.page_size = 2;
  ASSERT_TRUE(List("a/").ok());
  EXPECT_EQ(keys_, (std::vector<std::string>{"a/1", "a/2", "a/3"}));
}

TEST_F(PatientStoreTest, ListsDirectories) {
  for (const char* key : {"r/a/1", "r/a/2", "r/b/c/d", "r/file", "s/e/1"}) store_.Put(key, "x");
  for (const size_t page_size : {1, 2, 1000}) {
    store_.page_size = page_size;
    const auto names = patient_.ListDirectories("r/", nullptr);
    ASSERT_TRUE(names.ok()) << names.status().message();
    EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"})) << page_size;
  }
  const auto roots = patient_.ListDirectories("", nullptr);
  ASSERT_TRUE(roots.ok());
  EXPECT_EQ(*roots, (std::vector<std::string>{"r", "s"}));
  EXPECT_EQ(*patient_.HasObjects("r/b/", nullptr), true);
  EXPECT_EQ(*patient_.HasObjects("r/f/", nullptr), false);
}

TEST_F(PatientStoreTest, RepeatsAPageOfAList) {
  for (const char* key : {"a", "b", "c"}) store_.Put(key, "x");
  store_.page_size = 1;
  store_.on_list = [](int call) {
    return call % 2 == 1 ? Status::Unavailable("busy") : Status::Ok();
  };
  ASSERT_TRUE(List("").ok());
  EXPECT_EQ(keys_, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(retries_, 3);
}

TEST_F(PatientStoreTest, GivesUpAList) {
  store_.on_list = [](int) { return Status::Unavailable("busy"); };
  EXPECT_EQ(List("").code(), StatusCode::kUnavailable);
  store_.on_list = [](int) { return Status::InvalidArgument("wrong key"); };
  const int before = store_.lists;
  EXPECT_EQ(List("").message(), "wrong key");
  EXPECT_EQ(store_.lists, before + 1);
}

/// A store whose list never ends.
class EndlessStore final : public storage::ObjectStore {
 public:
  explicit EndlessStore(bool repeats) : repeats_(repeats) {}
  base::Result<storage::ObjectPage> List(const std::string&, bool, const std::string&) override {
    storage::ObjectPage page;
    page.next_page = repeats_ ? "same" : std::to_string(++pages_);
    return page;
  }
  Status Read(const ObjectInfo&, uint64_t, uint64_t, const Sink& sink,
              const std::function<bool()>&) override {
    while (true) NEREID_RETURN_IF_ERROR(sink(std::string(1000, 'x')));
  }

 private:
  const bool repeats_;
  int pages_ = 0;
};

TEST_F(PatientStoreTest, RefusesAListWithoutEnd) {
  for (const bool repeats : {true, false}) {
    EndlessStore endless(repeats);
    const auto names = PatientStore(endless, context_).ListDirectories("", nullptr);
    EXPECT_EQ(names.status().code(), StatusCode::kInternal);
  }
}

TEST_F(PatientStoreTest, RefusesMoreBytesThanAskedFor) {
  EndlessStore endless(true);
  uint64_t received = 0;
  const Status read = PatientStore(endless, context_)
                          .Read(
                              {"k", 1 << 20, "v"}, 0, 2500,
                              [&](std::string_view piece) {
                                received += piece.size();
                                return Status::Ok();
                              },
                              nullptr);
  EXPECT_EQ(read.code(), StatusCode::kInternal);
  EXPECT_EQ(received, 2000u);
}

TEST_F(PatientStoreTest, ContinuesAReadWhereItFailed) {
  std::string content;
  for (int i = 0; i < 1000; ++i) content += std::to_string(i) + ",";
  store_.Put("k", content);
  ASSERT_TRUE(List("").ok());
  store_.piece_size = 7;
  store_.on_read = [](int call, const ObjectInfo&) {
    return call % 3 == 0 ? FakeObjectStore::ReadFault{}
                         : FakeObjectStore::ReadFault{Status::Unavailable("cut"), 501};
  };
  const auto read = Read(last_, 10, content.size() - 20);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, content.substr(10, content.size() - 20));
  EXPECT_EQ(store_.bytes_read, content.size() - 20);  // no byte was sent twice
  EXPECT_EQ(retries_, 2);
}

TEST_F(PatientStoreTest, DoesNotRepeatWhatTheSinkRefuses) {
  store_.Put("k", "content");
  ASSERT_TRUE(List("").ok());
  const Status read = patient_.Read(
      last_, 0, 7, [](std::string_view) { return Status::Unavailable("disk"); }, nullptr);
  EXPECT_EQ(read.message(), "disk");
  EXPECT_EQ(store_.reads, 1);
}

TEST_F(PatientStoreTest, ReportsAnObjectThatWasWrittenAgain) {
  store_.Put("k", "content");
  ASSERT_TRUE(List("").ok());
  store_.Put("k", "CONTENT");
  EXPECT_EQ(Read(last_, 0, 7).status().code(), StatusCode::kAlreadyExists);
  store_.Remove("k");
  EXPECT_EQ(Read(last_, 0, 7).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid::repository::mirror
