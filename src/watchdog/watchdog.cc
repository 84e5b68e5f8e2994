// SPDX-License-Identifier: Apache-2.0
#include "watchdog/watchdog.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::watchdog {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMinPeriodNs = kSecondNs / 10;
constexpr uint64_t kMaxPeriodNs = 5 * kSecondNs;

}  // namespace

uint64_t PeriodFor(uint64_t bound_ns) {
  return std::clamp(bound_ns / 8, kMinPeriodNs, kMaxPeriodNs);
}

std::string Describe(const Finding& finding) {
  const std::string seconds = std::to_string(finding.age_ns / kSecondNs) + " s";
  const std::string detail = finding.detail.empty() ? "" : ": " + finding.detail;
  const std::string stage =
      std::string(base::StageKindName(finding.facts.kind)) + " '" + finding.facts.name + "'";
  if (finding.kind == Finding::Kind::kExecuting) {
    return stage + " has been executing for " + seconds + detail;
  }
  return stage + " has not moved for " + seconds + detail;
}

Watchdog::Watchdog(uint64_t bound_ns, base::StageList& stages, const base::Clock& clock)
    : period_ns_(PeriodFor(bound_ns)),
      stages_(stages),
      clock_(clock),
      judge_(bound_ns, period_ns_) {}

Watchdog::~Watchdog() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

base::Status Watchdog::Start() {
  NEREID_ASSIGN_OR_RETURN(thread_, base::StartThread("watchdog", [this] { Run(); }));
  return base::Status::Ok();
}

void Watchdog::Run() {
  base::MutexLock lock(mutex_);
  while (!stop_) {
    lock.Unlock();
    try {
      Check();
    } catch (const std::exception& error) {  // no memory; the next round may have some
      LOG_ERROR << "watchdog: a round failed: " << error.what();
    }
    lock.Lock();
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(period_ns_);
    while (!stop_ && stopped_.WaitUntil(lock, until)) {
    }
  }
}

std::vector<StageReport> Watchdog::Ask(uint64_t now_ns) {
  std::vector<StageReport> reports;
  stages_.ForEach([&](uint64_t id, const base::StageFacts& facts, base::Stage& stage) {
    reports.push_back({id, facts, stage.Sample(now_ns)});
  });
  return reports;
}

void Watchdog::Check() {
  const uint64_t now_ns = clock_.NowNs();
  std::vector<Finding> findings = judge_.Judge(Ask(now_ns), now_ns);
  Log(findings);
  fatal_.store(std::any_of(findings.begin(), findings.end(),
                           [](const Finding& finding) { return finding.IsFatal(); }),
               std::memory_order_relaxed);
  const base::MutexLock lock(mutex_);
  findings_ = std::move(findings);
  ++counts_.rounds;
}

void Watchdog::Log(const std::vector<Finding>& findings) {
  decltype(logged_) now;
  for (const Finding& finding : findings) {
    const auto found = logged_.find({finding.id, finding.kind});
    const bool is_new = found == logged_.end();
    Logged& logged = now[{finding.id, finding.kind}];
    logged = {finding, is_new ? 2 * finding.age_ns : found->second.next_age_ns};
    const bool again = !is_new && finding.age_ns >= logged.next_age_ns;
    if (again) logged.next_age_ns = 2 * finding.age_ns;
    const bool is_stuck = finding.kind == Finding::Kind::kStuck;
    if (is_new && is_stuck) {
      const base::MutexLock lock(mutex_);
      ++counts_.alarms[static_cast<size_t>(finding.facts.kind)];
    }
    if (!is_new && !again) continue;
    if (is_stuck) {
      LOG_ERROR << "watchdog: " << Describe(finding);
    } else {
      LOG_WARNING << "watchdog: " << Describe(finding);
    }
  }
  for (const auto& [key, logged] : logged_) {
    if (now.contains(key) || logged.finding.kind != Finding::Kind::kStuck) continue;
    const base::StageFacts& facts = logged.finding.facts;
    LOG_INFO << "watchdog: " << base::StageKindName(facts.kind) << " '" << facts.name
             << "' moves again";
  }
  logged_ = std::move(now);
}

std::vector<Finding> Watchdog::Findings() const {
  const base::MutexLock lock(mutex_);
  return findings_;
}

Watchdog::Counts Watchdog::counts() const {
  const base::MutexLock lock(mutex_);
  return counts_;
}

}  // namespace nereid::watchdog
