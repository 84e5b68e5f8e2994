// SPDX-License-Identifier: Apache-2.0
// The chain of agents, tested with agents that use the C API as plug-ins do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "abi/message.h"
#include "agent/agent_chain.h"
#include "base/files.h"
#include "config/parse/parse.h"

namespace nereid::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The actions that the agents have received, in order.
std::vector<std::string>& Events() {
  static std::vector<std::string> events;
  return events;
}

std::map<std::string, std::string> ParametersOf(TRITONREPOAGENT_AgentModel* model) {
  std::map<std::string, std::string> parameters;
  uint32_t count = 0;
  TRITONREPOAGENT_ModelParameterCount(nullptr, model, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const char *key = nullptr, *value = nullptr;
    TRITONREPOAGENT_ModelParameter(nullptr, model, i, &key, &value);
    parameters[key] = value;
  }
  return parameters;
}

TRITONSERVER_Error* Note(const std::string& event) {
  Events().push_back(event);
  return nullptr;
}

/// Controlled by the model's parameters: "id" is the name in the events; "refuse" is the text of an
/// error for LOAD; "move" moves the model to a directory of the agent; "remote" is a location that
/// is not local.
TRITONSERVER_Error* Load(TRITONREPOAGENT_AgentModel* model) {
  auto parameters = ParametersOf(model);
  TRITONSERVER_Message* config = nullptr;
  TRITONREPOAGENT_ModelConfig(nullptr, model, 1, &config);
  const bool batching = config->json.find("\"max_batch_size\":8") != std::string::npos;
  delete config;
  Note(parameters["id"] + " LOAD" + (batching ? " of the moved model" : ""));
  if (parameters.contains("refuse")) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, parameters["refuse"].c_str());
  }
  if (parameters.contains("remote")) {
    return TRITONREPOAGENT_ModelRepositoryUpdate(
        nullptr, model, TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM, parameters["remote"].c_str());
  }
  if (!parameters.contains("move")) return nullptr;
  const char *mine = nullptr, *again = nullptr;
  TRITONREPOAGENT_ModelRepositoryLocationAcquire(nullptr, model,
                                                 TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &mine);
  TRITONREPOAGENT_ModelRepositoryLocationAcquire(nullptr, model,
                                                 TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &again);
  if (mine != again) Note("two directories");
  return TRITONREPOAGENT_ModelRepositoryUpdate(nullptr, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM,
                                               mine);
}

AgentEntryPoints Recorder() {
  AgentEntryPoints entry;
  entry.initialize = [](TRITONREPOAGENT_Agent* agent) {
    TRITONREPOAGENT_SetState(agent, agent);
    return Note("initialize");
  };
  entry.finalize = [](TRITONREPOAGENT_Agent* agent) {
    void* state = nullptr;
    TRITONREPOAGENT_State(agent, &state);
    return Note(state == agent ? "finalize" : "finalize without state");
  };
  entry.model_initialize = [](TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel* model) {
    TRITONREPOAGENT_ModelSetState(model, model);
    return Note(ParametersOf(model)["id"] + " begin");
  };
  entry.model_finalize = [](TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel* model) {
    void* state = nullptr;
    TRITONREPOAGENT_ModelState(model, &state);
    return Note(ParametersOf(model)["id"] + (state == model ? " end" : " end without state"));
  };
  entry.model_action = [](TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel* model,
                          TRITONREPOAGENT_ActionType action) -> TRITONSERVER_Error* {
    if (action == TRITONREPOAGENT_ACTION_LOAD) return Load(model);
    const char* names[] = {"", " LOAD_COMPLETE", " LOAD_FAIL", " UNLOAD", " UNLOAD_COMPLETE"};
    Note(ParametersOf(model)["id"] + names[action]);
    // The location may no longer change, and these errors are only logged.
    return TRITONREPOAGENT_ModelRepositoryUpdate(nullptr, model,
                                                 TRITONREPOAGENT_ARTIFACT_FILESYSTEM, "/late");
  };
  return entry;
}

class AgentChainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Events().clear();
    registry_.AddBuiltIn("recorder", Recorder());
  }
  static std::string AgentText(const std::string& id, const std::string& more = "") {
    return "agents { name: \"recorder\" parameters { key: \"id\" value: \"" + id + "\" } " + more +
           " }";
  }
  base::Result<std::unique_ptr<AgentChain>> Load(const std::string& agents) {
    const auto config = config::ParseModelConfigText(
        "name: \"m\" model_repository_agents { " + agents + " }", "test");
    return AgentChain::Load(registry_, **config, "/models/m", [this](const std::string& path) {
      moved_to_ = path;
      return config::ParseModelConfigText("name: \"m\" max_batch_size: 8", path);
    });
  }
  static std::vector<std::string> TakeEvents() { return std::exchange(Events(), {}); }

  AgentRegistry registry_{"/nonexistent"};
  std::string moved_to_;
};

TEST_F(AgentChainTest, ActionsComeInOrderAndCompletionsInReverse) {
  auto chain = Load(AgentText("a") + AgentText("b"));
  ASSERT_TRUE(chain.ok()) << chain.status().message();
  EXPECT_EQ((*chain)->directory(), "/models/m");
  EXPECT_THAT(TakeEvents(), ElementsAre("initialize", "a begin", "a LOAD", "b begin", "b LOAD"));
  (*chain)->LoadComplete();
  EXPECT_THAT(TakeEvents(), ElementsAre("b LOAD_COMPLETE", "a LOAD_COMPLETE"));
  (*chain)->LoadFail();
  EXPECT_THAT(TakeEvents(), IsEmpty()) << "a model that serves has not failed to load";
  (*chain)->Unload();
  EXPECT_THAT(TakeEvents(), ElementsAre("a UNLOAD", "b UNLOAD"));
  chain->reset();
  EXPECT_THAT(TakeEvents(),
              ElementsAre("b UNLOAD_COMPLETE", "a UNLOAD_COMPLETE", "b end", "a end", "finalize"));
}

TEST_F(AgentChainTest, AFailedLoadEndsWithLoadFail) {
  auto chain = Load(AgentText("a"));
  ASSERT_TRUE(chain.ok());
  TakeEvents();
  (*chain)->LoadFail();
  chain->reset();
  EXPECT_THAT(TakeEvents(), ElementsAre("a LOAD_FAIL", "a end", "finalize"));
}

TEST_F(AgentChainTest, MissingActionsRunAtTheEnd) {
  auto chain = Load(AgentText("a"));
  ASSERT_TRUE(chain.ok());
  (*chain)->LoadComplete();
  TakeEvents();
  chain->reset();
  EXPECT_THAT(TakeEvents(), ElementsAre("a UNLOAD", "a UNLOAD_COMPLETE", "a end", "finalize"));
}

TEST_F(AgentChainTest, AnAgentThatRefusesEndsTheLoad) {
  const auto chain =
      Load(AgentText("a") + AgentText("b", "parameters { key: \"refuse\" value: \"no\" }") +
           AgentText("c"));
  EXPECT_EQ(chain.status().message(), "no");
  EXPECT_THAT(TakeEvents(),
              ElementsAre("initialize", "a begin", "a LOAD", "b begin", "b LOAD", "b LOAD_FAIL",
                          "a LOAD_FAIL", "b end", "a end", "finalize"));
}

TEST_F(AgentChainTest, AnAgentMayMoveTheModel) {
  auto chain = Load(AgentText("a", "parameters { key: \"move\" value: \"1\" }") + AgentText("b"));
  ASSERT_TRUE(chain.ok()) << chain.status().message();
  EXPECT_EQ((*chain)->directory(), moved_to_);
  EXPECT_TRUE(base::IsDirectory(moved_to_));
  EXPECT_THAT(TakeEvents(), ElementsAre("initialize", "a begin", "a LOAD", "b begin",
                                        "b LOAD of the moved model"));
  (*chain)->LoadComplete();
  EXPECT_EQ((*chain)->directory(), moved_to_) << "the attempt to move later is refused";
  chain->reset();
  EXPECT_FALSE(base::PathExists(moved_to_));
}

TEST_F(AgentChainTest, ARemoteLocationIsRefused) {
  const auto chain =
      Load(AgentText("a", "parameters { key: \"remote\" value: \"s3://bucket/m\" }"));
  EXPECT_THAT(chain.status().message(), HasSubstr("leave it at 's3://bucket/m'"));
}

TEST_F(AgentChainTest, MissingAgentsAreNamedBeforeAnyActs) {
  const auto chain = Load(AgentText("a") + "agents { name: \"nope\" }");
  EXPECT_EQ(chain.status().message(),
            "unable to find 'libtritonrepoagent_nope.so' for repo agent 'nope', searched: "
            "/nonexistent");
  EXPECT_THAT(TakeEvents(), ElementsAre("initialize", "finalize"));
  EXPECT_THAT(Load("agents { name: \"../x\" }").status().message(), HasSubstr("unable to find"));
  EXPECT_FALSE(Load("agents { }").ok());
}

TEST_F(AgentChainTest, AnAgentLivesAsLongAsAModelUsesIt) {
  auto first = Load(AgentText("a")), second = Load(AgentText("b"));
  first->reset();
  EXPECT_EQ(std::count(Events().begin(), Events().end(), "initialize"), 1);
  EXPECT_EQ(std::count(Events().begin(), Events().end(), "finalize"), 0);
  second->reset();
  EXPECT_EQ(std::count(Events().begin(), Events().end(), "finalize"), 1);
}

TEST(AgentFunctionsTest, ArgumentsAreChecked) {
  const auto refused = [](TRITONSERVER_Error* error) {
    const bool is =
        error != nullptr && TRITONSERVER_ErrorCode(error) == TRITONSERVER_ERROR_INVALID_ARG;
    TRITONSERVER_ErrorDelete(error);
    return is;
  };
  uint32_t major = 9, minor = 9;
  EXPECT_EQ(TRITONREPOAGENT_ApiVersion(&major, &minor), nullptr);
  EXPECT_EQ(major * 10 + minor, 1u);
  EXPECT_TRUE(refused(TRITONREPOAGENT_SetState(nullptr, nullptr)));
  AgentModel model(nullptr, {{"k", "v"}});
  const char *key = nullptr, *value = nullptr, *location = nullptr;
  EXPECT_TRUE(refused(TRITONREPOAGENT_ModelParameter(nullptr, model.handle(), 1, &key, &value)));
  EXPECT_EQ(TRITONREPOAGENT_ModelParameter(nullptr, model.handle(), 0, &key, &value), nullptr);
  EXPECT_STREQ(value, "v");
  EXPECT_TRUE(refused(TRITONREPOAGENT_ModelRepositoryLocationAcquire(
      nullptr, model.handle(), TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM, &location)));
  TRITONSERVER_Error* error =
      TRITONREPOAGENT_ModelRepositoryLocationRelease(nullptr, model.handle(), "");
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), "No mutable location to be deleted");
  TRITONSERVER_ErrorDelete(error);
  TRITONSERVER_Message* config = nullptr;
  error = TRITONREPOAGENT_ModelConfig(nullptr, model.handle(), 2, &config);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_UNSUPPORTED);
  TRITONSERVER_ErrorDelete(error);
}

}  // namespace
}  // namespace nereid::agent
