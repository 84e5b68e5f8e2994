// SPDX-License-Identifier: Apache-2.0
#include "config/text/read_text.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "config/parse/parse.h"
#include "config/testing/testdata.h"
#include "config/text/fields.h"
#include "config/text/outline.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using testing::ElementsAre;

// "line:column field rule message | expected | remedy"
std::vector<std::string> Problems(const std::string& text, size_t max_problems = 100) {
  std::vector<std::string> lines;
  for (const TextProblem& problem : ReadModelConfigText(text, max_problems).problems) {
    lines.push_back(std::to_string(problem.position.line) + ":" +
                    std::to_string(problem.position.column) + " " + problem.field + " " +
                    std::string(problem.rule) + " " + problem.message + " | " + problem.expected +
                    " | " + problem.remedy);
  }
  return lines;
}

TEST(ReadText, FindsEveryErrorAndReadsTheRest) {
  const std::string text = R"(name: "m"
inputs [ ]
max_batch_size: 99999999999
input [
  { name: "a" data_type: TYPE_FLOAT dims: [ 1, x ] },
  { name: "b" data_type: TYPE_FP23 dims: [ 2 ] optinal: true }
]
output { name: 5 dims: 7 dims: [ 8 ] is_shape_tensor: maybe }
dynamic_batching { } sequence_batching { }
name: "n"
parameters { key: "k" value { string: "v" } }
)";
  EXPECT_THAT(
      Problems(text),
      ElementsAre(
          "2:1 inputs text.unknown_field unknown field 'inputs' | a field of ModelConfig | Write "
          "'input'.",
          "3:17 max_batch_size text.value bad value of 'max_batch_size': Integer out of range "
          "(99999999999) | a whole number from -2147483648 to 2147483647 | Write a number in this "
          "range.",
          "5:26 input[0].data_type text.enum_value unknown value 'TYPE_FLOAT' of 'data_type' | one "
          "of TYPE_BOOL, TYPE_UINT8, TYPE_UINT16, TYPE_UINT32, TYPE_UINT64, "
          "TYPE_INT8, TYPE_INT16, TYPE_INT32, TYPE_INT64, TYPE_FP16, TYPE_FP32, TYPE_FP64, "
          "TYPE_STRING, TYPE_BF16 | Write TYPE_FP32.",
          "5:48 input[0].dims text.value bad value of 'dims': Expected integer, got: x | a whole "
          "number from -9223372036854775808 to 9223372036854775807 | Write such a value.",
          testing::StartsWith("6:26 input[1].data_type text.enum_value unknown value 'TYPE_FP23'"),
          "6:48 input[1].optinal text.unknown_field unknown field 'optinal' | a field of "
          "ModelInput | Write 'optional'.",
          "8:16 output[0].name text.value bad value of 'name': Expected string, got: 5 | a text in "
          "quotes | Write \"5\" in quotes.",
          "8:55 output[0].is_shape_tensor text.value bad value of 'is_shape_tensor': Invalid value "
          "for boolean field \"is_shape_tensor\". Value: \"maybe\". | true or false | Write such a "
          "value.",
          "9:22 sequence_batching text.one_choice 'sequence_batching' is given along with "
          "'dynamic_batching' | one of the two | Remove one of them.",
          "10:1 name text.given_twice 'name' is given twice | 'name' once | Remove one of them.",
          "11:31 parameters[k].string text.unknown_field unknown field 'string' | a field of "
          "ModelParameter | Write 'string_value'."));
  const TextReading reading = ReadModelConfigText(text, 100);
  ASSERT_NE(reading.config, nullptr);
  EXPECT_EQ(reading.config->name(), "m");
  ASSERT_EQ(reading.config->inputs().size(), 2u);
  EXPECT_EQ(reading.config->inputs()[1].dims, tensor::Shape{2});
  EXPECT_EQ(reading.config->outputs().at(0).dims, (tensor::Shape{7, 8}));
  EXPECT_EQ(reading.unread.size(), 11u);
  EXPECT_EQ(Problems(text, 3).size(), 3u);
}

TEST(ReadText, StopsWhereTheStructureIsLost) {
  EXPECT_THAT(Problems("name: \"m\"\ninput {\n  name: \"a\"\n"),
              ElementsAre("4:1  text.syntax the text ends within a field |  | Close the braces and "
                          "quotes of 'input' in line 2. What follows was not looked at."));
  EXPECT_THAT(Problems("input [ { name: \"a\" ] output { }"),
              ElementsAre("1:21  text.syntax Expected identifier, got: ] |  | Close the braces and "
                          "quotes of 'input' in line 1. What follows was not looked at."));
  EXPECT_THAT(
      Problems("input [ { dims: [ 1 }]"),
      ElementsAre("1:21  text.syntax Expected \",\", found \"}\". |  | Close the braces and "
                  "quotes of 'dims' in line 1. What follows was not looked at."));
  EXPECT_THAT(Problems("input [ { name: \"a\" }"),
              ElementsAre(testing::HasSubstr("Close the braces and quotes of 'input' in line 1.")));
  EXPECT_EQ(ReadModelConfigText("input {", 10).config, nullptr);
}

TEST(ReadText, GoesOnBehindAMissingColonOrComma) {
  EXPECT_THAT(Problems("name \"m\"\nmax_batch_size: 1\nunknown: 2"),
              ElementsAre("1:6 name text.value bad value of 'name': Expected \":\", found "
                          "\"\"m\"\". | a text in quotes | Write ':' behind 'name'.",
                          testing::StartsWith("3:1 unknown text.unknown_field")));
  EXPECT_THAT(Problems("input [ { name: \"a\" }\noutput [ { name: \"b\" } ]\nunknown: 2"),
              ElementsAre("1:7 input text.syntax the list does not end before 'output' | a ']' | "
                          "Write a ']' before 'output' in line 2.",
                          testing::StartsWith("3:1 unknown text.unknown_field")));
  EXPECT_THAT(Problems("input { dims: [ 1 2 ] }"),
              ElementsAre("1:19 input[0].dims text.syntax there is no ',' between two elements of "
                          "the list | a ',' | Write a ',' before this element."));
}

std::vector<std::string> Remedies(const std::string& text) {
  std::vector<std::string> lines;
  for (const TextProblem& problem : ReadModelConfigText(text, 100).problems) {
    lines.push_back(std::to_string(problem.position.line) + " " + problem.field + ": " +
                    problem.message + " | " + problem.remedy);
  }
  return lines;
}

// One placeholder does not hide the others, nor other errors.
TEST(ReadText, NamesEveryPlaceholder) {
  const std::string text = R"(name: "m"
max_batch_size: ${batch}
dynamic_batching { preferred_batch_size: [ 1, {{ size }} ] max_queue_delay_microseconds: $DELAY }
{% if gpu %}
instance_group [ { count: @COUNT@ kind: <kind> } ]
{% endif %}
input [ ${inputs} ]
output {{ output }}
platform: {platform}
backend: %(backend)s
inputs: 1
...
)";
  std::vector<std::string> placeholders;
  const TextReading reading = ReadModelConfigText(text, 100);
  for (const TextProblem& problem : reading.problems) {
    if (problem.rule == "text.placeholder") placeholders.push_back(problem.field);
  }
  EXPECT_THAT(placeholders, ElementsAre("max_batch_size", "dynamic_batching.preferred_batch_size",
                                        "dynamic_batching.max_queue_delay_microseconds", "",
                                        "instance_group[0].count", "instance_group[0].kind", "",
                                        "input", "output", "platform", "backend", ""));
  EXPECT_EQ(reading.problems.size(), 13u);
  EXPECT_EQ(reading.problems[0].expected, "a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(reading.problems[0].message, "the placeholder '${batch}' is not filled in");
  EXPECT_EQ(reading.problems[0].remedy,
            "The file is a template that was not filled in: write the value in place of ${batch}, "
            "or run the tool that fills it in.");
  EXPECT_EQ(reading.config->name(), "m");
  // Python's str.format doubles the braces that stay.
  EXPECT_THAT(Remedies("input [ {{ name: \"x\" dims: [ {dims} ] }} ] dynamic_batching {{ }}"),
              ElementsAre(testing::StartsWith("1 input: the braces are doubled"),
                          testing::StartsWith("1 input[0].dims: the placeholder '{dims}'")));
  EXPECT_THAT(
      Remedies("{% if gpu %}\nname: \"m\""),
      ElementsAre(testing::EndsWith("run the tool that fills it in, or remove {% if gpu %}.")));
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "${" + std::string(100, '(') + "\n";
  EXPECT_FALSE(Problems(many).empty());
}

TEST(ReadText, RepairsWhatEditorsAndPeopleWrite) {
  const TextReading reading = ReadModelConfigText(
      "name: “m”\nplatform: \"p”\nbackend: ‘b’\n"
      "max_batch_size:\xC2\xA0"
      "8\n"
      "input [ { name: \"x\", dims: [ 1,, 2, ] }, ]\n,\n"
      "output [ name: \"y\" dims: [ 3 4 ] ]\n\"runtime\": \"r\"\n}\n// end\n",
      100);
  ASSERT_NE(reading.config, nullptr);
  EXPECT_EQ(reading.config->name(), "m");
  EXPECT_EQ(reading.config->platform(), "p");
  EXPECT_EQ(reading.config->backend(), "b");
  EXPECT_EQ(reading.config->max_batch_size(), 8);
  EXPECT_EQ(reading.config->proto().runtime(), "r");
  EXPECT_EQ(reading.config->inputs().at(0).dims, (tensor::Shape{1, 2}));
  EXPECT_EQ(reading.config->outputs().at(0).dims, (tensor::Shape{3, 4}));
  EXPECT_TRUE(reading.unread.empty());
  // Four of quotes and blanks, four of commas, braces of a list, a comma, a name, a brace, a
  // comment.
  EXPECT_EQ(reading.problems.size(), 12u);
}

TEST(ReadText, SaysWhatToWrite) {
  using testing::EndsWith;
  EXPECT_THAT(Remedies("max_batch_size:\nname: \"m\"\nplatform: }"),
              ElementsAre("1 max_batch_size: the value of 'max_batch_size' is missing | Write the "
                          "value behind the colon, or remove 'max_batch_size'.",
                          testing::StartsWith("3 platform: the value of 'platform' is missing"),
                          testing::StartsWith("3 : no bracket is open")));
  EXPECT_THAT(Remedies("name: resnet-50\nmax_batch_size = 8\n"
                       "input { dims: 1, 2 data_type: \"TYPE_FP32\" }\n"
                       "backend: /models/b.so\nruntime: [ \"r\" ]"),
              ElementsAre(EndsWith("| Write \"resnet-50\" in quotes."),
                          EndsWith("| Write ':' in place of '='."),
                          EndsWith("| Write the list in brackets: dims: [ ... ]."),
                          EndsWith("| Write TYPE_FP32 without quotes."),
                          EndsWith("| Write \"/models/b.so\" in quotes."),
                          EndsWith("| Write one value, without brackets.")));
  EXPECT_THAT(Remedies("name: \"m\nbackend: \"b\""),
              ElementsAre(EndsWith("| Close it with \" on this line; write a line break in it as "
                                   "\\n.")));
  EXPECT_THAT(Remedies("{ \"name\": \"m\" }"),
              ElementsAre(testing::HasSubstr("as JSON does | Remove the outer braces")));
}

TEST(ReadText, LooksForUnknownNamesInTheWholeConfiguration) {
  const auto remedy = [](const std::string& text) {
    const auto problems = ReadModelConfigText(text, 100).problems;
    return problems.size() == 1 ? problems[0].remedy : "?";
  };
  EXPECT_EQ(remedy("preferred_batch_size: 4"), "Move it into dynamic_batching { }.");
  EXPECT_EQ(remedy("decoupled: true"), "Move it into model_transaction_policy { }.");
  EXPECT_EQ(remedy("dims: 4"), "Move it into input { } or output { }.");
  EXPECT_EQ(remedy("sequence_batching { max_queue_delay_microseconds: 4 }"),
            "Move it into direct { } or oldest { }.");
  EXPECT_EQ(remedy("input { max_batch_size: 4 }"),
            "Move it into the configuration itself, outside of other fields.");
  EXPECT_EQ(remedy("maxBatchSize: 4"), "Write 'max_batch_size'.");
  EXPECT_EQ(remedy("max-batch-size: 4"), "Write 'max_batch_size'.");
  EXPECT_EQ(remedy("inputs { }"), "Write 'input'.");
  EXPECT_EQ(remedy("input { shape: [ 3 ] }"), "Write 'dims'.");
  EXPECT_EQ(remedy("instance_group { cpus: 4 }"), "");
  EXPECT_EQ(remedy("instance_group { gpu: 0 }"), "Write 'gpus'.");
  EXPECT_EQ(remedy("zzz: 4"), "");
  EXPECT_EQ(remedy("parameters { name: \"k\" }"), "");
}

TEST(ReadText, ReadsWhatIsRight) {
  const TextReading reading = ReadModelConfigText("name: \"m\" # comment\n", 10);
  EXPECT_TRUE(reading.problems.empty());
  EXPECT_TRUE(reading.blanked.empty());
  EXPECT_EQ(reading.config->name(), "m");
}

TEST(ReadText, NamesBytesThatAreNoText) {
  EXPECT_THAT(Problems("\xEF\xBB\xBFname: \"m\"\nfoo: 1"),
              ElementsAre("1:1  text.byte_order_mark the text begins with a byte order mark | none "
                          "| Save the file as UTF-8 without a byte order mark.",
                          testing::StartsWith("2:1 foo text.unknown_field")));
  EXPECT_THAT(Problems("platform: \"\\377\"\nname: \"\xff\" backend: \"b\""),
              ElementsAre(testing::StartsWith("1:11 platform text.utf8"),
                          testing::StartsWith("2:7 name text.utf8")));
  EXPECT_FALSE(Problems(std::string("name: \"m\"\0\x01", 11)).empty());
  EXPECT_FALSE(Problems(std::string(100, '\0')).empty());
  EXPECT_FALSE(Problems("name: \"m").empty());
  EXPECT_THAT(Problems(std::string(33 << 20, ' ')), ElementsAre(testing::HasSubstr("text.size")));
}

TEST(ReadText, CountsBytesNotTabStops) {
  EXPECT_THAT(Problems("\t\tfoo: 1"), ElementsAre(testing::StartsWith("1:3 foo ")));
  EXPECT_THAT(Problems("name: \"\xC3\xA4\xC3\xB6\"; foo: 1\r\n\r\nbar: 2"),
              ElementsAre(testing::StartsWith("1:15 foo "), testing::StartsWith("3:1 bar ")));
}

TEST(ReadText, SurvivesHostileTexts) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "input { ";
  EXPECT_FALSE(Problems(deep).empty());
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "foo" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(Problems(many).size(), 100u);
  EXPECT_FALSE(Problems(std::string(1000, '[')).empty());
  EXPECT_FALSE(Problems("input: [ [ [ 1 ] ] ]").empty());
  EXPECT_FALSE(Problems("input: 5 input: { name: \"a\" }").empty());
}

Locations LocationsOf(const std::string& text) {
  return Locations::Of(ReadOutline(text, TextLines(text)));
}

TEST(Locations, KnowFieldsElementsAndKeys) {
  const Locations locations = LocationsOf(R"(name: "m"
input [ { name: "a" dims: [ 3,
                            -1 ] },
        { name: "b" dims: 1 dims: 2 } ]
input { name: "c" reshape { shape: [ ] } }
parameters [ { key: "x" value: { string_value: "1" } }, { key: "y" value { string_value: "2" } } ]
dynamic_batching { priority_queue_policy { key: 2 value { max_queue_size: 5 } } }
parameters { key: "x" value { } }
)");
  const auto at = [&](std::string_view path) {
    const TextPosition* position = locations.Find(path);
    return position == nullptr ? TextPosition{} : *position;
  };
  EXPECT_EQ(at("name"), (TextPosition{1, 1}));
  EXPECT_EQ(at("input"), (TextPosition{2, 1}));
  EXPECT_EQ(at("input[0]"), (TextPosition{2, 9}));
  EXPECT_EQ(at("input[0].dims"), (TextPosition{2, 21}));
  EXPECT_EQ(at("input[0].dims[1]"), (TextPosition{3, 29}));
  EXPECT_EQ(at("input[1].dims[1]"), (TextPosition{4, 35}));
  EXPECT_EQ(at("input[2]"), (TextPosition{5, 1}));
  EXPECT_EQ(at("input[2].reshape.shape"), (TextPosition{5, 29}));
  EXPECT_EQ(at("parameters[y]"), (TextPosition{6, 57}));
  EXPECT_EQ(at("parameters[x].string_value"), (TextPosition{6, 34}));
  EXPECT_EQ(at("dynamic_batching.priority_queue_policy[2].max_queue_size"), (TextPosition{7, 59}));
  EXPECT_EQ(at("output"), TextPosition{});
  EXPECT_EQ(locations.Nearest("input[1].data_type"), (TextPosition{4, 9}));
  EXPECT_EQ(locations.Nearest("parameters[no such].string_value"), (TextPosition{6, 1}));
  EXPECT_EQ(locations.Nearest("output[0].dims"), (TextPosition{1, 1}));
  ASSERT_EQ(locations.repeated_keys().size(), 1u);
  EXPECT_EQ(locations.repeated_keys()[0].first, "parameters[x]");
  EXPECT_EQ(locations.repeated_keys()[0].second, (TextPosition{8, 1}));
}

// Every place that protobuf records of the full example is known here, too.
TEST(Locations, AgreeWithProtobuf) {
  const auto text = base::ReadFile(TestData("described/full/config.pbtxt"));
  ASSERT_TRUE(text.ok());
  google::protobuf::TextFormat::ParseInfoTree tree;
  google::protobuf::TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  inference::ModelConfig proto;
  ASSERT_TRUE(parser.ParseFromString(*text, &proto));
  const Locations locations = LocationsOf(*text);
  const auto* type = inference::ModelConfig::descriptor();
  int compared = 0;
  for (int i = 0; i < type->field_count(); ++i) {
    const auto* field = type->field(i);
    const auto recorded = tree.GetLocation(field, field->is_repeated() ? 0 : -1);
    const TextPosition* known = locations.Find(field->name());
    ASSERT_EQ(recorded.line >= 0, known != nullptr) << field->name();
    if (known == nullptr) continue;
    EXPECT_EQ(known->line, recorded.line + 1) << field->name();
    EXPECT_EQ(known->column, recorded.column + 1) << field->name();
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace nereid::config
