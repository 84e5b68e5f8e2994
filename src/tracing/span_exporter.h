// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log_throttle.h"
#include "base/mutex.h"
#include "base/status.h"
#include "tracing/export_rules.h"
#include "tracing/otlp_message.h"
#include "tracing/span.h"
#include "tracing/span_transport.h"

namespace nereid::tracing {

/// Collects spans and sends them in batches, on a thread of its own: when a batch is full, or when
/// its first span has waited for the delay. A batch that the receiver does not answer, or answers
/// with a request for patience, is sent again until it is taken; all others wait behind it. Spans
/// that come while the queue is full are dropped and counted. The spans of the batch on its way
/// count as queued. Thread-safe.
class SpanExporter final : public SpanSink {
 public:
  struct Limits {
    size_t max_queued = 2048;  // spans; at least 1
    size_t max_batch = 512;    // at least 1; at most max_queued is used
    uint64_t delay_ns = 5'000'000'000;
  };
  /// The numbers of spans since the start, except for `queued`.
  struct Counts {
    uint64_t delivered = 0;
    uint64_t dropped_queue_full = 0;
    uint64_t dropped_refused = 0;  // by the receiver
    uint64_t dropped_at_stop = 0;
    uint64_t queued = 0;
    uint64_t retries = 0;  // of batches
  };

  SpanExporter(Limits limits, Resource resource, std::unique_ptr<SpanTransport> transport,
               const base::Clock& clock = base::SteadyClock());
  /// Drops what is queued.
  ~SpanExporter() override { Stop(0); }

  /// Starts the thread. Returns UNAVAILABLE if the system provides none.
  base::Status Start();

  /// Never waits for the receiver.
  void Add(Span span) noexcept override;

  /// Sends all that is queued, until `deadline_ns` (monotonic) at the latest, and ends the thread.
  /// Spans that are left or come later are dropped.
  void Stop(uint64_t deadline_ns);

  Counts counts() const;

  static constexpr uint64_t kNever = UINT64_MAX;
  /// Does what is due now: makes the next batch or sends it, once. Returns the time of the next
  /// step; kNever if there is none before a further span comes. The thread calls it; tests do
  /// without Start().
  uint64_t Step();

 private:
  /// A batch on its way. Used by the exporter's thread only.
  struct Batch {
    std::string packed;  // the message, compressed
    size_t spans = 0;    // 0: there is no batch
    uint32_t failures = 0;
    uint64_t next_try_ns = 0;
  };

  void Run();
  /// Takes the spans of the next batch if it is due. Otherwise sets `*next_ns` to the time.
  std::vector<Span> TakeDue(uint64_t now_ns, uint64_t* next_ns);
  void Pack(const std::vector<Span>& spans);
  void TrySend();
  void EndBatch(uint64_t delivered, uint64_t refused);
  void LogDropped(base::LogThrottle& throttle, std::string_view reason) const;
  uint64_t StepSafely() noexcept;
  void DropRest();

  const Limits limits_;
  const Resource resource_;
  const std::unique_ptr<SpanTransport> transport_;
  const base::Clock& clock_;
  base::LogThrottle full_log_;
  base::LogThrottle receiver_log_;

  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;  // a span made a batch due, the stop, or the thread's end
  std::deque<Span> waiting_ NEREID_GUARDED_BY(mutex_);
  uint64_t oldest_ns_ NEREID_GUARDED_BY(mutex_) = 0;  // when the first of waiting_ came, or earlier
  size_t sending_ NEREID_GUARDED_BY(mutex_) = 0;      // spans in batch_
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;   // send all that is queued, and end
  bool ended_ NEREID_GUARDED_BY(mutex_) = false;      // take no more spans
  bool running_ NEREID_GUARDED_BY(mutex_) = false;    // the thread has work
  Counts counts_ NEREID_GUARDED_BY(mutex_);

  Batch batch_;
  std::atomic<bool> give_up_{false};  // the time to stop is over
  std::thread thread_;
};

}  // namespace nereid::tracing
