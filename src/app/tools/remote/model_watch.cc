// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/model_watch.h"

#include <algorithm>
#include <utility>

#include "app/tools/remote/terminal_text.h"
#include "base/clock.h"

namespace nereid::app::tools {
namespace {

constexpr uint64_t kIntervalNs = 1'000'000'000;
constexpr long kMaxPollMs = 5000;

}  // namespace

std::string StatesLine(const std::string& model, const std::vector<IndexedModel>& index) {
  std::string line;
  for (const IndexedModel& entry : index) {
    if (entry.name != model) continue;
    line += line.empty() ? ": " : ", ";
    if (!entry.version.empty()) line += "version " + TerminalText(entry.version, 40) + " ";
    line += entry.state.empty() ? "not loaded" : TerminalText(entry.state, 40);
    if (line.size() > 1000) break;
  }
  return TerminalText(model) + (line.empty() ? ": not in the repository" : line);
}

bool IsInUse(const std::string& model, const std::vector<IndexedModel>& index) {
  return std::any_of(index.begin(), index.end(), [&](const IndexedModel& entry) {
    return entry.name == model &&
           (entry.state == "READY" || entry.state == "LOADING" || entry.state == "UNLOADING");
  });
}

ModelWatch::ModelWatch(RemoteServer& server, std::string model, const ToolContext& context)
    : server_(server),
      model_(std::move(model)),
      context_(context),
      next_ns_(context.clock->NowNs() + kIntervalNs) {}

std::optional<std::vector<IndexedModel>> ModelWatch::Poll() {
  if (gave_up() || context_.clock->NowNs() < next_ns_) return std::nullopt;
  auto index = server_.Index(kMaxPollMs);
  next_ns_ = context_.clock->NowNs() + kIntervalNs;
  if (!index.ok()) {
    ++failures_;
    return std::nullopt;
  }
  failures_ = 0;
  std::string line = StatesLine(model_, *index);
  if (line != shown_ && context_.progress) context_.progress(line);
  shown_ = std::move(line);
  return std::move(index).value();
}

}  // namespace nereid::app::tools
