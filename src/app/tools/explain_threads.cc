// SPDX-License-Identifier: Apache-2.0
#include "app/tools/explain_threads.h"

#include <map>
#include <string>

#include "app/tools/remote/terminal_text.h"
#include "curl/http_client.h"

namespace nereid::app::tools {

using base::Status;

namespace {

constexpr size_t kMaxPageBytes = size_t{64} << 20;

/// The value of a label in the labels of a sample; empty if there is none. Values with quotes do
/// not occur in those that are asked for.
std::string_view LabelOf(std::string_view labels, const std::string& name) {
  const std::string key = name + "=\"";
  size_t begin = labels.find(key);
  while (begin != labels.npos && begin > 0 && labels[begin - 1] != ',' &&
         labels[begin - 1] != '{') {
    begin = labels.find(key, begin + 1);
  }
  if (begin == labels.npos) return {};
  begin += key.size();
  const size_t end = labels.find('"', begin);
  return end == labels.npos ? std::string_view() : labels.substr(begin, end - begin);
}

std::string_view Meaning(std::string_view reason) {
  struct Text {
    std::string_view reason, meaning;
  };
  constexpr Text kTexts[] = {
      {"idle", "CPUs are idle, and this number is the fastest"},
      {"shared", "other executions use the other CPUs"},
      {"no_gain", "CPUs are idle, but more threads are not faster"},
      {"short", "executions are too short for several threads"},
      {"measuring", "the duration with this number of threads is being measured"},
      {"fixed", "set by a parameter, or by a backend whose number of threads is fixed"},
  };
  for (const Text& text : kTexts) {
    if (text.reason == reason) return text.meaning;
  }
  return "for a reason that this program does not know";
}

struct Version {
  std::string last;                                        // the sentence about the last decision
  std::map<std::string, std::string, std::less<>> counts;  // by threads
  std::map<std::string, std::string, std::less<>> means;
};

void ReadLine(std::string_view line, std::string_view model,
              std::map<std::string, Version, std::less<>>& versions) {
  const size_t brace = line.find('{');
  const size_t end = line.rfind("} ");
  if (!line.starts_with("nereid_cpu_threads") || brace == line.npos || end == line.npos) return;
  const std::string_view labels = line.substr(brace, end - brace);
  if (LabelOf(labels, "model") != model) return;
  const std::string_view name = line.substr(0, brace);
  const std::string value = TerminalText(line.substr(end + 2));
  const std::string threads = TerminalText(LabelOf(labels, "threads"));
  Version& version = versions[TerminalText(LabelOf(labels, "version"))];
  if (name == "nereid_cpu_threads") {
    version.last = value + (value == "1" ? " thread: " : " threads: ") +
                   std::string(Meaning(LabelOf(labels, "reason")));
  } else if (name == "nereid_cpu_threads_decisions_total") {
    version.counts[threads] = value;
  } else if (name == "nereid_cpu_threads_execution_us") {
    version.means[threads] = value == "0" ? "unknown" : value + " us";
  }
}

}  // namespace

std::string ThreadsText(std::string_view page, std::string_view model) {
  std::map<std::string, Version, std::less<>> versions;
  while (!page.empty()) {
    const size_t newline = page.find('\n');
    ReadLine(page.substr(0, newline), model, versions);
    page.remove_prefix(newline == page.npos ? page.size() : newline + 1);
  }
  if (versions.empty()) {
    return "The server has no CPU plan for model '" + TerminalText(model) +
           "': it is not loaded, runs on GPUs, or --cpu-plan is off\n";
  }
  std::string text;
  for (const auto& [number, version] : versions) {
    text += "Version " + number + ": the last execution that was decided about had " +
            version.last + "\n";
    for (const auto& [threads, count] : version.counts) {
      const auto mean = version.means.find(threads);
      text += "  " + threads + (threads == "1" ? " thread" : " threads") + ": decided " + count +
              " times, mean duration " + (mean == version.means.end() ? "unknown" : mean->second) +
              "\n";
    }
  }
  return text;
}

base::Result<std::string> FetchThreadsText(const ToolContext& context, const std::string& url,
                                           std::string_view model) {
  if (!context.make_client) return Status::Unsupported("this program has no HTTP client");
  NEREID_ASSIGN_OR_RETURN(const auto client, context.make_client(""));
  curl::HttpRequest request;
  request.url = url;
  request.max_body = kMaxPageBytes;
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, client->Send(request));
  if (response.status != 200) {
    return Status::Unavailable(
        url + " answers with status " + std::to_string(response.status) +
        "; expected the metrics page, such as http://localhost:8002/metrics");
  }
  return ThreadsText(response.body, model);
}

}  // namespace nereid::app::tools
