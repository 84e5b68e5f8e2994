// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_exporter.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "base/threads.h"
#include "codec/compression/compression.h"
#include "tracing/span_ids.h"

namespace nereid::tracing {
namespace {

// The fastest level: spans compress well with any.
constexpr int kGzipLevel = 1;
constexpr uint64_t kPauseNs = 1'000'000'000;

SpanExporter::Limits Usable(SpanExporter::Limits limits) {
  limits.max_queued = std::max<size_t>(limits.max_queued, 1);
  limits.max_batch = std::clamp<size_t>(limits.max_batch, 1, limits.max_queued);
  return limits;
}

base::Result<std::string> Compressed(const std::string& message) {
  std::string packed;
  const tensor::ByteSpan piece{message.data(), message.size()};
  NEREID_RETURN_IF_ERROR(codec::compression::Deflate(
      {&piece, 1}, codec::compression::Encoding::kGzip, kGzipLevel, [&](std::string_view bytes) {
        packed.append(bytes);
        return true;
      }));
  return packed;
}

}  // namespace

SpanExporter::SpanExporter(Limits limits, Resource resource,
                           std::unique_ptr<SpanTransport> transport, const base::Clock& clock)
    : limits_(Usable(limits)),
      resource_(std::move(resource)),
      transport_(std::move(transport)),
      clock_(clock) {}

base::Status SpanExporter::Start() {
  {
    const base::MutexLock lock(mutex_);
    running_ = true;
  }
  auto thread = base::StartThread("span-exporter", [this] { Run(); });
  if (thread.ok()) {
    thread_ = std::move(thread).value();
    return {};
  }
  const base::MutexLock lock(mutex_);
  running_ = false;
  return thread.status();
}

void SpanExporter::Add(Span span) noexcept {
  try {
    bool is_full = false;
    bool wake = false;
    {
      const base::MutexLock lock(mutex_);
      if (ended_) {
        ++counts_.dropped_at_stop;
        return;
      }
      is_full = waiting_.size() + sending_ >= limits_.max_queued;
      if (is_full) {
        ++counts_.dropped_queue_full;
      } else {
        waiting_.push_back(std::move(span));
        if (waiting_.size() == 1) oldest_ns_ = clock_.NowNs();
        // The thread waits for the first span for as long as it takes; then for its delay.
        wake = waiting_.size() == 1 || waiting_.size() == limits_.max_batch;
      }
    }
    if (wake) changed_.NotifyAll();
    if (is_full) LogDropped(full_log_, "the queue is full (bsp_max_queue_size)");
  } catch (const std::exception& failure) {
    LOG_ERROR << "a span is lost: " << failure.what();
  }
}

uint64_t SpanExporter::Step() {
  if (batch_.spans == 0) {
    uint64_t next_ns = kNever;
    const std::vector<Span> spans = TakeDue(clock_.NowNs(), &next_ns);
    if (spans.empty()) return next_ns;
    Pack(spans);
    if (batch_.spans == 0) return clock_.NowNs();
  }
  if (clock_.NowNs() < batch_.next_try_ns) return batch_.next_try_ns;
  TrySend();
  return batch_.spans == 0 ? clock_.NowNs() : batch_.next_try_ns;
}

std::vector<Span> SpanExporter::TakeDue(uint64_t now_ns, uint64_t* next_ns) {
  std::vector<Span> spans;
  const base::MutexLock lock(mutex_);
  if (waiting_.empty()) return spans;
  const uint64_t due_ns = oldest_ns_ + limits_.delay_ns;
  if (!stopping_ && waiting_.size() < limits_.max_batch && now_ns < due_ns) {
    *next_ns = due_ns;
    return spans;
  }
  const size_t count = std::min(waiting_.size(), limits_.max_batch);
  spans.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    spans.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  // The time of the spans that are left is not known; it is at most `now_ns`, and they go next.
  sending_ = count;
  return spans;
}

void SpanExporter::Pack(const std::vector<Span>& spans) {
  batch_ = Batch();
  batch_.spans = spans.size();
  std::string reason;
  try {
    auto packed = Compressed(EncodeExportRequest(resource_, spans));
    if (packed.ok()) {
      batch_.packed = std::move(packed).value();
      return;
    }
    reason = packed.status().message();
  } catch (const std::exception& failure) {
    reason = failure.what();
  }
  EndBatch(0, batch_.spans);
  LogDropped(receiver_log_, reason);
}

void SpanExporter::TrySend() {
  const TransportReply reply = transport_->Send(batch_.packed);
  const SendOutcome outcome = OutcomeOf(reply);
  if (outcome.kind == SendOutcome::Kind::kRetry) {
    ++batch_.failures;
    batch_.next_try_ns =
        clock_.NowNs() + RetryDelayNs(batch_.failures, reply.retry_after_secs, RandomBits());
    {
      const base::MutexLock lock(mutex_);
      ++counts_.retries;
    }
    uint64_t left_out = 0;
    if (!give_up_.load() && receiver_log_.Admit(clock_.NowNs(), &left_out)) {
      LOG_WARNING << "OpenTelemetry: spans wait for their receiver, " << batch_.failures
                  << " attempts to send a batch have failed: " << outcome.reason;
    }
    return;
  }
  const bool refused = outcome.kind == SendOutcome::Kind::kRefused;
  const uint64_t lost =
      refused ? batch_.spans : std::min<uint64_t>(outcome.rejected_spans, batch_.spans);
  EndBatch(batch_.spans - lost, lost);
  if (!outcome.reason.empty()) LogDropped(receiver_log_, outcome.reason);
}

void SpanExporter::EndBatch(uint64_t delivered, uint64_t refused) {
  batch_ = Batch();
  const base::MutexLock lock(mutex_);
  sending_ = 0;
  counts_.delivered += delivered;
  counts_.dropped_refused += refused;
}

void SpanExporter::LogDropped(base::LogThrottle& throttle, std::string_view reason) const {
  uint64_t left_out = 0;
  if (!throttle.Admit(clock_.NowNs(), &left_out)) return;
  const Counts now = counts();
  LOG_WARNING << "OpenTelemetry: spans are dropped: " << reason << "; "
              << now.dropped_queue_full + now.dropped_refused << " since the start";
}

// Without memory the step is tried again a little later; the spans stay in the queue.
uint64_t SpanExporter::StepSafely() noexcept {
  try {
    return Step();
  } catch (const std::exception& failure) {
    LOG_ERROR << "OpenTelemetry: spans could not be sent: " << failure.what();
    return clock_.NowNs() + kPauseNs;
  }
}

void SpanExporter::Run() {
  bool has_hurried = false;
  while (true) {
    const uint64_t next_ns = StepSafely();
    base::MutexLock lock(mutex_);
    if (give_up_.load()) break;
    const bool is_done = waiting_.empty() && sending_ == 0;
    if (stopping_ && is_done) break;
    if (stopping_ && !std::exchange(has_hurried, true)) {
      // The time to stop is short: a batch that waits for its next attempt goes at once.
      batch_.next_try_ns = 0;
      batch_.failures = 0;
      continue;
    }
    const uint64_t now_ns = clock_.NowNs();
    if (next_ns <= now_ns) continue;
    // A span that came since Step() looked has notified nobody.
    if (sending_ == 0 &&
        (next_ns == kNever ? !waiting_.empty() : waiting_.size() >= limits_.max_batch)) {
      continue;
    }
    changed_.WaitFor(lock, base::WaitTime(now_ns, next_ns));
    // A wake does not end the wait for the next attempt of a batch: Step() looks at the clock.
  }
  const base::MutexLock lock(mutex_);
  running_ = false;
  changed_.NotifyAll();
}

void SpanExporter::Stop(uint64_t deadline_ns) {
  if (thread_.joinable()) {
    {
      base::MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
      uint64_t now_ns = clock_.NowNs();
      while (running_ && now_ns < deadline_ns) {
        changed_.WaitFor(lock, base::WaitTime(now_ns, deadline_ns));
        now_ns = clock_.NowNs();
      }
      give_up_.store(true);
      changed_.NotifyAll();
    }
    transport_->Abort();
    thread_.join();
  }
  DropRest();
}

void SpanExporter::DropRest() {
  uint64_t left = 0;
  std::deque<Span> dropped;  // destroyed after the lock is released
  {
    const base::MutexLock lock(mutex_);
    ended_ = true;
    left = waiting_.size() + sending_;
    counts_.dropped_at_stop += left;
    sending_ = 0;
    dropped.swap(waiting_);
  }
  if (left > 0) {
    LOG_WARNING << "OpenTelemetry: " << left
                << " spans were not delivered before the server ended and are dropped";
  }
}

SpanExporter::Counts SpanExporter::counts() const {
  const base::MutexLock lock(mutex_);
  Counts counts = counts_;
  counts.queued = waiting_.size() + sending_;
  return counts;
}

}  // namespace nereid::tracing
