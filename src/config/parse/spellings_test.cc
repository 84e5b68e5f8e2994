// SPDX-License-Identifier: Apache-2.0
// The spellings that the two forms of a configuration allow, and bytes that are neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "config/describe/describe.h"
#include "config/parse/parse.h"
#include "config/text/read_text.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

constexpr char kPlain[] = R"(
name: "m"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: 3 dims: -1 }
parameters { key: "k" value { string_value: "ab" } }
sequence_batching { direct { minimum_slot_utilization: 0.5 } }
)";

std::string JsonOfText(const std::string& text) {
  const auto config = ParseModelConfigText(text, "config.pbtxt");
  EXPECT_TRUE(config.ok()) << config.status().message() << "\n" << text;
  EXPECT_TRUE(ReadModelConfigText(text, 10).problems.empty()) << text;
  return config.ok() ? DescribeModelConfigJson(**config) : "";
}

std::string JsonOfJson(const std::string& json) {
  const auto config = ParseModelConfigJson(json);
  EXPECT_TRUE(config.ok()) << config.status().message() << "\n" << json;
  return config.ok() ? DescribeModelConfigJson(**config) : "";
}

TEST(TextSpellings, MeanTheSame) {
  const std::string plain = JsonOfText(kPlain);
  for (const std::string text : {
           // Angle brackets, colons before messages, separators.
           "name: \"m\"; max_batch_size: 8, input: < name: \"x\"; data_type: TYPE_FP32, dims: 3 "
           "dims: -1 > parameters: { key: \"k\" value: < string_value: \"ab\" > } "
           "sequence_batching: { direct: { minimum_slot_utilization: 0.5 } };",
           // Lists of scalars and of messages, comments, quotes, adjacent strings.
           "# a comment\nname: 'm' # another\nmax_batch_size: 8\ninput [ { name: \"x\" data_type: "
           "TYPE_FP32 dims: [ 3, -1 ] } ]\nparameters [ { key: 'k' value { string_value: 'a' "
           "\"b\" } } ]\nsequence_batching { direct { minimum_slot_utilization: 5e-1 } }",
           // Octal, hexadecimal, escapes, floats with f, no white space, enum by number.
           "name:\"\\x6d\"max_batch_size:010 input{name:\"\\170\"data_type:11 dims:0x3 dims:-1}"
           "parameters{key:\"k\"value{string_value:\"a\\142\"}}"
           "sequence_batching{direct{minimum_slot_utilization:0.5f}}",
           // Carriage returns, tabs, form feeds.
           "name: \"m\"\r\nmax_batch_size:\t8\r\n\f\vinput { name: \"x\"\r data_type: TYPE_FP32 "
           "dims: [ 3, -1 ] }\r\nparameters { key: \"k\" value { string_value: \"ab\" } }\r\n"
           "sequence_batching { direct { minimum_slot_utilization: 0.5 } }\r\n",
       }) {
    EXPECT_EQ(JsonOfText(text), plain) << text;
  }
}

TEST(TextSpellings, KnowInfinitiesAndBools) {
  EXPECT_THAT(JsonOfText("model_metrics { metric_control { histogram_options { buckets: [ inf, "
                         "-inf, nan, 1e3 ] } } }"),
              testing::HasSubstr("[\"Infinity\",\"-Infinity\",\"NaN\",1000]"));
  for (const char* yes : {"true", "True", "t", "1"}) {
    EXPECT_THAT(JsonOfText(std::string("response_cache { enable: ") + yes + " }"),
                testing::HasSubstr("\"enable\":true"));
  }
}

TEST(JsonSpellings, MeanTheSame) {
  const std::string plain = JsonOfText(kPlain);
  for (const std::string json : {
           R"({"name":"m","max_batch_size":8,"input":[{"name":"x","data_type":"TYPE_FP32",
              "dims":[3,-1]}],"parameters":{"k":{"string_value":"ab"}},
              "sequence_batching":{"direct":{"minimum_slot_utilization":0.5}}})",
           R"( {"maxBatchSize":"8","name":"\u006d","input":[{"dataType":"type_fp32","name":"x",
              "dims":["3","-1"],"reshape":null}],"parameters":{"k":{"stringValue":"ab"}},
              "sequenceBatching":{"direct":{"minimumSlotUtilization":"0.5"}},"output":[]} )",
           R"({"name":"m","max_batch_size":8.0,"input":[{"name":"x","data_type":11,
              "dims":[3e0,-1]}],"parameters":{"k":{"string_value":"ab"}},
              "sequence_batching":{"direct":{"minimum_slot_utilization":5E-1}}})",
       }) {
    EXPECT_EQ(JsonOfJson(json), plain) << json;
  }
  EXPECT_EQ(JsonOfJson(plain), plain);
}

TEST(TextSpellings, ThatAreNoneAreNamed) {
  const auto error = [](const std::string& text) {
    const auto config = ParseModelConfigText(text, "config.pbtxt");
    EXPECT_FALSE(config.ok());
    EXPECT_FALSE(ReadModelConfigText(text, 10).problems.empty());
    return config.ok() ? "" : config.status().message();
  };
  EXPECT_EQ(error("\xEF\xBB\xBFname: \"m\""),
            "failed to read text proto from config.pbtxt: the file begins with a byte order mark; "
            "save it as UTF-8 without one");
  EXPECT_THAT(error(std::string("name: \"m\"\0", 10)), testing::HasSubstr("line 1, column 10"));
  EXPECT_THAT(error("name: \"a\nb\""), testing::HasSubstr("line 1"));
  EXPECT_THAT(error("n\0a\0m\0e\0"), testing::HasSubstr("line 1"));
  EXPECT_THAT(error("max_batch_size: 1e99"), testing::HasSubstr("line 1, column 17"));
  EXPECT_THAT(error("data_type: TYPE_FP32"), testing::HasSubstr("no field named \"data_type\""));
  EXPECT_THAT(error("\n\ninput { data_type: FP32\n dims: 1 }"),
              testing::HasSubstr("line 3, column 20: Unknown enumeration value of \"FP32\" for "
                                 "field \"data_type\". Did you mean 'TYPE_FP32'?"));
  EXPECT_THAT(error("[nereid.extension]: 1"), testing::HasSubstr("nereid.extension"));
}

// A few bytes of a good text replaced or dropped, many times over: it is read, or the reason is
// told, and both readers say the same.
TEST(TextSpellings, SurviveNoise) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text = kPlain;
    const size_t count = 1 + random() % 8;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.erase(at, 1 + random() % 4);
      }
    }
    const bool good = ParseModelConfigText(text, "p").ok();
    const TextReading reading = ReadModelConfigText(text, 50);
    EXPECT_EQ(good, reading.problems.empty()) << text;
    EXPECT_TRUE(reading.config != nullptr || !reading.problems.empty());
  }
}

TEST(JsonSpellings, SurviveNoise) {
  const std::string good = JsonOfText(kPlain);
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string json = good;
    for (size_t i = 0; i < 1 + random() % 6; ++i) {
      json[random() % json.size()] = static_cast<char>(random());
    }
    const auto config = ParseModelConfigJson(json);
    if (!config.ok()) continue;
    EXPECT_TRUE(ParseModelConfigJson(DescribeModelConfigJson(**config)).ok());
  }
}

TEST(TextSpellings, MayBeLarge) {
  std::string text = "name: \"m\"\n";
  for (int i = 0; i < 100000; ++i) text += "parameters { key: \"" + std::to_string(i) + "\" }\n";
  const TextReading reading = ReadModelConfigText(text, 10);
  ASSERT_NE(reading.config, nullptr);
  EXPECT_EQ(reading.config->proto().parameters_size(), 100000);
}

}  // namespace
}  // namespace nereid::config
