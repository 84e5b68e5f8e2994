// SPDX-License-Identifier: Apache-2.0
// Random schedules of copies, renames and deletions against the rules of SettlePlanner: no load
// that is put in service is torn, and each schedule ends with the model that is on disk.
//
// The model of the rules: a writer makes one set of files after another. Within a set it pauses for
// less than the settle time, unless a list of checksums names the set. A set is whole when all its
// chunks are written. A load is torn if it read files of two sets or a part of one.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <random>

#include "repository/settle/settle_planner.h"
#include "repository/settle/settle_watch.h"
#include "repository/settle/testing/simulated_model.h"

namespace nereid::repository {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSettleNs = 2'000 * kMs;
constexpr int kChunks = 3;  // of each file
const ModelId kModel{"m"};
constexpr const char* kList = "nereid.sha256";

/// One simulated machine: a writer, a server that polls, and the time of both.
class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) { planner_.emplace(kSettleNs); }

  int64_t Pick(int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random_);
  }
  bool Chance(int percent) { return Pick(1, 100) <= percent; }

  // --- the writer ---

  /// Adds a step, which runs at least `pause_ns` after the one before it.
  void Then(int64_t pause_ns, std::function<void()> step) {
    const int64_t last = steps_.empty() ? now_ns_ : steps_.back().first;
    steps_.emplace_back(std::max(last, now_ns_) + pause_ns, std::move(step));
  }
  /// Returns a pause within a set, shorter than the settle time.
  int64_t ShortPause() { return Chance(70) ? Pick(0, 20 * kMs) : Pick(0, kSettleNs - 50 * kMs); }
  /// Returns a pause of any length.
  int64_t AnyPause() { return Pick(10 * kMs, 3 * kSettleNs); }

  std::vector<std::string> FilesOf(bool second_version) {
    std::vector<std::string> files{"config.pbtxt", "1/model", "1/weights"};
    if (second_version) files.push_back("2/model");
    std::shuffle(files.begin(), files.end(), random_);
    return files;
  }
  /// Copies a set over whatever is there, chunk by chunk.
  void Copy(bool has_list) {
    const int set = ++sets_;
    const bool keeps_time = Chance(30);
    const auto pause = [&] { return has_list ? AnyPause() : ShortPause(); };
    Then(AnyPause(), [this] { disk_.MakeDirectory("", WallNs()); });
    const auto files = FilesOf(Chance(50));
    names_[set] = {files.begin(), files.end()};
    if (has_list) {
      // The list comes first and names the set. From then on pauses may be long.
      Then(ShortPause(), [this, set] {
        listed_ = set;
        for (int i = 0; i < kChunks; ++i) disk_.WriteChunk(kList, set, WallNs(), false);
      });
    } else {
      Then(0, [this] { disk_.Delete(kList, WallNs()); });
    }
    for (const char* version : {"1", "2"}) {
      Then(pause(), [this, version] { disk_.MakeDirectory(version, WallNs()); });
    }
    std::vector<std::string> chunks;
    for (const std::string& file : files) chunks.insert(chunks.end(), kChunks, file);
    if (Chance(30)) std::shuffle(chunks.begin(), chunks.end(), random_);  // several writers
    // Files of the set before that this set lacks are deleted at a random place.
    const auto gone = static_cast<size_t>(Pick(0, static_cast<int64_t>(chunks.size())));
    for (size_t i = 0; i <= chunks.size(); ++i) {
      if (i == gone) {
        Then(0, [this, files] {
          SimulatedModel::Files before = disk_.files();
          for (const auto& [path, content] : before) {
            if (path != kList && std::find(files.begin(), files.end(), path) == files.end()) {
              disk_.Delete(path, WallNs());
            }
          }
        });
      }
      if (i == chunks.size()) break;
      Then(pause(), [this, set, keeps_time, path = chunks[i]] {
        disk_.WriteChunk(path, set, WallNs(), keeps_time);
      });
    }
    End(set);
  }
  /// Stages a set elsewhere and renames it into place.
  void Rename() {
    const int set = ++sets_;
    const auto files = FilesOf(true);
    names_[set] = {files.begin(), files.end()};
    const auto staged = std::make_shared<SimulatedModel>();
    Then(AnyPause(), [this, set, staged, files] {
      staged->MakeDirectory("", WallNs());
      staged->MakeDirectory("1", WallNs());
      staged->MakeDirectory("2", WallNs());
      for (const std::string& file : files) {
        for (int i = 0; i < kChunks; ++i) staged->WriteChunk(file, set, WallNs(), false);
      }
    });
    const bool has_gap = Chance(50);
    Then(AnyPause(), [this, has_gap, staged] {
      if (has_gap) disk_ = {};  // the old one is moved away first
      if (!has_gap) disk_.MoveIn(*staged, "", WallNs());
    });
    Then(Pick(0, 200 * kMs), [this, has_gap, staged] {
      if (has_gap) disk_.MoveIn(*staged, "", WallNs());
    });
    End(set);
  }
  void Delete() {
    Then(AnyPause(), [] {});
    static constexpr const char* kOrder[] = {"1/model", "2", kList, "config.pbtxt", "1", ""};
    for (size_t i = 0; i < std::size(kOrder); ++i) {
      Then(ShortPause(), [this] {
        const auto* next = std::find_if(std::begin(kOrder), std::end(kOrder), [this](auto* path) {
          return disk_.marks().contains(path);
        });
        if (next != std::end(kOrder)) disk_.Delete(*next, WallNs());
      });
    }
    End(0);
  }
  /// Marks the end of a set; 0: there is no model.
  void End(int set) {
    Then(0, [this, set] { whole_ = set; });
  }

  // --- time ---

  int64_t WallNs() const { return now_ns_ + wall_offset_; }
  void Advance(int64_t ns) {
    const int64_t end = now_ns_ + ns;
    while (!steps_.empty() && steps_.front().first <= end) {
      now_ns_ = std::max(now_ns_, steps_.front().first);
      const auto step = std::move(steps_.front().second);
      steps_.pop_front();
      step();
    }
    now_ns_ = end;
  }
  bool IsWriting() const { return !steps_.empty(); }
  void StepWallClock() { wall_offset_ += Pick(-3'600'000, 3'600'000) * kMs; }

  // --- the server ---

  /// Reads the marks one by one, while the writer continues.
  TreeMarks ReadMarks() {
    TreeMarks marks;
    const TreeMarks listed = disk_.marks();
    for (const auto& [path, mark] : listed) {
      if (Chance(20)) Advance(Pick(0, 5 * kMs));
      const auto found = disk_.marks().find(path);
      if (found != disk_.marks().end()) marks[path] = found->second;
    }
    // A file that was added since is found if its directory had not been listed yet.
    if (Chance(50)) {
      for (const auto& [path, mark] : disk_.marks()) marks.emplace(path, mark);
    }
    if (!marks.contains("")) marks.clear();
    return marks;
  }
  ChecksumState ReadChecksums(const TreeMarks& marks) {
    const auto list = marks.find(kList);
    if (list == marks.end()) return ChecksumState::kNoList;
    std::set<std::string> found;
    for (const auto& [path, mark] : marks) {
      if (mark.is_directory || path == kList) continue;
      if (Chance(20)) Advance(Pick(0, 5 * kMs));
      const auto content = disk_.files().find(path);
      if (content == disk_.files().end()) return ChecksumState::kDiffers;
      if (content->second != SimulatedModel::Content{listed_, kChunks})
        return ChecksumState::kDiffers;
      found.insert(path);
    }
    return found == names_[listed_] ? ChecksumState::kMatches : ChecksumState::kDiffers;
  }

  void Poll() {
    const ScanMoment moment{static_cast<uint64_t>(now_ns_), WallNs()};
    const TreeMarks marks = ReadMarks();
    const uint64_t fingerprint = marks.empty() ? 0 : Fingerprint(marks);
    std::map<ModelId, ModelSight> sights;
    if (fingerprint != accepted_) sights[kModel] = SightOf(marks, fingerprint, moment);
    const auto verdicts = planner_->Decide(sights, moment.now_ns, static_cast<uint64_t>(now_ns_));
    const bool accepted =
        !verdicts.empty() && verdicts.begin()->second == SettlePlanner::Verdict::kAccept;
    last_scan_ = moment;
    last_marks_ = marks;
    last_was_accepted_ = verdicts.empty() || accepted;
    if (!accepted) return;
    if (marks.empty()) {
      serving_ = 0;
      accepted_ = 0;
    } else if (Load(marks)) {
      accepted_ = fingerprint;
    }
  }
  ModelSight SightOf(const TreeMarks& marks, uint64_t fingerprint, const ScanMoment& moment) {
    ModelSight sight{.is_missing = marks.empty(), .fingerprint = fingerprint};
    if (marks.empty()) return sight;
    sight.checksums = ReadChecksums(marks);
    if (!last_scan_) {
      const int64_t age = moment.wall_ns - LatestChangeNs(marks);
      if (age >= 0) sight.age_ns = static_cast<uint64_t>(age);
    } else if (IsClockSteady(*last_scan_, moment)) {
      LastScan last{.was_accepted = last_was_accepted_, .wall_ns = last_scan_->wall_ns};
      if (!last_marks_.empty()) last.marks = &last_marks_;
      sight.arrived_whole = ArrivedWhole(last, marks);
    }
    return sight;
  }
  /// Reads all files, which takes time. Returns whether the result was put in service.
  bool Load(const TreeMarks& accepted) {
    SimulatedModel::Files read;
    const SimulatedModel::Files listed = disk_.files();
    for (const auto& [path, content] : listed) {
      if (Chance(50)) Advance(Chance(80) ? Pick(0, 30 * kMs) : Pick(0, 2 * kSettleNs));
      const auto found = disk_.files().find(path);
      if (path != kList && found != disk_.files().end()) read.insert(*found);
    }
    if (!FindChange(accepted, disk_.marks(), /*with_additions=*/true).empty()) return false;
    ++loads_;
    serving_ = read.empty() ? -1 : read.begin()->second.set;
    std::set<std::string> names;
    for (const auto& [path, content] : read) {
      names.insert(path);
      is_torn_ |= content != SimulatedModel::Content{serving_, kChunks};
    }
    is_torn_ |= names != names_[serving_];
    return true;
  }
  void Restart() {
    planner_.emplace(kSettleNs);
    last_scan_.reset();
    last_marks_.clear();
    accepted_ = 0;
    serving_ = 0;
  }

  bool is_torn() const { return is_torn_; }
  int loads() const { return loads_; }
  int serving() const { return serving_; }
  int whole() const { return whole_; }

 private:
  std::mt19937 random_;
  int64_t now_ns_ = 1'000'000 * kMs;
  int64_t wall_offset_ = 1'000'000'000 * kMs;
  std::deque<std::pair<int64_t, std::function<void()>>> steps_;
  SimulatedModel disk_;
  int sets_ = 0;
  int whole_ = 0;   // the set that is whole; changes when the last step of a set has run
  int listed_ = 0;  // the set that the list of checksums names
  std::map<int, std::set<std::string>> names_;  // of the files of each set

  std::optional<SettlePlanner> planner_;
  std::optional<ScanMoment> last_scan_;
  TreeMarks last_marks_;
  bool last_was_accepted_ = false;
  uint64_t accepted_ = 0;
  int serving_ = 0;
  int loads_ = 0;
  bool is_torn_ = false;
};

void AddOperation(Simulation* simulation) {
  switch (simulation->Pick(0, 4)) {
    case 0:
    case 1:
      return simulation->Copy(/*has_list=*/false);
    case 2:
      return simulation->Copy(/*has_list=*/true);
    case 3:
      return simulation->Rename();
    default:
      return simulation->Delete();
  }
}

TEST(SettlePropertyTest, NoScheduleOfCopiesRenamesAndDeletionsLoadsATornModel) {
  int loads = 0;
  for (uint32_t seed = 1; seed <= 2'000; ++seed) {
    Simulation simulation(seed);
    const bool steps_clock = simulation.Chance(20);
    const bool restarts = !steps_clock && simulation.Chance(30);
    const int64_t period = simulation.Chance(50) ? 500 * kMs : 5 * kSettleNs;
    for (int64_t i = simulation.Pick(1, 5); i > 0; --i) AddOperation(&simulation);
    while (simulation.IsWriting()) {
      simulation.Advance(simulation.Pick(1, period));
      simulation.Poll();
      if (steps_clock && simulation.Chance(5)) simulation.StepWallClock();
      if (restarts && simulation.Chance(3)) simulation.Restart();
    }
    for (int i = 0; i < 5; ++i) {
      simulation.Advance(kSettleNs);
      simulation.Poll();
    }
    EXPECT_FALSE(simulation.is_torn()) << "seed " << seed;
    EXPECT_EQ(simulation.serving(), simulation.whole()) << "seed " << seed;
    loads += simulation.loads();
    if (HasFailure()) break;
  }
  EXPECT_GT(loads, 2'000);
}

TEST(SettlePropertyTest, ACopyIsLoadedOnce) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    Simulation simulation(seed);
    simulation.Copy(/*has_list=*/seed % 2 == 0);
    while (simulation.IsWriting()) {
      simulation.Advance(simulation.Pick(1, 1'000 * kMs));
      simulation.Poll();
    }
    for (int i = 0; i < 10; ++i) {
      simulation.Advance(kSettleNs);
      simulation.Poll();
    }
    EXPECT_EQ(simulation.loads(), 1) << "seed " << seed;
    EXPECT_EQ(simulation.serving(), 1);
  }
}

}  // namespace
}  // namespace nereid::repository
