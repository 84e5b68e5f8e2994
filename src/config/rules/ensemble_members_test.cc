// SPDX-License-Identifier: Apache-2.0
#include "config/rules/ensemble_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/parse/parse.h"

namespace nereid::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MembersTest : public testing::Test {
 protected:
  void Add(const std::string& name, const std::string& text, std::vector<int64_t> versions = {1}) {
    configs_[name] = Parse(name, text);
    members_[name] = {configs_[name].get(), std::move(versions), false};
  }

  static ModelConfigPtr Parse(const std::string& name, const std::string& text) {
    const auto config = ParseModelConfigText("name: \"" + name + "\" " + text, name);
    EXPECT_TRUE(config.ok()) << config.status().message();
    return *config;
  }

  FindMember Find() {
    return [this](const std::string& name) -> const EnsembleMember* {
      const auto found = members_.find(name);
      return found == members_.end() ? nullptr : &found->second;
    };
  }

  // "rule field: message (expected)"
  std::vector<std::string> Problems(const std::string& text) {
    Add("e", text);
    std::vector<std::string> lines;
    for (const Problem& problem : FindMemberProblems(*configs_["e"], Find())) {
      lines.push_back(problem.rule + " " + problem.field + ": " + problem.message + " (" +
                      problem.expected + ")");
    }
    return lines;
  }

  std::map<std::string, ModelConfigPtr> configs_;
  std::map<std::string, EnsembleMember> members_;
};

std::string Io(const std::string& input, const std::string& output) {
  return "input { name: \"X\" " + input + " } output { name: \"Y\" " + output + " } ";
}

std::string Steps(const std::string& steps) {
  return "platform: \"ensemble\" ensemble_scheduling { " + steps + " } ";
}

std::string Map(const std::string& list, const std::string& key, const std::string& tensor) {
  return list + "_map { key: \"" + key + "\" value: \"" + tensor + "\" } ";
}

std::string Step(const std::string& model, const std::string& from, const std::string& to,
                 const std::string& extra = "model_version: -1 ") {
  return "step { model_name: \"" + model + "\" " + extra + Map("input", "X", from) +
         Map("output", "Y", to) + "} ";
}

const char* const kFloat4 = "data_type: TYPE_FP32 dims: [ 4 ]";

TEST_F(MembersTest, ThatFitAreFine) {
  Add("a", "max_batch_size: 8 " + Io(kFloat4, "data_type: TYPE_INT32 dims: [ -1, 2 ]"));
  Add("b", Io("data_type: TYPE_INT32 dims: [ -1, 3, 2 ]", kFloat4), {2, 3});
  EXPECT_THAT(Problems("max_batch_size: 8 " + Io(kFloat4, "data_type: TYPE_FP32 dims: [ -1 ]") +
                       Steps(Step("a", "X", "t") + Step("b", "t", "Y", "model_version: 3 "))),
              IsEmpty());
}

TEST_F(MembersTest, AreThere) {
  Add("a", Io(kFloat4, kFloat4), {});
  Add("b", Io(kFloat4, kFloat4), {1, 2});
  EXPECT_THAT(
      Problems(Io(kFloat4, kFloat4) + Steps(Step("a", "X", "t") + Step("no", "t", "u") +
                                            Step("b", "u", "Y", "model_version: 7 "))),
      ElementsAre(
          "members.exist ensemble_scheduling.step[1].model_name: ensemble e contains models "
          "that are not available or ambiguous: no (the name of one model of the "
          "repositories)",
          "members.version ensemble_scheduling.step[0].model_name: ensemble 'e' depends on "
          "'a' which has no loaded version. (-1, or a version that the model's version "
          "policy serves)",
          "members.version ensemble_scheduling.step[2].model_version: ensemble 'e' depends "
          "on 'b' whose required version 7 is not loaded. (-1, or a version that the "
          "model's version policy serves)"));
}

TEST_F(MembersTest, TakeTheBatches) {
  Add("a", "max_batch_size: 4 " + Io(kFloat4, kFloat4));
  Add("b", Io("data_type: TYPE_FP32 dims: [ -1, 4 ]", "data_type: TYPE_FP32 dims: [ -1, 4 ]"));
  EXPECT_THAT(Problems("max_batch_size: 64 " + Io(kFloat4, kFloat4) +
                       Steps(Step("a", "X", "t") + Step("b", "t", "Y"))),
              ElementsAre("members.batch_size ensemble_scheduling.step[0].model_name: ensemble e "
                          "allows maximum batch size 64, but it contains model a which only allows "
                          "maximum batch size to be 4 (max_batch_size of the ensemble at most 4)"));
}

TEST_F(MembersTest, HaveTheNamedTensors) {
  Add("a",
      "input { name: \"P\" data_type: TYPE_FP32 dims: 4 } input { name: \"Q\" data_type: "
      "TYPE_FP32 dims: 4 optional: true } output { name: \"R\" data_type: TYPE_FP32 dims: 4 }");
  EXPECT_THAT(
      Problems(Io(kFloat4, kFloat4) + Steps(Step("a", "X", "Y"))),
      ElementsAre(
          "members.input ensemble_scheduling.step[0].input_map[X]: in ensemble e, ensemble "
          "tensor X is mapping to non-existing input X in model a (one of P, Q)",
          "members.output ensemble_scheduling.step[0].output_map[Y]: in ensemble e, "
          "ensemble tensor Y is mapped from non-existing output Y in model a (R)",
          "members.input_mapped ensemble_scheduling.step[0].input_map: in ensemble e, input "
          "P in model a is not mapped to any ensemble tensors (an entry for P)"));
  members_["a"].incomplete = true;
  EXPECT_EQ(Problems(Io(kFloat4, kFloat4) + Steps(Step("a", "X", "Y"))).size(), 1u);
}

TEST_F(MembersTest, HaveTensorsThatFit) {
  Add("a", "max_batch_size: 2 " +
               Io("data_type: TYPE_INT32 dims: [ 4 ]", "data_type: TYPE_FP32 dims: [ 5, 3 ]"));
  Add("b", Io("data_type: TYPE_FP32 dims: [ 5, 4 ]", "data_type: TYPE_FP32 dims: [ 4 ]"));
  EXPECT_THAT(
      Problems(Io(kFloat4, kFloat4) + Steps(Step("a", "X", "t") + Step("b", "t", "Y"))),
      ElementsAre("members.data_type ensemble_scheduling.step[0].input_map[X]: in ensemble e, "
                  "ensemble tensor X: inconsistent data type: TYPE_FP32 is inferred from model e "
                  "while TYPE_INT32 is inferred from model a (TYPE_FP32)",
                  "members.shape ensemble_scheduling.step[1].input_map[X]: in ensemble e, ensemble "
                  "tensor t: inconsistent shape: [-1,5,3] is inferred from model a while [5,4] is "
                  "inferred from model b ([-1,5,3])"));
}

TEST_F(MembersTest, DoNotLeadBack) {
  Add("f", Io(kFloat4, kFloat4) + Steps(Step("e", "X", "Y")));
  Add("g", Io(kFloat4, kFloat4) + Steps(Step("f", "X", "Y")));
  EXPECT_THAT(Problems(Io(kFloat4, kFloat4) + Steps(Step("f", "X", "Y"))),
              ElementsAre(testing::StartsWith("members.circle ensemble_scheduling.step: circular "
                                              "dependency between ensembles: e -> ... -> f -> e ("
                                              "members other than e, f)")));
  EXPECT_THAT(Problems(Io(kFloat4, kFloat4) + Steps(Step("e", "X", "Y"))),
              ElementsAre(testing::HasSubstr(": e -> ... -> e -> e (")));
  EXPECT_THAT(FindEnsembleCircle("g", Find()), IsEmpty());
  EXPECT_THAT(FindEnsembleCircle("no", Find()), IsEmpty());
}

TEST_F(MembersTest, DoNotMixDecoupledOrigins) {
  const std::string decoupled = "model_transaction_policy { decoupled: true } ";
  Add("a", decoupled + Io(kFloat4, kFloat4));
  Add("b", decoupled + Io(kFloat4, kFloat4));
  Add("sum",
      "input { name: \"X\" data_type: TYPE_FP32 dims: 4 } input { name: \"Z\" data_type: "
      "TYPE_FP32 dims: 4 } output { name: \"Y\" data_type: TYPE_FP32 dims: 4 }");
  const auto steps = [](const std::string& second) {
    return Io(kFloat4, kFloat4) +
           Steps(Step("sum", "t", "Y", "model_version: -1 " + Map("input", "Z", "u")) +
                 Step("a", "X", "t") + Step(second, second == "b" ? "X" : "t", "u"));
  };
  EXPECT_THAT(Problems(steps("b")),
              ElementsAre(testing::StartsWith(
                  "members.decoupled ensemble_scheduling.step[0].input_map: in ensemble e, step of "
                  "model 'sum' receives inputs originated from different decoupled models")));
  Add("c", Io(kFloat4, kFloat4));
  EXPECT_THAT(Problems(steps("c")), IsEmpty());
}

TEST_F(MembersTest, DoNotAnswerFromTwoDecoupledOrigins) {
  Add("a", "model_transaction_policy { decoupled: true } " + Io(kFloat4, kFloat4));
  Add("c", Io(kFloat4, kFloat4));
  const auto steps = [](const std::string& second) {
    return Io(kFloat4, kFloat4) + "output { name: \"Z\" data_type: TYPE_FP32 dims: 4 } " +
           Steps(Step("a", "X", "Y") + Step(second, "X", "Z"));
  };
  EXPECT_THAT(Problems(steps("a")),
              ElementsAre(testing::StartsWith(
                  "members.decoupled output: in ensemble e, step of model 'e' receives inputs "
                  "originated from different decoupled models")));
  EXPECT_THAT(Problems(steps("c")), IsEmpty());
}

TEST_F(MembersTest, DoNotCacheTheAnswersOfDecoupledMembers) {
  Add("a", "model_transaction_policy { decoupled: true } " + Io(kFloat4, kFloat4));
  Add("c", Io(kFloat4, kFloat4));
  const auto cached = [](const std::string& member) {
    return "response_cache { enable: true } " + Io(kFloat4, kFloat4) +
           Steps(Step(member, "X", "Y"));
  };
  EXPECT_THAT(
      Problems(cached("a")),
      ElementsAre(testing::StartsWith(
          "members.decoupled_cache response_cache.enable: Response Cache does not currently "
          "support model e with 'decoupled' transaction policy. Please disable the response "
          "cache. (Its member 'a' is decoupled.)")));
  EXPECT_THAT(Problems(cached("c")), IsEmpty());
  EXPECT_THAT(Problems(Io(kFloat4, kFloat4) + Steps(Step("a", "X", "Y"))), IsEmpty());
}

TEST_F(MembersTest, SeeTheReshapesOfTheEnsemblesOwnTensors) {
  Add("a", Io("data_type: TYPE_FP32 dims: [ 2, 2 ]", "data_type: TYPE_FP32 dims: [ 4, 1 ]"));
  const std::string in = "data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 2, 2 ] }";
  const std::string out = "data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 4, 1 ] }";
  EXPECT_THAT(Problems(Io(in, out) + Steps(Step("a", "X", "Y"))), IsEmpty());
  EXPECT_THAT(Problems(Io(out, out) + Steps(Step("a", "X", "Y"))),
              ElementsAre(testing::HasSubstr("inconsistent shape: [4,1] is inferred from model e "
                                             "while [2,2] is inferred from model a")));
  // A member's clients do not see its reshape.
  Add("b", Io(in, in));
  EXPECT_THAT(Problems(Io(kFloat4, kFloat4) + Steps(Step("b", "X", "Y"))), IsEmpty());
}

TEST(MemberRules, HaveDifferentIds) {
  std::set<std::string_view> ids;
  for (const RuleInfo& rule : MemberRules()) {
    EXPECT_TRUE(ids.insert(rule.id).second);
    EXPECT_FALSE(rule.summary.empty() || rule.expected.empty() || rule.remedy.empty());
  }
  EXPECT_EQ(ids.size(), 11u);
}

}  // namespace
}  // namespace nereid::config
