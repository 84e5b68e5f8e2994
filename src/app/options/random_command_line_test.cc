// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "app/options/command_line.h"
#include "app/options/flag_table.h"

namespace nereid::app {
namespace {

// Random arguments: flags, their abbreviations, typical values, and noise.
class Arguments {
 public:
  explicit Arguments(uint32_t seed) : random_(seed) {}

  std::vector<std::string> Make() {
    const bool as_triton = Below(2) != 0;
    std::vector<std::string> made;
    made.emplace_back(as_triton ? "tritonserver" : "nereid");
    if (!as_triton && Below(10) != 0) made.emplace_back("serve");
    for (size_t i = Below(6); i > 0; --i) {
      std::string word = Flag();
      if (Below(3) != 0) word.append("=").append(Value());
      made.push_back(std::move(word));
      if (Below(4) == 0) made.push_back(Value());
    }
    return made;
  }

 private:
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  std::string Noise() {
    std::string noise;
    for (size_t i = Below(12); i > 0; --i) noise += static_cast<char>(Below(256));
    return noise;
  }

  std::string Flag() {
    if (Below(12) == 0) return Noise();
    const FlagSpec& flag = AllFlags()[Below(AllFlags().size())];
    std::string word = "--";
    word.append(flag.name);
    if (Below(8) == 0) word.resize(2 + Below(flag.name.size() + 1));
    if (Below(12) == 0) word[Below(word.size())] = static_cast<char>(Below(256));
    return word;
  }

  std::string Value() {
    static constexpr const char* kPieces[] = {"0",
                                              "1",
                                              "-1",
                                              "true",
                                              "9999999999999999999999",
                                              "1e308",
                                              "nan",
                                              ":",
                                              ",",
                                              "=",
                                              "-",
                                              "--",
                                              "local",
                                              "triton",
                                              "opentelemetry",
                                              "level",
                                              "rate",
                                              "file",
                                              "resource",
                                              "health",
                                              "size",
                                              "cpu",
                                              "cpu-cores",
                                              "numa-node",
                                              "*",
                                              "poll",
                                              "explicit",
                                              "summary_quantiles",
                                              "0.5"};
    std::string value;
    for (size_t i = 1 + Below(6); i > 0; --i) {
      value += Below(10) == 0 ? Noise() : kPieces[Below(std::size(kPieces))];
    }
    return value;
  }

  std::mt19937 random_;
};

TEST(RandomCommandLineTest, EveryLineIsAcceptedOrRefusedInOneLine) {
  Arguments arguments(20240611);
  size_t served = 0;
  size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> line = arguments.Make();
    if (round % 2 == 0) line.push_back("--model-store=/m");
    const auto parsed = ParseCommandLine(line, {});
    if (parsed.ok()) {
      const ServerOptions& options = parsed->options;
      if (parsed->action != ParsedCommandLine::Action::kServe) continue;
      ++served;
      EXPECT_FALSE(options.repository.paths.empty());
      EXPECT_TRUE(options.http.port >= 0 && options.http.port <= 65535);
      EXPECT_GE(options.http.max_input_size, 1);
      EXPECT_GE(options.repository.load_thread_count, 1);
      EXPECT_GE(options.metrics.interval_ms, 1);
      continue;
    }
    ++refused;
    const std::string& message = parsed.status().message();
    EXPECT_FALSE(message.empty());
    EXPECT_TRUE(std::none_of(message.begin(), message.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20;
    })) << message;
  }
  EXPECT_GT(served, 500u);
  EXPECT_GT(refused, 5000u);
}

// Every flag with every kind of plain value: its reader must accept the value or return a reason.
TEST(RandomCommandLineTest, EveryFlagHandlesEveryValue) {
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.value_form.empty()) continue;
    const std::string name(flag.name);
    for (const char* value :
         {"", "0", "1", "-1", "x", "true", "a=b", "a,b=c", "a:b=c", "1:2", "1-2", "a:1:1", "=", ",",
          ":", ",=", ":=", "-", "99999999999999999999"}) {
      const auto parsed =
          ParseCommandLine({"tritonserver", "--model-store=/m", "--" + name, value}, {});
      if (parsed.ok()) continue;
      EXPECT_GT(parsed.status().message().size(), 20u) << flag.name << " " << value;
    }
  }
}

}  // namespace
}  // namespace nereid::app
