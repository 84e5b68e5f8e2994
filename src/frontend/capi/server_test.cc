// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "abi/error.h"
#include "abi/message.h"
#include "api/testing/fake_inference_service.h"
#include "base/temporary_directory.h"
#include "frontend/capi/handles.h"

namespace nereid::frontend::capi {
namespace {

using api::testing::FakeInferenceService;

#define EXPECT_SUCCESS(call) EXPECT_EQ(abi::TakeStatus(call).ToString(), "OK")
#define EXPECT_CODE(call, expected) \
  EXPECT_EQ(abi::TakeStatus(call).code(), base::StatusCode::expected)

class OptionsTest : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_SUCCESS(TRITONSERVER_ServerOptionsNew(&options_)); }
  void TearDown() override { EXPECT_SUCCESS(TRITONSERVER_ServerOptionsDelete(options_)); }
  server::ServerSettings& settings() { return options_->settings; }
  TRITONSERVER_ServerOptions* options_ = nullptr;
};

TEST_F(OptionsTest, Defaults) {
  EXPECT_EQ(settings().server_id, "triton");
  EXPECT_EQ(settings().model_control_mode, server::ModelControlMode::kPoll);
  EXPECT_TRUE(settings().exit_on_error);
  EXPECT_TRUE(settings().strict_model_config);
  EXPECT_TRUE(settings().strict_readiness);
  EXPECT_TRUE(settings().metrics_enabled);
  EXPECT_EQ(settings().metrics_interval_ms, 2000u);
  EXPECT_EQ(settings().exit_timeout_secs, 30u);
  EXPECT_EQ(settings().pinned_memory_pool_byte_size, 268435456u);
  EXPECT_EQ(settings().model_load_thread_count, 4u);
  EXPECT_EQ(settings().model_load_retry_count, 0u);
  EXPECT_EQ(settings().backend_directory, "/opt/tritonserver/backends");
}

TEST_F(OptionsTest, SettersReachTheSettings) {
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetServerId(options_, "me"));
  for (const char* path : {"/b", "/a", "/b"}) {
    EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options_, path));
  }
  EXPECT_SUCCESS(
      TRITONSERVER_ServerOptionsSetModelControlMode(options_, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
  for (const char* model : {"y", "x", "y"}) {
    EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetStartupModel(options_, model));
  }
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetStrictModelConfig(options_, false));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelConfigName(options_, "h100"));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetExitOnError(options_, false));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetExitTimeout(options_, 5));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetMetricsInterval(options_, 77));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetBackendConfig(options_, "", "k", "v"));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetHostPolicy(options_, "p", "numa-node", "0"));
  EXPECT_SUCCESS(
      TRITONSERVER_ServerOptionsSetRateLimiterMode(options_, TRITONSERVER_RATE_LIMIT_EXEC_COUNT));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsAddRateLimiterResource(options_, "R", 4, 1));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetMetricsConfig(options_, "", "a", "b"));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
      options_, TRITONSERVER_INSTANCEGROUPKIND_GPU, 1, 0.5));
  EXPECT_EQ(settings().server_id, "me");
  EXPECT_EQ(settings().model_repository_paths, (std::set<std::string>{"/a", "/b"}));
  EXPECT_EQ(settings().model_control_mode, server::ModelControlMode::kExplicit);
  EXPECT_EQ(settings().startup_models, (std::vector<std::string>{"y", "x"}));
  EXPECT_FALSE(settings().strict_model_config);
  EXPECT_EQ(settings().model_config_name, "h100");
  EXPECT_FALSE(settings().exit_on_error);
  EXPECT_EQ(settings().exit_timeout_secs, 5u);
  EXPECT_EQ(settings().metrics_interval_ms, 77u);
  const auto& all = settings().backend_config[""];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].second, "v");
  EXPECT_EQ(all[1].first, "model-load-gpu-limit-device-1");
  EXPECT_EQ(settings().host_policies["p"]["numa-node"], "0");
  EXPECT_EQ(settings().rate_limit_mode, server::RateLimitMode::kExecutionCount);
  EXPECT_EQ(settings().rate_limit_resources.at(0).count, 4u);
  EXPECT_EQ(settings().rate_limit_resources.at(0).device, 1);
  EXPECT_EQ(settings().metrics_config[""][0].second, "b");
}

TEST_F(OptionsTest, RefusesBadValues) {
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetModelControlMode(
                  options_, static_cast<TRITONSERVER_ModelControlMode>(3)),
              kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetServerId(options_, nullptr), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetServerId(nullptr, "x"), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetHostPolicy(options_, "p", "color", "red"), kUnsupported);
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
                  options_, TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, 0.5),
              kInvalidArgument);
  for (const double fraction : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_CODE(TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
                    options_, TRITONSERVER_INSTANCEGROUPKIND_GPU, 0, fraction),
                kInvalidArgument);
  }
  EXPECT_CODE(
      TRITONSERVER_ServerOptionsSetLogFormat(nullptr, static_cast<TRITONSERVER_LogFormat>(2)),
      kInvalidArgument);
}

TEST_F(OptionsTest, TellsRepositoriesApart) {
  EXPECT_FALSE(settings().model_namespacing);
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelNamespacing(options_, true));
  EXPECT_TRUE(settings().model_namespacing);
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelNamespacing(options_, false));
  EXPECT_FALSE(settings().model_namespacing);
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetModelNamespacing(nullptr, true), kInvalidArgument);
}

TEST_F(OptionsTest, AResponseCacheOfNoBytesIsNone) {
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetResponseCacheByteSize(options_, 0));
}

TEST_F(OptionsTest, ChoosesOneResponseCache) {
  EXPECT_CODE(TRITONSERVER_ServerOptionsSetCacheConfig(options_, "redis", "{"), kInvalidArgument);
  EXPECT_SUCCESS(
      TRITONSERVER_ServerOptionsSetCacheConfig(options_, "redis", R"({"host":"h","port":"1"})"));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetResponseCacheByteSize(options_, 4096));
  EXPECT_SUCCESS(
      TRITONSERVER_ServerOptionsSetModelControlMode(options_, TRITONSERVER_MODEL_CONTROL_NONE));
  EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options_, "/nonexistent"));
  TRITONSERVER_Server* server = nullptr;
  const base::Status status = abi::TakeStatus(TRITONSERVER_ServerNew(&server, options_));
  EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("multiple cache configurations"), std::string::npos)
      << status.message();
}

TEST_F(OptionsTest, ServerNeedsARepository) {
  TRITONSERVER_Server* server = nullptr;
  EXPECT_CODE(TRITONSERVER_ServerNew(&server, options_), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerNew(&server, nullptr), kInvalidArgument);
  EXPECT_SUCCESS(
      TRITONSERVER_ServerOptionsSetModelRepositoryPath(options_, "/nonexistent/repository"));
  EXPECT_NE(abi::TakeStatus(TRITONSERVER_ServerNew(&server, options_)).ToString(), "OK");
  EXPECT_EQ(server, nullptr);
}

/// A server around the fake, which cannot be stopped or deleted through the API.
class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override { server_.service.store(&service_); }

  static std::string Json(TRITONSERVER_Message* message) {
    const char* base = nullptr;
    size_t size = 0;
    EXPECT_SUCCESS(TRITONSERVER_MessageSerializeToJson(message, &base, &size));
    std::string text(base, size);
    EXPECT_SUCCESS(TRITONSERVER_MessageDelete(message));
    return text;
  }

  FakeInferenceService service_;
  TRITONSERVER_Server server_;
};

TEST_F(ServerTest, Health) {
  bool answer = false;
  EXPECT_SUCCESS(TRITONSERVER_ServerIsLive(&server_, &answer));
  EXPECT_TRUE(answer);
  service_.ready = false;
  EXPECT_SUCCESS(TRITONSERVER_ServerIsReady(&server_, &answer));
  EXPECT_FALSE(answer);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelIsReady(&server_, "echo", 2, &answer));
  EXPECT_TRUE(answer);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelIsReady(&server_, "nobody", -1, &answer));
  EXPECT_FALSE(answer);
  EXPECT_CODE(TRITONSERVER_ServerIsLive(&server_, nullptr), kInvalidArgument);
  TRITONSERVER_Server unborn;
  EXPECT_CODE(TRITONSERVER_ServerIsLive(&unborn, &answer), kUnavailable);
  EXPECT_CODE(TRITONSERVER_ServerStop(&unborn), kUnavailable);
  TRITONSERVER_Message* message = nullptr;
  unborn.metadata.version = "1.2";
  EXPECT_SUCCESS(TRITONSERVER_ServerMetadata(&unborn, &message));
  EXPECT_NE(Json(message).find("\"version\":\"1.2\""), std::string::npos);
}

TEST_F(ServerTest, Properties) {
  uint32_t flags = 0;
  void* more = this;
  service_.traits["echo"].max_batch_size = 4;
  EXPECT_SUCCESS(TRITONSERVER_ServerModelBatchProperties(&server_, "echo", -1, &flags, &more));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_BATCH_FIRST_DIM));
  EXPECT_EQ(more, nullptr);
  EXPECT_SUCCESS(
      TRITONSERVER_ServerModelBatchProperties(&server_, "decoupled", -1, &flags, nullptr));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_BATCH_UNKNOWN));
  EXPECT_SUCCESS(
      TRITONSERVER_ServerModelTransactionProperties(&server_, "decoupled", -1, &flags, &more));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_TXN_DECOUPLED));
  EXPECT_SUCCESS(
      TRITONSERVER_ServerModelTransactionProperties(&server_, "echo", -1, &flags, &more));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_TXN_ONE_TO_ONE));
  EXPECT_CODE(TRITONSERVER_ServerModelBatchProperties(&server_, "nobody", -1, &flags, &more),
              kNotFound);
}

TEST_F(ServerTest, Documents) {
  TRITONSERVER_Message* message = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_ServerMetadata(&server_, &message));
  EXPECT_NE(Json(message).find("\"name\":\"triton\""), std::string::npos);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelMetadata(&server_, "echo", -1, &message));
  EXPECT_NE(Json(message).find("\"versions\":[\"1\",\"2\"]"), std::string::npos);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelStatistics(&server_, "", -1, &message));
  EXPECT_NE(Json(message).find("\"model_stats\":["), std::string::npos);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelIndex(&server_, 0, &message));
  EXPECT_NE(Json(message).find("\"old\""), std::string::npos);
  EXPECT_SUCCESS(TRITONSERVER_ServerModelIndex(&server_, TRITONSERVER_INDEX_FLAG_READY, &message));
  const std::string ready = Json(message);
  EXPECT_NE(ready.find("\"echo\""), std::string::npos);
  EXPECT_EQ(ready.find("\"old\""), std::string::npos);
  EXPECT_CODE(TRITONSERVER_ServerModelMetadata(&server_, "nobody", -1, &message), kNotFound);
  EXPECT_CODE(TRITONSERVER_ServerModelStatistics(&server_, "nobody", -1, &message),
              kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerModelConfig(&server_, "echo", -1, 2, &message), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerModelConfig(&server_, "echo", -1, 1, &message), kUnavailable);
}

TEST_F(ServerTest, LoadAndUnload) {
  std::string seen;
  service_.on_load = [&](const std::string& name,
                         const std::vector<api::LoadParameter>& parameters) {
    seen += name;
    for (const auto& parameter : parameters) seen += " " + parameter.name + "=" + parameter.value;
    seen += ";";
  };
  service_.on_unload = [&](const std::string& name, bool dependents) {
    seen += (dependents ? "-all " : "-") + name + ";";
  };
  EXPECT_SUCCESS(TRITONSERVER_ServerLoadModel(&server_, "m"));
  TRITONSERVER_Parameter* config =
      TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, "{}");
  TRITONSERVER_Parameter* file = TRITONSERVER_ParameterBytesNew("file:1/model", "abc", 3);
  TRITONSERVER_Parameter* wrong = TRITONSERVER_ParameterBytesNew("config", "{}", 2);
  const TRITONSERVER_Parameter* parameters[] = {config, file, wrong, nullptr};
  EXPECT_SUCCESS(TRITONSERVER_ServerLoadModelWithParameters(&server_, "m", parameters, 2));
  EXPECT_CODE(TRITONSERVER_ServerLoadModelWithParameters(&server_, "m", parameters, 3),
              kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerLoadModelWithParameters(&server_, "m", parameters + 3, 1),
              kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_ServerLoadModelWithParameters(&server_, "m", nullptr, 1),
              kInvalidArgument);
  for (auto* parameter : {config, file, wrong}) TRITONSERVER_ParameterDelete(parameter);
  EXPECT_SUCCESS(TRITONSERVER_ServerUnloadModel(&server_, "m"));
  EXPECT_SUCCESS(TRITONSERVER_ServerUnloadModelAndDependents(&server_, "m"));
  EXPECT_EQ(seen, "m;m config={} file:1/model=abc;-m;-all m;");
}

/// A server of its own over an empty repository.
class RealServerTest : public OptionsTest {
 protected:
  void Start(TRITONSERVER_ModelControlMode mode) {
    repository_ = base::TemporaryDirectory::Create().value();
    EXPECT_SUCCESS(
        TRITONSERVER_ServerOptionsSetModelRepositoryPath(options_, repository_->path().c_str()));
    EXPECT_SUCCESS(TRITONSERVER_ServerOptionsSetModelControlMode(options_, mode));
    EXPECT_SUCCESS(TRITONSERVER_ServerNew(&server_, options_));
  }
  void TearDown() override {
    EXPECT_SUCCESS(TRITONSERVER_ServerDelete(server_));
    OptionsTest::TearDown();
  }
  std::string Index() {
    TRITONSERVER_Message* index = nullptr;
    EXPECT_SUCCESS(TRITONSERVER_ServerModelIndex(server_, 0, &index));
    const std::string json = index->json;
    delete index;
    return json;
  }
  /// The failure of a load of "m" with these parameters.
  base::Status Load(std::vector<const TRITONSERVER_Parameter*> parameters) {
    const base::Status status = abi::TakeStatus(TRITONSERVER_ServerLoadModelWithParameters(
        server_, "m", parameters.data(), parameters.size()));
    for (const auto* parameter : parameters) {
      TRITONSERVER_ParameterDelete(const_cast<TRITONSERVER_Parameter*>(parameter));
    }
    return status;
  }
  std::unique_ptr<base::TemporaryDirectory> repository_;
  TRITONSERVER_Server* server_ = nullptr;
};

TEST_F(RealServerTest, WhoHoldsTheServerPolls) {
  Start(TRITONSERVER_MODEL_CONTROL_POLL);
  // It cannot be loaded, which is for the log; the look itself has succeeded.
  std::filesystem::create_directories(repository_->path() + "/m/1");
  EXPECT_SUCCESS(TRITONSERVER_ServerPollModelRepository(server_));
  EXPECT_EQ(Index(),
            R"([{"name":"m","state":"UNAVAILABLE","reason":"failed to open text file for read )" +
                repository_->path() + R"(/m/config.pbtxt: No such file or directory"}])");
  std::filesystem::remove_all(repository_->path());
  EXPECT_CODE(TRITONSERVER_ServerPollModelRepository(server_), kInternal);
}

TEST_F(RealServerTest, OtherModesDoNotPoll) {
  Start(TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  EXPECT_EQ(abi::TakeStatus(TRITONSERVER_ServerPollModelRepository(server_)).ToString(),
            "Unavailable: polling is disabled");
}

TEST_F(RealServerTest, OverridesReachTheRepository) {
  Start(TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  EXPECT_EQ(Load({TRITONSERVER_ParameterBytesNew("file:1/x", "abc", 3)}).ToString(),
            "Invalid argument: failed to load 'm', failed to poll from model repository: Load "
            "parameter 'config' must be specified for model file override");
  const auto config = [] {
    return TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING,
                                     R"({"backend":"absent"})");
  };
  EXPECT_EQ(
      Load({config(), TRITONSERVER_ParameterBytesNew("file:1/x", "abc", 3)}).message(),
      "load failed for model 'm': version 1 is at UNAVAILABLE state: Invalid argument: unable "
      "to find backend library for backend 'absent', try specifying runtime on the model "
      "configuration.;\n");
  EXPECT_EQ(Load({config(), TRITONSERVER_ParameterBytesNew("file:../x", "abc", 3)}).ToString(),
            "Invalid argument: failed to load 'm', failed to poll from model repository: Invalid "
            "file parameter 'file:../x' with normalized path '/x' must stay within model "
            "directory.");
}

}  // namespace
}  // namespace nereid::frontend::capi
