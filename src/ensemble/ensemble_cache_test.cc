// SPDX-License-Identifier: Apache-2.0
// Ensembles with a response cache, whose members are replaced while they serve.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/testing/memory_cache.h"
#include "ensemble/ensemble_model.h"
#include "ensemble/testing/make_plan.h"
#include "ensemble/testing/member_version.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::ensemble {
namespace {

using base::Status;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

std::string ModelText(const PlannedStep& step) {
  std::string text = "name: \"" + step.model + "\" ";
  for (const auto& [kind, names] :
       {std::pair{"input", &step.inputs}, std::pair{"output", &step.outputs}}) {
    for (const std::string& name : *names) {
      text += std::string(kind) + " { name: \"" + name + "\" data_type: TYPE_INT32 dims: [ 1 ] } ";
    }
  }
  return text;
}

/// A model whose answer is its content.
class Answerer final : public MemberVersion {
 public:
  Answerer(const PlannedStep& step, int content)
      : MemberVersion(ModelText(step)), content_(content) {}

  Status Enqueue(RequestPtr& taken) override {
    RequestPtr request = std::move(taken);
    const auto factory = request->response_factory();
    auto response = std::move(factory->NewResponse()).value();
    for (const std::string& name : request->requested_outputs) {
      auto* const output =
          std::move(response->AddOutput(name, tensor::DataType::kInt32, {1})).value();
      auto type = memory::MemoryType::kCpu;
      int64_t id = 0;
      EXPECT_TRUE(response->AllocateOutput(output, 4, &type, &id).ok());
      std::memcpy(output->data, &content_, 4);
    }
    factory->Send(std::move(response), true);
    request::ReleaseRequest(std::move(request));
    return Status::Ok();
  }
  std::optional<model::AnswerSource> Choose(const request::RequestFields&,
                                            const std::vector<std::string>&) override {
    if (!is_known) return std::nullopt;
    return model::AnswerSource{cache::Digest{static_cast<unsigned char>(content_)}};
  }
  void ReadContent() override { is_known = true; }

  bool is_known = true;

 private:
  const int content_;
};

const PlannedStep kFirst{"first", {"x"}, {"t"}};

class EnsembleCacheTest : public ::testing::Test, private MemberDirectory {
 protected:
  void SetUp() override {
    auto cache = cache::ResponseCache::Create("local", cache::MemoryCache::MakeLibrary(), "{}", {});
    cache_ = std::move(cache).value();
    served_["first"] = {First(1)};
  }

  static std::shared_ptr<Answerer> First(int content) {
    return std::make_shared<Answerer>(kFirst, content);
  }
  /// Loads the ensemble of these steps; its answer is what the last of them answers.
  std::shared_ptr<EnsembleModel> Load(const std::string& name,
                                      const std::vector<PlannedStep>& steps, bool cached) {
    model::ModelEnvironment environment{backends_, base::SteadyClock(), timers_};
    environment.response_cache = cache_.get();
    model::ModelSource source;
    source.name = name;
    source.version = 1;
    source.directory = "/nonexistent";
    source.version_directory = "/nonexistent/1";
    source.config =
        request::MakeModel(EnsembleText(steps) + (cached ? " response_cache { enable: true }" : ""))
            ->config;
    auto made = EnsembleModel::Create(environment, source, *this);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::shared_ptr<EnsembleModel>(std::move(made).value());
  }
  /// Sends a request and returns the answer.
  int Ask(const std::shared_ptr<EnsembleModel>& model, int value, const char* output = "t") {
    auto sink = std::make_shared<request::RecordingSink>();
    auto request = std::make_unique<request::InferenceRequest>();
    request->AddInput("x", tensor::DataType::kInt32, {1}).value()->Append(&value, 4);
    request->requested_outputs = {output};
    request->SetSink(sink);
    const Status status = model::Submit(
        std::shared_ptr<const request::ModelIdentity>(model, &model->identity()), *model, request);
    EXPECT_TRUE(status.ok()) << status.message();
    sink->WaitUntilDone();
    EXPECT_TRUE(sink->errors().at(0).ok()) << sink->errors()[0].message();
    int answer = 0;
    std::memcpy(&answer, sink->responses().at(0)->outputs().at(0)->data, 4);
    sink->Clear();
    return answer;
  }
  uint64_t Hits(const EnsembleModel& model) {
    return model.Statistics().inference_stats.cache_hit.count;
  }

  /// Finds the versions of a model in turn, as a rollout may.
  base::Result<Member> Find(const std::string&, const std::string& model, int64_t,
                            const request::RequestFields*) const override {
    const auto& versions = served_.at(model);
    const auto& chosen = versions[finds_[model]++ % versions.size()];
    auto identity = std::make_shared<request::ModelIdentity>(chosen->identity());
    identity->version = version_;
    return Member{std::move(identity), chosen.get()};
  }

  mutable std::map<std::string, size_t> finds_;  // by model
  int64_t version_ = 1;                          // of all members
  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
  std::unique_ptr<cache::ResponseCache> cache_;
  std::map<std::string, std::vector<std::shared_ptr<model::ModelVersion>>> served_;
};

TEST_F(EnsembleCacheTest, AnAnswerOfAMemberThatWasPutBackIsNotTheOtherMembers) {
  const auto ensemble = Load("e", {kFirst}, true);
  const auto before = served_["first"];
  EXPECT_EQ(Ask(ensemble, 5), 1);
  served_["first"] = {First(2)};
  EXPECT_EQ(Ask(ensemble, 5), 2) << "the stored answer is the other member's";
  EXPECT_EQ(Ask(ensemble, 6), 2);
  served_["first"] = before;
  EXPECT_EQ(Ask(ensemble, 6), 1);
  EXPECT_EQ(Ask(ensemble, 5), 1);
  EXPECT_EQ(Hits(*ensemble), 1u);
}

TEST_F(EnsembleCacheTest, TheSameContentInAnotherObjectHits) {
  const auto one = Load("e", {kFirst}, true);
  EXPECT_EQ(Ask(one, 5), 1);
  served_["first"] = {First(1)};
  const auto other = Load("e", {kFirst}, true);
  EXPECT_EQ(Ask(one, 5), 1);
  EXPECT_EQ(Ask(other, 5), 1);
  EXPECT_EQ(Hits(*one) + Hits(*other), 2u);
}

TEST_F(EnsembleCacheTest, AnotherVersionOfTheSameContentIsAnotherMember) {
  const auto ensemble = Load("e", {kFirst}, true);
  EXPECT_EQ(Ask(ensemble, 5), 1);
  version_ = 2;
  EXPECT_EQ(Ask(ensemble, 5), 1);
  EXPECT_EQ(Hits(*ensemble), 0u) << "a model may answer with its version";
  version_ = 1;
  EXPECT_EQ(Ask(ensemble, 5), 1);
  EXPECT_EQ(Hits(*ensemble), 1u);
}

TEST_F(EnsembleCacheTest, MembersWhoseContentIsNotKnownAreNotCached) {
  const auto ensemble = Load("e", {kFirst}, true);
  auto next = First(2);
  next->is_known = false;
  served_["first"] = {next};
  EXPECT_EQ(Ask(ensemble, 5), 2);
  EXPECT_EQ(Ask(ensemble, 5), 2);
  EXPECT_EQ(Hits(*ensemble), 0u);
  EXPECT_EQ(cache::MemoryCache::Instance().inserts(), 0u);
  const auto reloaded = Load("e", {kFirst}, true);
  EXPECT_EQ(Ask(reloaded, 5), 2);
  EXPECT_EQ(Ask(reloaded, 5), 2);
  EXPECT_EQ(Hits(*reloaded), 1u) << "the load of the ensemble reads the content of its members";
}

TEST_F(EnsembleCacheTest, TheMembersOfTheKeyAnswer) {
  served_["first"] = {First(1), First(2)};
  const auto ensemble = Load("e", {kFirst}, true);
  std::map<int, int> answers;
  for (int value = 0; value < 20; ++value) ++answers[Ask(ensemble, value)];
  EXPECT_EQ(answers.size(), 2u) << "both versions answer";
  served_["first"] = {First(1)};
  for (int value = 0; value < 20; ++value) EXPECT_EQ(Ask(ensemble, value), 1) << value;
}

class NestedEnsembleCacheTest : public EnsembleCacheTest,
                                public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(InnerIsCached, NestedEnsembleCacheTest, ::testing::Bool());

TEST_P(NestedEnsembleCacheTest, MembersOfMembersAreInTheKeyAndAnswer) {
  served_["first"] = {First(1), First(2)};
  const auto inner = Load("inner", {kFirst}, GetParam());
  served_["inner"] = {inner};
  const auto outer = Load("outer", {{"inner", {"x"}, {"t"}}}, true);
  std::map<int, int> answers;
  for (int value = 0; value < 20; ++value) ++answers[Ask(outer, value)];
  EXPECT_EQ(answers.size(), 2u) << "both versions answer";
  served_["first"] = {First(1)};
  for (int value = 0; value < 20; ++value) {
    EXPECT_EQ(Ask(outer, value), 1) << value;
    EXPECT_EQ(Ask(inner, value), 1) << value;
  }
}

TEST_F(EnsembleCacheTest, OnlyTheMembersThatARequestNeedsAreInItsKey) {
  const PlannedStep other{"last", {"x"}, {"y"}};
  served_["last"] = {std::make_shared<Answerer>(other, 7)};
  const auto ensemble = Load("e", {kFirst, other}, true);
  EXPECT_EQ(Ask(ensemble, 5, "t"), 1);
  EXPECT_EQ(Ask(ensemble, 5, "y"), 7);
  served_["last"] = {std::make_shared<Answerer>(other, 8)};
  EXPECT_EQ(Ask(ensemble, 5, "t"), 1);
  EXPECT_EQ(Hits(*ensemble), 1u);
  EXPECT_EQ(Ask(ensemble, 5, "y"), 8);
}

}  // namespace
}  // namespace nereid::ensemble
