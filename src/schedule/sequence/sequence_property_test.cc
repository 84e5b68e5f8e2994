// SPDX-License-Identifier: Apache-2.0
// Random schedules, played to the sequence batcher and to a serial model of what it promises: every
// request is answered once, those of a sequence are executed in order and one at a time, in one
// slot that no other live sequence has, and the state that a model keeps by slot (Direct) or by id
// (Oldest) is what executing each sequence alone would give. Models are replaced by other versions
// while the sequences of the old ones go on.
//
// NEREID_SEQUENCE_SCHEDULES sets how many schedules there are for each strategy, and
// NEREID_PROPERTY_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "schedule/testing/played_version.h"

namespace nereid::schedule {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr uint64_t kDefaultSchedules = 500;
#else
constexpr uint64_t kDefaultSchedules = 5'000;
#endif

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<ModelPtr> MakeModels(bool direct) {
  std::vector<ModelPtr> models;
  for (int variant = 0; variant < 24; ++variant) {
    const int max_batch = variant % 4;
    std::string text = "name: \"m\" max_batch_size: " + std::to_string(max_batch) +
                       " input { name: \"X\" data_type: TYPE_INT8 dims: [ -1 ] } "
                       "sequence_batching { max_sequence_idle_microseconds: 40 ";
    if (variant % 3 == 1) text += "iterative_sequence: true ";
    if (direct) {
      text += "direct { ";
      if (variant >= 12) text += "max_queue_delay_microseconds: 7 minimum_slot_utilization: 0.7 ";
    } else {
      text += "oldest { max_candidate_sequences: " + std::to_string(variant % 5) + " ";
      if (variant >= 12) text += "max_queue_delay_microseconds: 7 ";
      if (variant >= 18 && max_batch >= 2) text += "preferred_batch_size: [ 2 ] ";
    }
    text += "} } ";
    if (variant % 5 == 2) {
      text += "parameters { key: \"sequence_end_notice\" value { string_value: \"true\" } }";
    }
    models.push_back(request::MakeModel(text));
  }
  return models;
}

/// One schedule: a model of some configuration, and what becomes of it. As in the server, a reload
/// puts another version, with another configuration, in its place, which knows no sequences; what
/// has begun in the old one goes on there.
class Schedule {
 public:
  Schedule(const std::vector<ModelPtr>& models, size_t first, bool direct, uint64_t seed)
      : models_(models), direct_(direct), random_(seed) {
    Load(models_[first]);
  }

  void Run() {
    const uint64_t events = 10 + random_.Below(50);
    for (uint64_t i = 0; i < events && !failed(); ++i) Event();
    if (random_.Chance(20)) versions_.back()->Drain();
    for (const auto& version : versions_) Finish(*version);
  }
  static bool failed() { return PlayedVersion::failed(); }

 private:
  static constexpr size_t kMaxVersions = 4;

  void Load(const ModelPtr& model) {
    versions_.push_back(std::make_unique<PlayedVersion>(model, direct_, random_, now_ns_));
  }
  void Reload() {
    if (versions_.size() == kMaxVersions) return;
    versions_.back()->Drain();
    Load(models_[random_.Below(models_.size())]);
  }
  void Advance(uint64_t ns) {
    now_ns_ += ns;
    for (const auto& version : versions_) version->Expire();
  }
  PlayedVersion& AnyVersion() { return *versions_[random_.Below(versions_.size())]; }

  void Event() {
    const uint64_t kind = random_.Below(200);
    if (kind < 70) return versions_.back()->Send();
    if (kind < 110) return AnyVersion().Plan();
    if (kind < 140) return AnyVersion().Release();
    if (kind < 150) return AnyVersion().FinishInstance();
    if (kind < 160) return AnyVersion().Cancel();
    if (kind < 165) return versions_.back()->AddInstance();
    if (kind < 170) return versions_.back()->RetireInstance();
    if (kind < 174) return Reload();
    Advance(random_.Chance(10) ? kPlayedIdleNs : random_.Below(8'000));
  }

  void Finish(PlayedVersion& version) {
    version.EnsureAnInstance();
    for (int round = 0; round < 2'000 && !failed(); ++round) {
      if (version.Step()) continue;
      if (version.empty()) break;
      version.DropCancelled();
      Advance(kPlayedIdleNs);
    }
    version.ExpectAllDone();
  }

  const std::vector<ModelPtr>& models_;
  const bool direct_;
  Random random_;
  uint64_t now_ns_ = 1'000'000;
  std::vector<std::unique_ptr<PlayedVersion>> versions_;  // the last one gets the requests
};

void PlayAll(bool direct) {
  const std::vector<ModelPtr> models = MakeModels(direct);
  const uint64_t seed = FromEnvironment("NEREID_PROPERTY_SEED", 20'250'611);
  const uint64_t schedules = FromEnvironment("NEREID_SEQUENCE_SCHEDULES", kDefaultSchedules);
  for (uint64_t i = 0; i < schedules; ++i) {
    Schedule schedule(models, i % models.size(), direct, seed + i);
    schedule.Run();
    ASSERT_FALSE(schedule.failed()) << "variant " << i % models.size() << ", seed " << seed + i;
  }
}

TEST(SequenceProperties, Direct) { PlayAll(true); }
TEST(SequenceProperties, Oldest) { PlayAll(false); }

}  // namespace
}  // namespace nereid::schedule
