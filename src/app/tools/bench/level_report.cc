// SPDX-License-Identifier: Apache-2.0
#include "app/tools/bench/level_report.h"

#include <cmath>
#include <cstdio>

#include "app/tools/remote/terminal_text.h"
#include "app/tools/report_text.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr double kPercentiles[] = {50, 90, 95, 99};

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string Cell(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

double QuantileMs(const LevelResult& result, double percent) {
  return static_cast<double>(result.total.latencies.Quantile(percent / 100)) / 1e6;
}

double InferencesPerSecond(const LevelResult& result) {
  if (result.total.seconds == 0) return 0;
  return result.total.Throughput() * static_cast<double>(result.batch);
}

std::string LevelText(const LevelResult& result) {
  return Fixed(result.level, result.level == std::floor(result.level) ? 0 : 2);
}

}  // namespace

std::string LevelHead(bool is_rate) {
  std::string line = Cell(is_rate ? "RATE" : "CONCURRENCY", 11) + Cell("INFER/S", 12);
  for (const char* name : {"MEAN", "P50", "P90", "P95", "P99", "MAX", "QUEUE", "COMPUTE"}) {
    line += Cell(name, 10);
  }
  return line + Cell("BATCH", 8) + Cell("ERRORS", 8) + "\n";
}

std::string LevelLine(const LevelResult& result) {
  std::string line = Cell(LevelText(result), 11) + Cell(Fixed(InferencesPerSecond(result), 1), 12) +
                     Cell(Fixed(result.total.latencies.Mean() / 1e6, 3), 10);
  for (const double percent : kPercentiles) line += Cell(Fixed(QuantileMs(result, percent), 3), 10);
  line += Cell(Fixed(QuantileMs(result, 100), 3), 10);
  if (const auto times = TimesOf(result)) {
    const double compute_us = times->input_us + times->infer_us + times->output_us;
    line += Cell(Fixed(times->queue_us / 1e3, 3), 10) + Cell(Fixed(compute_us / 1e3, 3), 10) +
            Cell(Fixed(times->batch, 2), 8);
  } else {
    line += Cell("-", 10) + Cell("-", 10) + Cell("-", 8);
  }
  line += Cell(std::to_string(result.total.errors), 8);
  if (!result.is_stable) line += "  not stable";
  if (result.most_late > 0) line += "  up to " + std::to_string(result.most_late) + " late";
  return line + "\n";
}

std::string LevelsJson(const std::vector<LevelResult>& results, const std::string& model,
                       const std::string& url) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject();
  WriteMember("model", model, &json);
  WriteMember("url", url, &json);
  json.Key("levels").BeginArray();
  for (const LevelResult& result : results) {
    json.NewLine().BeginObject().Key(result.is_rate ? "request_rate" : "concurrency");
    json.Raw(LevelText(result)).Key("stable").Bool(result.is_stable);
    json.Key("windows").Integer(result.windows);
    json.Key("seconds").Raw(Fixed(result.total.seconds, 3));
    json.Key("requests").Integer(result.total.answers).Key("errors").Integer(result.total.errors);
    WriteMember("first_error", result.first_error, &json);
    json.Key("inferences_per_second").Raw(Fixed(InferencesPerSecond(result), 2));
    json.Key("latency_ms").BeginObject();
    json.Key("mean").Raw(Fixed(result.total.latencies.Mean() / 1e6, 6));
    for (const double percent : kPercentiles) {
      json.Key("p" + Fixed(percent, 0)).Raw(Fixed(QuantileMs(result, percent), 6));
    }
    json.Key("max").Raw(Fixed(QuantileMs(result, 100), 6)).EndObject();
    json.Key("client_cpu_us").Raw(Fixed(result.client_cpu_us, 3));
    if (result.is_rate) json.Key("most_late").Integer(result.most_late);
    json.Key("server");
    if (const auto times = TimesOf(result)) {
      json.BeginObject().Key("requests").Integer(result.server->success.count);
      json.Key("failed").Integer(result.server->fail.count);
      json.Key("executions").Integer(result.server->executions);
      json.Key("mean_batch").Raw(Fixed(times->batch, 3));
      json.Key("cache_hits").Integer(result.server->cache_hit.count);
      json.Key("queue_us").Raw(Fixed(times->queue_us, 3));
      json.Key("compute_input_us").Raw(Fixed(times->input_us, 3));
      json.Key("compute_infer_us").Raw(Fixed(times->infer_us, 3));
      json.Key("compute_output_us").Raw(Fixed(times->output_us, 3)).EndObject();
    } else {
      json.Null();
    }
    json.EndObject();
  }
  json.NewLine().EndArray().EndObject();
  return text + "\n";
}

}  // namespace nereid::app::tools
