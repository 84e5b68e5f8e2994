// SPDX-License-Identifier: Apache-2.0
// nereid top: what the models of a server do, live.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/tools/remote/remote_server.h"
#include "app/tools/terminal.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "app/tools/top/top_frame.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr long kMaxReplyMs = 3000;

constexpr ToolFlag kFlags[] = {
    {"interval", "seconds", "Time between two looks at the server (default 2)"},
    {"once", "", "Look twice, print the difference and end"},
    {"count", "number", "End after that many frames (default: with q or Ctrl-C)"},
    kUrlFlag,
    kTokenFlag,
    kCaFlag,
    kFormatFlag,
    kHelpFlag,
};

constexpr char kUsage[] =
    "Usage: nereid top [flags]\n"
    "\n"
    "Shows what the models of a server do: requests, failures and inferences per second, the mean "
    "time\n"
    "of a request and of its waiting in the queue, the mean batch, and how many executions run at "
    "the\n"
    "same time (BUSY: about the cores that the model keeps busy). On a terminal the table is "
    "renewed,\n"
    "and q ends; elsewhere each table follows the one before. A server that does not answer is "
    "asked\n"
    "again.\n"
    "\n"
    "Exit codes: 0 ended by the user, or after --count frames; 2 the flags are wrong, or with "
    "--once "
    "the\n"
    "server did not answer.\n"
    "\n";

struct Plan {
  uint64_t interval_ms = 2000;
  uint64_t frames = 0;  // 0: any number
  bool once = false, json = false;
};

base::Result<Plan> ParsePlan(const ToolArguments& arguments) {
  Plan plan;
  NEREID_ASSIGN_OR_RETURN(plan.json, WantsJson(arguments));
  if (!arguments.words().empty()) return Status::InvalidArgument("expected no words, only flags");
  const auto seconds = base::ParseWhole<double>(arguments.Get("interval", "2"));
  if (!seconds || !(*seconds >= 0.1 && *seconds <= 3600)) {
    return Status::InvalidArgument("--interval must be a number from 0.1 to 3600. Got " +
                                   arguments.Get("interval"));
  }
  plan.interval_ms = static_cast<uint64_t>(*seconds * 1000);
  plan.once = arguments.Has("once");
  if (plan.once) plan.frames = 1;
  if (!arguments.Has("count")) return plan;
  const auto count = base::ParseWhole<uint32_t>(arguments.Get("count"));
  if (!count || *count == 0) {
    return Status::InvalidArgument("--count must be a whole number from 1. Got " +
                                   arguments.Get("count"));
  }
  plan.frames = *count;
  return plan;
}

/// Asks the server for one sample.
base::Result<TopSample> Look(RemoteServer& server, const base::Clock& clock) {
  RemoteServer::Call call;
  call.path = "/v2/models/stats";
  call.total_ms = kMaxReplyMs;
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, server.Exchange(std::move(call)));
  if (response.status != 200) return RefusalOf(response.status, response.body);
  TopSample sample;
  sample.time_ns = clock.NowNs();
  auto counters = DecodeCounters(response.body);
  if (!counters.ok()) {
    return Status::Internal("the server's statistics cannot be read: is this a v2 server?");
  }
  sample.counters = std::move(*counters);
  // Not every server shows its index to everyone.
  auto index = server.Index(kMaxReplyMs);
  if (index.ok()) sample.index = std::move(*index);
  return sample;
}

/// Leaves the terminal's second screen whatever happens.
class Screen {
 public:
  explicit Screen(Terminal* terminal) : terminal_(terminal) {
    if (terminal_ != nullptr) terminal_->Enter();
  }
  ~Screen() {
    if (terminal_ != nullptr) terminal_->Leave();
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  bool is_shown() const { return terminal_ != nullptr; }

  /// Returns false if the user wants to end.
  bool Wait(std::chrono::milliseconds time, const ToolContext& context) {
    if (terminal_ == nullptr) {
      context.pause(time);
      return true;
    }
    const uint64_t end_ns =
        context.clock->NowNs() + static_cast<uint64_t>(time.count()) * 1'000'000;
    for (uint64_t now_ns = 0; (now_ns = context.clock->NowNs()) < end_ns;) {
      const auto key =
          terminal_->WaitForKey(std::chrono::milliseconds((end_ns - now_ns) / 1'000'000 + 1));
      if (key == 'q' || key == 'Q') return false;
      if (!key) return true;
    }
    return true;
  }

  void SetSize(TopView* view) const {
    if (terminal_ == nullptr) return;
    const Terminal::Size size = terminal_->GetSize();
    view->columns = size.columns;
    view->lines = size.lines;
    view->color = true;
  }

 private:
  Terminal* const terminal_;
};

/// Homes the cursor, writes each line over the old one, and clears what is below.
std::string OnScreen(const std::string& text) {
  std::string screen = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') screen += "\x1b[K\r";
    screen += c;
  }
  return screen + "\x1b[J";
}

class Top {
 public:
  Top(RemoteServer& server, const Plan& plan, const ToolContext& context)
      : server_(server), plan_(plan), context_(context) {
    view_.url = server.address().unix_socket.empty() ? server.address().base_url
                                                     : server.address().unix_socket;
  }

  ToolResult Run() {
    const bool live =
        context_.terminal != nullptr && context_.out_is_terminal && !plan_.once && !plan_.json;
    Screen screen(live ? context_.terminal : nullptr);
    Update();
    if (plan_.once && !view_.problem.empty()) {
      return {kCannotRun, "", ToolError("top", view_.problem)};
    }
    // A terminal shows the states of the models at once.
    if (live && !Show(screen)) return {};
    for (uint64_t frame = 0; plan_.frames == 0 || frame < plan_.frames; ++frame) {
      if (!screen.Wait(std::chrono::milliseconds(plan_.interval_ms), context_)) break;
      Update();
      if (!Show(screen)) break;
    }
    if (plan_.once && !view_.problem.empty()) {
      return {kCannotRun, std::move(kept_), ToolError("top", view_.problem)};
    }
    return {0, std::move(kept_), ""};
  }

 private:
  /// Asks for a new sample; keeps the rows of the last one if the server does not answer.
  void Update() {
    auto sample = Look(server_, *context_.clock);
    view_.problem = sample.ok() ? "" : sample.status().message();
    if (!sample.ok()) return;
    rows_ = TopRows(last_, *sample);
    view_.seconds =
        last_.time_ns == 0 ? 0 : static_cast<double>(sample->time_ns - last_.time_ns) / 1e9;
    last_ = std::move(*sample);
  }

  bool Show(const Screen& screen) {
    screen.SetSize(&view_);
    const std::string text = plan_.json ? TopJson(rows_) : TopText(rows_, view_);
    return Print(screen.is_shown() ? OnScreen(text) : plan_.json ? text : text + "\n");
  }

  bool Print(const std::string& text) {
    if (context_.print) return context_.print(text);
    kept_ += text;
    return true;
  }

  RemoteServer& server_;
  const Plan plan_;
  const ToolContext& context_;
  TopView view_;
  TopSample last_;
  std::vector<TopRow> rows_;
  std::string kept_;
};

}  // namespace

ToolResult RunTop(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("top", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto plan = ParsePlan(*arguments);
  if (!plan.ok()) return CannotRun("top", plan.status().message());
  const auto server = RemoteServer::Open(*arguments, context);
  if (!server.ok()) return CannotRun("top", server.status().message());
  return Top(**server, *plan, context).Run();
}

}  // namespace nereid::app::tools
