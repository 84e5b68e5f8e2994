// SPDX-License-Identifier: Apache-2.0
// Namespacing: models of one name in several repositories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_config.pb.h"
#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kPlain = R"(backend: "b"
  input { name: "I" data_type: TYPE_INT32 dims: [ 4 ] }
  output { name: "O" data_type: TYPE_INT32 dims: [ 4 ] })";

std::string Ensemble(const std::string& member, const std::string& extra = "") {
  return R"(platform: "ensemble"
    input { name: "I" data_type: TYPE_INT32 dims: [ 4 ] }
    output { name: "O" data_type: TYPE_INT32 dims: [ 4 ] }
    ensemble_scheduling { step { model_name: ")" +
         member + "\" model_version: -1 " + extra + R"(
      input_map { key: "I" value: "I" } output_map { key: "O" value: "O" } } })";
}

class NamespacingTest : public RepositoryTest {
 protected:
  void SetUp() override {
    RepositoryTest::SetUp();
    options_.poll.repositories.clear();
    for (const char* name : {"r1", "r2", "r3"}) {
      std::filesystem::create_directories(root_ / name);
      options_.poll.repositories.insert(Space(name));
    }
    options_.namespacing = true;
    options_.load_threads = 1;
  }
  void TearDown() override { lifecycle_.reset(); }

  std::string Space(const std::string& repository) { return (root_ / repository).string(); }
  std::string Text(const std::string& repository, const std::string& name) {
    return ToText({name, Space(repository)});
  }
  void Start() { lifecycle_.emplace(options_, loader_); }
  void LoadAll() {
    if (!lifecycle_) Start();
    const auto report = lifecycle_->LoadAll();
    failures_ = report.failures;
  }
  base::Status Find(const std::string& name) {
    return lifecycle_->Table()->Find(name, -1).status();
  }
  bool Serves(const std::string& repository, const std::string& name) {
    return lifecycle_->Table()->Find(ModelId{name, Space(repository)}, -1).ok();
  }
  /// The namespace of the ensemble's member; "gone" if the ensemble does not serve.
  std::string MemberSpace(const std::string& repository, const std::string& name) {
    const auto found = lifecycle_->Table()->Find(ModelId{name, Space(repository)}, -1);
    if (!found.ok()) return "gone";
    return (*found)->config().proto().ensemble_scheduling().step(0).model_namespace();
  }

  std::optional<ModelLifecycle> lifecycle_;
  std::map<std::string, base::Status> failures_;
};

TEST_F(NamespacingTest, LoadsBothAndIndexesBoth) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1", "2"});
  LoadAll();
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_TRUE(Serves("r1", "m") && Serves("r2", "m"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\nm/2/READY/\n");
  EXPECT_TRUE(lifecycle_->AllReady());
}

TEST_F(NamespacingTest, ANameIsEnoughWhereItIsUnique) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  Write("r2/u", kPlain, {"1"});
  LoadAll();
  EXPECT_TRUE(Find("u").ok());
  EXPECT_EQ(Find("m").code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(Find("m").message(),
            "There are 2 identifiers of model 'm' in global map, model namespace must be provided "
            "to resolve ambiguity.");
  EXPECT_EQ(Find("x").code(), base::StatusCode::kNotFound);
  EXPECT_EQ(Find("x").message(), "Identifier of model 'x' is not found in global map");
}

TEST_F(NamespacingTest, TheOneThatIsLeftIsUnique) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  LoadAll();
  std::filesystem::remove_all(root_ / "r1/m");
  LoadAll();
  EXPECT_FALSE(Serves("r1", "m"));
  EXPECT_EQ((*lifecycle_->Table()->Resolve("m")).space, Space("r2"));
  EXPECT_TRUE(Find("m").ok());
  loader_.TakeEvents();
  Write("r1/m", kPlain, {"1"});
  LoadAll();
  EXPECT_THAT(loader_.TakeEvents(),
              ElementsAre("load " + Text("r1", "m") + ":1", "activate " + Text("r1", "m") + ":1"));
  EXPECT_FALSE(Find("m").ok());
}

TEST_F(NamespacingTest, AFailureIsOneModelsOwn) {
  Write("r1/m", std::string(kPlain) + " parameters { key: \"bad\" }", {"1"});
  Write("r2/m", kPlain, {"1"});
  LoadAll();
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_EQ(failures_.begin()->first, Text("r1", "m"));
  EXPECT_THAT(failures_.begin()->second.message(),
              HasSubstr("load failed for model '" + Text("r1", "m") + "'"));
  EXPECT_TRUE(Serves("r2", "m"));
  EXPECT_THAT(Find("m").message(), HasSubstr("There are 2 identifiers"));
}

TEST_F(NamespacingTest, LoadAndUnloadTakeAllOfAName) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  Write("r2/u", kPlain, {"1"});
  Start();
  EXPECT_TRUE(lifecycle_->Load("m").ok());
  EXPECT_TRUE(Serves("r1", "m") && Serves("r2", "m"));
  EXPECT_FALSE(Serves("r2", "u"));
  EXPECT_TRUE(lifecycle_->Load("u").ok());
  EXPECT_TRUE(lifecycle_->Unload("m").ok());
  EXPECT_FALSE(Serves("r1", "m") || Serves("r2", "m"));
  EXPECT_TRUE(Serves("r2", "u"));
  EXPECT_EQ(Find("m").message(), "Identifier of model 'm' is not found in global map");
  EXPECT_TRUE(lifecycle_->Unload("never seen").ok());
}

TEST_F(NamespacingTest, AnEnsemblePrefersItsOwnRepository) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  Write("r2/u", kPlain, {"1"});
  Write("r1/own", Ensemble("m"), {"1"});
  Write("r1/both", Ensemble("m"), {"1"});
  Write("r2/both", Ensemble("m", "model_namespace: \"elsewhere\""), {"1"});
  Write("r1/other", Ensemble("u"), {"1"});
  Write("r3/ambiguous", Ensemble("m"), {"1"});
  LoadAll();
  EXPECT_EQ(MemberSpace("r1", "own"), Space("r1"));
  EXPECT_EQ(MemberSpace("r1", "both"), Space("r1"));
  EXPECT_EQ(MemberSpace("r2", "both"), Space("r2"));
  EXPECT_EQ(MemberSpace("r1", "other"), Space("r2"));
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_EQ(failures_.begin()->second.message(),
            "load failed for model '" + Text("r3", "ambiguous") + "': ensemble " +
                Text("r3", "ambiguous") +
                " contains models that are not available or ambiguous: m\n");
}

TEST_F(NamespacingTest, AnEnsembleFollowsWhatItsNamesMean) {
  Write("r2/m", kPlain, {"1"});
  Write("r1/e", Ensemble("m"), {"1"});
  Write("r3/e3", Ensemble("m"), {"1"});
  LoadAll();
  EXPECT_EQ(MemberSpace("r1", "e"), Space("r2"));
  EXPECT_EQ(MemberSpace("r3", "e3"), Space("r2"));
  Write("r1/m", kPlain, {"1"});  // nearer for the one, and in doubt for the other
  LoadAll();
  EXPECT_EQ(MemberSpace("r1", "e"), Space("r1"));
  EXPECT_EQ(MemberSpace("r3", "e3"), "gone");
  std::filesystem::remove_all(root_ / "r1/m");
  LoadAll();
  EXPECT_EQ(MemberSpace("r1", "e"), Space("r2"));
  EXPECT_EQ(MemberSpace("r3", "e3"), Space("r2"));
  loader_.TakeEvents();
  LoadAll();
  EXPECT_THAT(loader_.TakeEvents(), IsEmpty());
}

TEST_F(NamespacingTest, OneNameInTwoRepositoriesIsNoCircle) {
  Write("r1/x", Ensemble("y"), {"1"});
  Write("r2/y", Ensemble("x"), {"1"});
  Write("r2/x", kPlain, {"1"});
  LoadAll();
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_EQ(MemberSpace("r1", "x"), Space("r2"));
  EXPECT_EQ(MemberSpace("r2", "y"), Space("r2"));
}

TEST_F(NamespacingTest, MembersComeAndGoWithTheirEnsemble) {
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  Write("r1/e", Ensemble("m"), {"1"});
  Start();
  EXPECT_TRUE(lifecycle_->Load("e").ok());
  EXPECT_TRUE(Serves("r1", "m"));
  EXPECT_FALSE(Serves("r2", "m"));
  EXPECT_TRUE(lifecycle_->Unload("m").ok());
  EXPECT_EQ(MemberSpace("r1", "e"), "gone");
  EXPECT_TRUE(lifecycle_->Load("m").ok());
  EXPECT_EQ(MemberSpace("r1", "e"), Space("r1"));
  EXPECT_TRUE(lifecycle_->Unload("e", true).ok());
  EXPECT_TRUE(Serves("r1", "m") && Serves("r2", "m"));  // asked for by name
}

TEST_F(NamespacingTest, WithoutItADuplicateIsLoadedFromNeither) {
  options_.namespacing = false;
  Write("r1/m", kPlain, {"1"});
  Write("r2/m", kPlain, {"1"});
  Write("r2/u", kPlain, {"1"});
  Write("r1/e", Ensemble("u", "model_namespace: \"elsewhere\""), {"1"});
  LoadAll();
  EXPECT_EQ(Find("m").message(), "Request for unknown model: 'm' is not found");
  EXPECT_EQ((*lifecycle_->Table()->Resolve("u")).space, "");
  EXPECT_THAT(loader_.TakeEvents(),
              UnorderedElementsAre("load u:1", "activate u:1", "load e:1", "activate e:1"));
  EXPECT_EQ(lifecycle_->Table()
                ->Find("e", -1)
                .value()
                ->config()
                .proto()
                .ensemble_scheduling()
                .step(0)
                .model_namespace(),
            "");
}

}  // namespace
}  // namespace nereid::repository
