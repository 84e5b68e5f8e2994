// SPDX-License-Identifier: Apache-2.0
#include "console/sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>

#include "base/clock.h"
#include "base/log_tail.h"
#include "base/threads.h"

namespace nereid::console {
namespace {

constexpr std::chrono::seconds kInterval{1};
/// Of one event with lines of the log. What is more stays in the log document.
constexpr size_t kMaxEventLines = 200;
constexpr size_t kMaxEventBytes = size_t{128} << 10;

uint64_t ProcessorTimeNs() {
  rusage use{};
  if (::getrusage(RUSAGE_SELF, &use) != 0) return 0;
  const auto ns = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(time.tv_usec) * 1000;
  };
  return ns(use.ru_utime) + ns(use.ru_stime);
}

/// Reads the second number of /proc/self/statm ("size resident shared …", in pages).
uint64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return in ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Measures the process between two calls.
class ProcessMeter {
 public:
  ProcessUse Measure(uint64_t now_ns) {
    const uint64_t used_ns = ProcessorTimeNs();
    ProcessUse use{.cpus = 0, .memory_bytes = ResidentBytes()};
    if (last_ns_ != 0 && now_ns > last_ns_ && used_ns >= last_used_ns_) {
      use.cpus = static_cast<double>(used_ns - last_used_ns_) / double(now_ns - last_ns_);
    }
    last_ns_ = now_ns;
    last_used_ns_ = used_ns;
    return use;
  }

 private:
  uint64_t last_ns_ = 0, last_used_ns_ = 0;
};

}  // namespace

Sampler::Sampler(api::InferenceService& service, SeriesStore& series, const base::LogTail* log)
    : service_(service), series_(series), log_(log) {}

Sampler::~Sampler() { Stop(); }

base::Status Sampler::Start() {
  if (log_ != nullptr) sent_line_ = log_->last();
  NEREID_ASSIGN_OR_RETURN(thread_, base::StartThread("console", [this] { Run(); }));
  return base::Status::Ok();
}

void Sampler::Stop() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  samples_.EndAll();
  log_lines_.EndAll();
}

void Sampler::Run() {
  ProcessMeter meter;
  auto next = std::chrono::steady_clock::now();
  base::MutexLock lock(mutex_);
  while (!stop_) {
    // After a pause of the machine the missed seconds are left out.
    next = std::max(next + kInterval, std::chrono::steady_clock::now());
    while (!stop_ && stopped_.WaitUntil(lock, next)) {
    }
    if (stop_) return;
    lock.Unlock();
    try {
      const base::Clock& clock = base::SteadyClock();
      const uint64_t now_ns = clock.NowNs();
      Tick(now_ns, clock.WallMs(), meter.Measure(now_ns));
    } catch (const std::exception&) {
      // No memory: this second has no point.
    }
    lock.Lock();
  }
}

void Sampler::Tick(uint64_t now_ns, uint64_t time_ms, const ProcessUse& use) {
  if (const auto statistics = service_.GetModelStatistics("", -1); statistics.ok()) {
    series_.Add(*statistics, now_ns, time_ms);
  }
  if (samples_.HasViewers()) {
    samples_.Send(EncodeEvent("sample", SampleDocument(series_.NewestPoints(), use, time_ms)));
  }
  if (log_ != nullptr) SendLog();
}

void Sampler::SendLog() {
  const uint64_t after = sent_line_;
  if (!log_lines_.HasViewers()) {
    sent_line_ = log_->last();
    return;
  }
  const std::vector<base::TailLine> lines = log_->After(after, kMaxEventLines);
  if (lines.empty()) return;
  sent_line_ = lines.back().number;
  log_lines_.Send(EncodeEvent("lines", LogDocument(lines, sent_line_, kMaxEventBytes)));
}

}  // namespace nereid::console
