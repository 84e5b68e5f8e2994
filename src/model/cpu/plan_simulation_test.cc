// SPDX-License-Identifier: Apache-2.0
// Runs the decisions of the CPU plan on simulated machines, and compares the table in
// docs/user/cpu_plan.md with the result. NEREID_UPDATE_GOLDEN=1 rewrites the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/testing/source_directory.h"
#include "model/cpu/execution_threads.h"
#include "model/cpu_plan.h"

namespace nereid::model {
namespace {

/// How the duration of an execution depends on its threads: a part that does not divide, and a
/// price for each thread.
struct Cost {
  double single_ms = 0;
  double serial = 0;
  double per_thread_ms = 0;

  double Ns(int threads) const {
    return 1e6 * (single_ms * (serial + (1 - serial) / threads) + per_thread_ms * (threads - 1));
  }
};

/// Between those of BERT-base (128 tokens) and of resnet50.
constexpr Cost kHeavy{100, 0.03, 0.05};
constexpr Cost kLight{0.1, 0.5, 0.03};

struct Outcome {
  double per_second = 0;
  double mean_ms = 0;
  double threads = 0;  // mean of all executions
  double most_busy = 0;
};

/// Clients that send one request after the other, to models with a number of instances each.
/// Threads in excess of the CPUs slow all executions down that begin meanwhile.
class Machine {
 public:
  Machine(int cpus, int models, int instances, Cost cost)
      : cpus_(cpus), cost_(cost), load_(cpus), clock_(1'000'000'000) {
    for (int i = 0; i < models; ++i) {
      models_.push_back({ExecutionThreads::Changing(load_, clock_, cpus,
                                                    [](int, const ThreadsPrepared& done) {
                                                      done(base::Status::Ok());
                                                      return base::Status::Ok();
                                                    }),
                         instances,
                         {}});
    }
  }

  /// `fixed` threads for each execution, or 0 for the plan's choice.
  Outcome Run(int clients, double seconds, int fixed = 0) {
    fixed_ = fixed;
    for (int c = 0; c < clients; ++c) Arrive(static_cast<size_t>(c) % models_.size());
    const uint64_t start = clock_.NowNs();
    const auto end = start + static_cast<uint64_t>(seconds * 1e9);
    const uint64_t settled = start + (end - start) / 2;
    while (!events_.empty() && events_.top().at_ns < end) {
      const Event event = events_.top();
      events_.pop();
      clock_.Advance(event.at_ns - clock_.NowNs());
      if (event.begins) {
        Arrive(event.model);
      } else {
        Finish(event, event.at_ns >= settled);
      }
    }
    const double measured_s = static_cast<double>(end - settled) / 1e9;
    outcome_.per_second = count_ / measured_s;
    outcome_.mean_ms = busy_ms_ / std::max(1.0, count_);
    outcome_.threads = threads_ / std::max(1.0, count_);
    return outcome_;
  }

 private:
  /// A client needs this long between an answer and its next request.
  static constexpr uint64_t kThinkNs = 100'000;

  struct Model {
    std::unique_ptr<ExecutionThreads> threads;
    int free = 0;
    std::queue<uint64_t> waiting;  // since when
    uint32_t skipped = 0;
  };
  struct Event {
    uint64_t at_ns = 0;
    bool begins = false;
    size_t model = 0;
    int threads = 0;
    uint64_t arrived_ns = 0;
    std::optional<ExecutionThreads::Execution> execution;
    bool operator>(const Event& other) const { return at_ns > other.at_ns; }
  };

  void Arrive(size_t index) {
    Model& model = models_[index];
    if (model.free == 0) {
      model.waiting.push(clock_.NowNs());
      return;
    }
    --model.free;
    Start(index, clock_.NowNs());
  }

  void Start(size_t index, uint64_t arrived_ns) {
    Event event;
    event.model = index;
    event.arrived_ns = arrived_ns;
    event.execution = models_[index].threads->Begin(1000, models_[index].skipped);
    event.threads = fixed_ > 0 ? fixed_ : event.execution ? event.execution->threads : 1;
    busy_ += event.threads;
    outcome_.most_busy = std::max(outcome_.most_busy, static_cast<double>(busy_));
    const double slowdown = std::max(1.0, static_cast<double>(busy_) / cpus_);
    event.at_ns = clock_.NowNs() + static_cast<uint64_t>(slowdown * cost_.Ns(event.threads));
    events_.push(event);
  }

  void Finish(const Event& event, bool counts) {
    Model& model = models_[event.model];
    if (event.execution) model.threads->End(*event.execution);
    busy_ -= event.threads;
    if (counts) {
      ++count_;
      threads_ += event.threads;
      busy_ms_ += static_cast<double>(clock_.NowNs() - event.arrived_ns) / 1e6;
    }
    if (model.waiting.empty()) {
      ++model.free;
    } else {
      const uint64_t since = model.waiting.front();
      model.waiting.pop();
      Start(event.model, since);
    }
    events_.push({clock_.NowNs() + kThinkNs, true, event.model, 0, 0, {}});
  }

  const int cpus_;
  const Cost cost_;
  MachineLoad load_;
  base::FakeClock clock_;
  std::vector<Model> models_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  int fixed_ = 0;
  int busy_ = 0;
  double count_ = 0, threads_ = 0, busy_ms_ = 0;
  Outcome outcome_;
};

constexpr double kSeconds = 60;

int Instances(int cpus, int models) {
  return PlannedInstances(cpus, static_cast<size_t>(models), 2);
}

/// Returns the throughput of the best arrangement with one number of threads for all executions and
/// as many instances as are useful.
double BestFixed(int cpus, int models, int clients, Cost cost) {
  double best = 0;
  for (int threads = 1; threads <= cpus; threads *= 2) {
    for (int instances = 1; instances <= cpus; instances *= 2) {
      Machine machine(cpus, models, instances, cost);
      best = std::max(best, machine.Run(clients, 10, threads).per_second);
    }
  }
  return best;
}

TEST(PlanSimulation, ALoneClientIsAsFastAsWithItsBestNumberOfThreads) {
  for (const int cpus : {2, 4, 16, 64}) {
    Machine machine(cpus, 1, Instances(cpus, 1), kHeavy);
    double best = kHeavy.Ns(1);
    for (int threads = 1; threads <= cpus; ++threads) best = std::min(best, kHeavy.Ns(threads));
    EXPECT_LE(machine.Run(1, kSeconds).mean_ms, 1.1 * best / 1e6) << cpus;
  }
}

TEST(PlanSimulation, ACrowdHasTheThroughputOfTheBestFixedArrangement) {
  for (const int cpus : {2, 16, 64}) {
    for (const int models : {1, 5}) {
      for (const int clients : {4, 16}) {
        Machine machine(cpus, models, Instances(cpus, models), kHeavy);
        EXPECT_GE(machine.Run(clients, kSeconds).per_second,
                  0.95 * BestFixed(cpus, models, clients, kHeavy))
            << cpus << " CPUs, " << models << " models, " << clients << " clients";
      }
    }
  }
}

TEST(PlanSimulation, LightModelsStayWithOneThread) {
  for (const int clients : {1, 16}) {
    Machine machine(16, 1, 16, kLight);
    EXPECT_NEAR(machine.Run(clients, 5).threads, 1, 1e-9) << clients;
  }
}

TEST(PlanSimulation, InTheLongRunThereAreNoMoreThreadsThanCpus) {
  for (const int clients : {2, 3, 8, 40}) {
    Machine machine(16, 4, 8, kHeavy);
    machine.Run(clients, kSeconds);
    // A first execution may have all CPUs when the others come, which get one thread each.
    EXPECT_LE(machine.Run(0, kSeconds).most_busy, 16 + std::min(clients, 32) - 1) << clients;
  }
}

std::string Row(int cpus, int models, int clients) {
  const int instances = Instances(cpus, models);
  Machine machine(cpus, models, instances, kHeavy);
  const Outcome outcome = machine.Run(clients, kSeconds);
  std::array<char, 200> text;
  std::snprintf(text.data(), text.size(), "| %d | %d | %d | %d | %.1f | %.0f | %.1f | %.2f |\n",
                cpus, models, instances, clients, outcome.threads, outcome.mean_ms,
                outcome.per_second, outcome.per_second / BestFixed(cpus, models, clients, kHeavy));
  return text.data();
}

TEST(PlanSimulation, TheDocumentHasTheseTables) {
  std::string table =
      "| CPUs | models | instances of each | clients | threads of an execution | latency ms | "
      "req/s "
      "| of the best fixed arrangement |\n|---|---|---|---|---|---|---|---|\n";
  for (const int cpus : {2, 16, 64}) {
    for (const int models : {1, 5, 50}) {
      for (const int clients : {1, 4, 100}) table += Row(cpus, models, clients);
    }
  }
  const std::string path = base::testing::SourceDirectory() + "/docs/user/cpu_plan.md";
  std::string document = base::ReadFile(path).value();
  constexpr std::string_view kBegin = "<!-- plan_simulation_test -->\n";
  constexpr std::string_view kEnd = "<!-- end -->";
  const size_t begin = document.find(kBegin) + kBegin.size();
  const size_t end = document.find(kEnd, begin);
  ASSERT_LE(begin, end);
  ASSERT_NE(end, std::string::npos);
  const std::string before = document.substr(begin, end - begin);
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << document.replace(begin, end - begin, table);
    return;
  }
  EXPECT_EQ(before, table) << "If this is intended, run the test with NEREID_UPDATE_GOLDEN=1.";
}

}  // namespace
}  // namespace nereid::model
