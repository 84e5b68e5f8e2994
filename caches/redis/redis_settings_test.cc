// SPDX-License-Identifier: Apache-2.0
#include "redis/redis_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace nereid::caches {
namespace {

using ::testing::HasSubstr;

std::string Read(const std::string& more, RedisSettings* settings,
                 const std::map<std::string, std::string>& variables = {}) {
  const auto environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  const std::string json = R"({"host":"h","port":"6379")" + more + "}";
  return ReadRedisSettings(json.c_str(), environment, settings).message();
}

TEST(RedisSettingsTest, Defaults) {
  RedisSettings settings;
  ASSERT_EQ(Read("", &settings), "");
  EXPECT_EQ(settings.Address(), "h:6379");
  EXPECT_EQ(settings.pool_size, 16u);
  EXPECT_EQ(settings.wait_timeout.count(), 100);
  EXPECT_EQ(settings.connect_timeout.count(), 1000);
  EXPECT_FALSE(settings.tls.enabled);
}

TEST(RedisSettingsTest, EverySettingIsRead) {
  RedisSettings settings;
  ASSERT_EQ(Read(R"(,"user":"u","password":"p","db":"3","connect_timeout":"1",
                    "socket_timeout":"0","pool_size":"4","wait_timeout":"5",
                    "cert":"c","key":"k","cacert":"a","cacert_dir":"d","sni":"s")",
                 &settings),
            "");
  EXPECT_EQ(settings.user + settings.password, "up");
  EXPECT_EQ(settings.db, 3u);
  EXPECT_EQ(settings.connect_timeout.count(), 1);
  EXPECT_EQ(settings.socket_timeout.count(), 0);
  EXPECT_EQ(settings.pool_size, 4u);
  EXPECT_EQ(settings.wait_timeout.count(), 5);
  EXPECT_TRUE(settings.tls.enabled);
  EXPECT_EQ(settings.tls.cert + settings.tls.key + settings.tls.cacert + settings.tls.cacert_dir +
                settings.tls.sni,
            "ckads");
}

TEST(RedisSettingsTest, CredentialsOfTheEnvironmentStandIn) {
  const std::map<std::string, std::string> variables = {{"TRITONCACHE_REDIS_USERNAME", "eu"},
                                                        {"TRITONCACHE_REDIS_PASSWORD", "ep"}};
  RedisSettings settings;
  ASSERT_EQ(Read("", &settings, variables), "");
  EXPECT_EQ(settings.user + "/" + settings.password, "eu/ep");
  RedisSettings given;
  ASSERT_EQ(Read(R"(,"password":"p")", &given, variables), "");
  EXPECT_EQ(given.user + "/" + given.password, "eu/p");
}

TEST(RedisSettingsTest, TlsIsSwitched) {
  RedisSettings on, off;
  ASSERT_EQ(Read(R"(,"tls_enabled":"true")", &on), "");
  EXPECT_TRUE(on.tls.enabled);
  ASSERT_EQ(Read(R"(,"tls_enabled":"false","cacert":"a")", &off), "");
  EXPECT_FALSE(off.tls.enabled);
}

TEST(RedisSettingsTest, MistakesAreNamed) {
  RedisSettings settings;
  EXPECT_THAT(Read(R"(,"pool_size":"0")", &settings), HasSubstr("'pool_size' is '0'"));
  EXPECT_THAT(Read(R"(,"cert":"c")", &settings), HasSubstr("'cert' and 'key'"));
  EXPECT_THAT(Read(R"(,"tls_enabled":"yes")", &settings), HasSubstr("true or false"));
  EXPECT_THAT(Read(R"(,"passwort":"x")", &settings), HasSubstr("unknown setting 'passwort'"));
  const auto none = [](const char*) -> const char* { return nullptr; };
  for (const char* json : {"{}", R"({"host":"h"})", R"({"port":"1"})"}) {
    RedisSettings missing;
    EXPECT_THAT(ReadRedisSettings(json, none, &missing).message(),
                HasSubstr("--cache-config=redis,host="));
  }
}

}  // namespace
}  // namespace nereid::caches
