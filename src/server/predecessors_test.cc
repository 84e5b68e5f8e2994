// SPDX-License-Identifier: Apache-2.0
#include "server/predecessors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "request/testing/make_model.h"
#include "server/served_model.h"

namespace nereid::server {
namespace {

using base::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSecondNs = 1'000'000'000;

/// A version whose sequences are set by the test.
class FakeVersion final : public model::ModelVersion {
 public:
  FakeVersion(const std::string& config, int64_t version) : identity_(*request::MakeModel(config)) {
    identity_.version = version;
  }

  const request::ModelIdentity& identity() const override { return identity_; }
  Status Enqueue(std::unique_ptr<request::InferenceRequest>&) override { return Status::Ok(); }
  void EndIdleSequences() override { sequences.clear(); }
  bool HasSequence(const request::CorrelationId& id) const override {
    return sequences.contains(id);
  }
  telemetry::SequenceList ListSequences(size_t) const override {
    telemetry::SequenceList list;
    list.total = sequences.size();
    if (on_list) on_list();
    return list;
  }
  Status CheckReady() override { return Status::Ok(); }
  telemetry::ModelStatistics Statistics() const override { return {}; }
  base::Result<model::InstanceUpdate> PrepareUpdate(const config::ModelConfig&) override {
    return Status::Unsupported("fake");
  }
  void ApplyUpdate(model::InstanceUpdate) override {}

  std::set<request::CorrelationId> sequences;
  std::function<void()> on_list;

 private:
  request::ModelIdentity identity_;
};

constexpr char kSequences[] = R"(name: "m" backend: "b" max_batch_size: 1 sequence_batching { })";
constexpr char kNoSequences[] = R"(name: "m" backend: "b" max_batch_size: 1)";

class PredecessorsTest : public ::testing::Test {
 protected:
  struct Served {
    std::shared_ptr<FakeVersion> version;
    std::shared_ptr<ServedModel> model;
  };

  Served Make(std::set<request::CorrelationId> sequences = {}, int64_t number = 1,
              const std::string& config = kSequences) {
    const auto version = std::make_shared<FakeVersion>(config, number);
    version->sequences = std::move(sequences);
    return {version,
            std::make_shared<ServedModel>(version, ServedModel::Belongings{}, 0, timers_, clock_)};
  }
  static request::RequestFields Request(uint64_t id, uint32_t flags = 0) {
    request::RequestFields request;
    request.correlation_id = id;
    request.flags = flags;
    return request;
  }
  void PassTime() {
    clock_.Advance(kSecondNs);
    timers_.RunDue();
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
};

TEST_F(PredecessorsTest, ARequestReachesTheVersionThatHasItsSequence) {
  const Served first = Make({uint64_t{7}});
  const Served second = Make({uint64_t{8}});
  const Served third = Make({uint64_t{9}});
  second.model->Succeed(first.model);
  third.model->Succeed(second.model);
  EXPECT_EQ(third.model->SequenceOwner(Request(7), -1), first.model);
  EXPECT_EQ(third.model->SequenceOwner(Request(8), -1), second.model);
  EXPECT_EQ(third.model->SequenceOwner(Request(9), -1), nullptr) << "its own";
  EXPECT_EQ(third.model->SequenceOwner(Request(10), -1), nullptr) << "unknown";
  EXPECT_EQ(third.model->SequenceOwner(Request(0), -1), nullptr) << "of no sequence";
  EXPECT_EQ(third.model->SequenceOwner(Request(7, request::kFlagSequenceStart), -1), nullptr);
}

TEST_F(PredecessorsTest, ASequenceThatWasBegunAgainIsNew) {
  const Served first = Make({uint64_t{7}});
  const Served second = Make({uint64_t{7}});
  second.model->Succeed(first.model);
  EXPECT_EQ(second.model->SequenceOwner(Request(7), -1), nullptr);
}

TEST_F(PredecessorsTest, ARequestWithAVersionReachesOnlyThatNumber) {
  const Served first = Make({uint64_t{7}}, 1);
  const Served second = Make({}, 2);
  second.model->Succeed(first.model);
  EXPECT_EQ(second.model->SequenceOwner(Request(7), 2), nullptr);
  EXPECT_EQ(second.model->SequenceOwner(Request(7), 1), first.model);
  EXPECT_EQ(second.model->SequenceOwner(Request(7), -1), first.model);
}

TEST_F(PredecessorsTest, AVersionIsReleasedWhenItsSequencesHaveEnded) {
  Served first = Make({uint64_t{7}});
  const Served second = Make();
  second.model->Succeed(first.model);
  const std::weak_ptr<ServedModel> weak = first.model;
  first.model.reset();
  PassTime();
  EXPECT_FALSE(weak.expired());
  first.version->sequences.clear();
  PassTime();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(PredecessorsTest, AModelWithoutSequencesIsReleasedAtOnce) {
  Served first = Make({}, 1, kNoSequences);
  const Served second = Make();
  second.model->Succeed(first.model);
  const std::weak_ptr<ServedModel> weak = first.model;
  first.model.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(PredecessorsTest, TheOldestVersionsLoseTheirSequences) {
  std::vector<Served> versions;
  for (uint64_t id = 1; id <= Predecessors::kMax + 2; ++id) {
    versions.push_back(Make({id}));
    if (id > 1) versions.back().model->Succeed(versions[id - 2].model);
  }
  EXPECT_THAT(versions[0].version->sequences, IsEmpty());
  EXPECT_THAT(versions[1].version->sequences, ElementsAre(uint64_t{2}));
  EXPECT_EQ(versions.back().model->SequenceOwner(Request(1), -1), nullptr);
  EXPECT_EQ(versions.back().model->SequenceOwner(Request(2), -1), versions[1].model);
}

TEST_F(PredecessorsTest, ARemovalEndsTheSequencesOfAllVersions) {
  const Served first = Make({uint64_t{7}});
  const Served second = Make({uint64_t{8}});
  second.model->Succeed(first.model);
  first.model->OnRemoved(second.model.get());
  EXPECT_THAT(first.version->sequences, ElementsAre(uint64_t{7}));
  second.model->OnRemoved(nullptr);
  EXPECT_THAT(first.version->sequences, IsEmpty());
  EXPECT_THAT(second.version->sequences, IsEmpty());
}

TEST_F(PredecessorsTest, AVersionThatIsAddedDuringALookStays) {
  const Served finished = Make();
  const Served added = Make({uint64_t{8}});
  Predecessors predecessors;
  predecessors.Add({{finished.model, finished.version.get()}});
  // Meanwhile another version takes the place of the first one: the number stays the same.
  finished.version->on_list = [&] {
    predecessors.DropAll();
    predecessors.Add({{added.model, added.version.get()}});
  };
  EXPECT_TRUE(predecessors.DropFinished());
  EXPECT_EQ(predecessors.FindOwner(uint64_t{8}, -1), added.model);
}

}  // namespace
}  // namespace nereid::server
