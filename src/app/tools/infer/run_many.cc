// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/run_many.h"

#include <thread>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/mutex.h"
#include "base/threads.h"

namespace nereid::app::tools {
namespace {

constexpr uint64_t kProgressNs = 2'000'000'000;
constexpr uint64_t kMaxFailures = 100;

class Sender {
 public:
  Sender(InferenceClient& client, const EncodedCall& call, uint64_t repeat,
         const ToolContext& context)
      : client_(client),
        call_(call),
        repeat_(repeat),
        context_(context),
        begin_ns_(context.clock->NowNs()),
        shown_ns_(begin_ns_) {}

  /// Sends requests until none is left. Thread-safe.
  void Run() {
    while (Begin()) {
      const uint64_t sent_ns = context_.clock->NowNs();
      base::Result<InferReply> reply = client_.Infer(call_);
      const uint64_t now_ns = context_.clock->NowNs();
      Finish(std::move(reply), now_ns - sent_ns, now_ns);
    }
  }

  ManyOutcome Take() {
    base::MutexLock lock(mutex_);
    outcome_.elapsed_ns = context_.clock->NowNs() - begin_ns_;
    return std::move(outcome_);
  }

 private:
  bool Begin() {
    base::MutexLock lock(mutex_);
    if (begun_ == repeat_ || outcome_.failed > outcome_.answered + kMaxFailures) return false;
    ++begun_;
    return true;
  }

  void Finish(base::Result<InferReply> reply, uint64_t latency_ns, uint64_t now_ns) {
    base::MutexLock lock(mutex_);
    if (reply.ok()) {
      if (!outcome_.first_reply) {
        outcome_.first_reply = std::move(*reply);
        outcome_.first_latency_ns = latency_ns;
      }
      ++outcome_.answered;
      outcome_.latencies.Add(latency_ns);
    } else {
      if (outcome_.failed == 0) outcome_.first_error = reply.status();
      ++outcome_.failed;
    }
    if (now_ns - shown_ns_ < kProgressNs || !context_.progress) return;
    shown_ns_ = now_ns;
    context_.progress(std::to_string(outcome_.answered + outcome_.failed) + " of " +
                      std::to_string(repeat_) + " requests");
  }

  InferenceClient& client_;
  const EncodedCall& call_;
  const uint64_t repeat_;
  const ToolContext& context_;
  const uint64_t begin_ns_;
  base::Mutex mutex_;
  uint64_t begun_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t shown_ns_ NEREID_GUARDED_BY(mutex_);
  ManyOutcome outcome_ NEREID_GUARDED_BY(mutex_);
};

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

double PerSecond(const ManyOutcome& outcome) {
  if (outcome.elapsed_ns == 0) return 0;
  return static_cast<double>(outcome.answered) * 1e9 / static_cast<double>(outcome.elapsed_ns);
}

}  // namespace

ManyOutcome RunMany(InferenceClient& client, const EncodedCall& call, uint64_t repeat,
                    uint64_t concurrency, const ToolContext& context) {
  Sender sender(client, call, repeat, context);
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < concurrency; ++i) {
    auto thread = base::StartThread("infer", [&sender] { sender.Run(); });
    if (!thread.ok()) {
      if (context.progress) {
        context.progress("only " + std::to_string(i) +
                         " requests at once: " + thread.status().message());
      }
      break;
    }
    threads.push_back(std::move(*thread));
  }
  sender.Run();
  for (std::thread& thread : threads) thread.join();
  return sender.Take();
}

std::string MillisecondsText(uint64_t ns) {
  return Fixed(static_cast<double>(ns) / 1e6, ns < 10'000'000 ? 2 : 1) + " ms";
}

std::string ManyText(const ManyOutcome& outcome, uint64_t concurrency) {
  std::string text = std::to_string(outcome.answered) + " answered, " +
                     std::to_string(outcome.failed) + " failed, " + std::to_string(concurrency) +
                     " at once: " + Fixed(PerSecond(outcome), 1) + " per second";
  if (outcome.answered == 0) return text + "\n";
  for (const int percent : {50, 90, 95, 99}) {
    text += (percent == 50 ? "; p" : ", p") + std::to_string(percent) + " " +
            MillisecondsText(outcome.latencies.Quantile(percent / 100.0));
  }
  return text + ", max " + MillisecondsText(outcome.latencies.Quantile(1)) + "\n";
}

std::string ManyJson(const ManyOutcome& outcome, uint64_t concurrency) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("answered").Integer(outcome.answered);
  json.Key("failed").Integer(outcome.failed).Key("concurrency").Integer(concurrency);
  json.Key("seconds").Raw(Fixed(static_cast<double>(outcome.elapsed_ns) / 1e9, 6));
  json.Key("throughput").Raw(Fixed(PerSecond(outcome), 3)).Key("latency_ms").BeginObject();
  for (const int percent : {50, 90, 95, 99, 100}) {
    const std::string name = percent == 100 ? "max" : "p" + std::to_string(percent);
    const uint64_t ns = outcome.latencies.Quantile(percent / 100.0);
    json.Key(name).Raw(Fixed(static_cast<double>(ns) / 1e6, 6));
  }
  json.EndObject().EndObject();
  return text + "\n";
}

}  // namespace nereid::app::tools
