// SPDX-License-Identifier: Apache-2.0
#include "app/options/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace nereid::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

base::Result<ParsedCommandLine> Parse(std::vector<std::string> flags,
                                      const std::map<std::string, std::string>& environment = {}) {
  flags.insert(flags.begin(), "/usr/bin/tritonserver");
  CommandLineContext context;
  context.environment = [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  return ParseCommandLine(flags, context);
}

// Parses a correct command line, to which a repository is added.
ParsedCommandLine Good(std::vector<std::string> flags,
                       const std::map<std::string, std::string>& environment = {}) {
  flags.push_back("--model-repository=/m");
  auto parsed = Parse(std::move(flags), environment);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *parsed : ParsedCommandLine{};
}

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

struct ErrorCase {
  const char* flags;  // words separated by blanks
  const char* line;   // the whole message
};

// The line that users see for each kind of mistake.
constexpr ErrorCase kErrors[] =
    {
        // clang-format off
    {"--http-prot=1", R"(Bad option: "--http-prot". unknown flag, did you mean --http-port?)"},
    {"--http_port=1", R"(Bad option: "--http_port". unknown flag, did you mean --http-port?)"},
    {"--zzzzzzzz", R"(Bad option: "--zzzzzzzz". unknown flag, --help lists the flags)"},
    {"--inline=auto", R"(Bad option: "--inline". unknown flag, --help lists the flags)"},
    {"--=1", R"(Bad option: "--". unknown flag, --help lists the flags)"},
    {"--log-f=x", R"(Bad option: "--log-f". the abbreviation is ambiguous: --log-format, --log-file)"},
    {"-x", R"(Bad option: "--x". flags begin with two hyphens; there are no short flags)"},
    {"--id", R"(Bad option: "--id". the flag needs a value: <string>)"},
    {"--help=1", R"(Bad option: "--help". the flag takes no value)"},
    {"--disable-auto-complete-config=true", R"(Bad option: "--disable-auto-complete-config". the flag takes no value)"},
    {"--model-repository=/m extra", "Unexpected argument: extra"},
    {"-- --id=x", "Unexpected argument: --id=x"},
    {"extra --log-info=maybe", R"(Bad option: "--log-info". invalid value for bool option: maybe, expected true or false)"},
    {"--http-port=http", R"(Bad option: "--http-port". Invalid option value. Got http, expected a whole number)"},
    {"--http-port --grpc-port=3", R"(Bad option: "--http-port". Invalid option value. Got --grpc-port=3, expected a whole number)"},
    {"--http-port=80x", R"(Bad option: "--http-port". Invalid option value. Got 80x, expected a whole number)"},
    {"--http-por=65536", R"(Bad option: "--http-port". Provided option value is out of bound. Got 65536, expected 0 to 65535)"},
    {"--exit-timeout-secs=-1", R"(Bad option: "--exit-timeout-secs". Provided option value is out of bound. Got -1, expected 0 to 2147483647)"},
    {"--http-max-input-size=0", R"(Bad option: "--http-max-input-size". Provided option value is out of bound. Got 0, expected 1 to 9223372036854775807)"},
    {"--grpc-infer-thread-count=1", R"(Bad option: "--grpc-infer-thread-count". Provided option value is out of bound. Got 1, expected 2 to 128)"},
    {"--pinned-memory-pool-byte-size=99999999999999999999", R"(Bad option: "--pinned-memory-pool-byte-size". Provided option value is out of bound. Got 99999999999999999999, expected 0 to 9223372036854775807)"},
    {"--metrics-interval-ms=0", R"(Bad option: "--metrics-interval-ms". Provided option value is out of bound. Got 0, expected 1 to 2147483647)"},
    {"--log-verbose=loud", R"(Bad option: "--log-verbose". Invalid option value. Got loud, expected a whole number)"},
    {"--log-format=xml", R"(Bad option: "--log-format". invalid argument for --log-format. Got xml, expected one of: default, ISO8601, json)"},
    {"--model-control-mode=auto", R"(Bad option: "--model-control-mode". invalid argument for --model-control-mode. Got auto, expected one of: none, poll, explicit)"},
    {"--model-config-name=", R"(Bad option: "--model-config-name". Error: empty argument for --model-config-name)"},
    {"--rate-limit=On", R"(Bad option: "--rate-limit". invalid argument for --rate-limit. Got On, expected one of: off, execution_count)"},
    {"--inline-execution=yes", R"(Bad option: "--inline-execution". invalid argument for --inline-execution. Got yes, expected one of: auto, always, never)"},
    {"--grpc-infer-response-compression-level=best", R"(Bad option: "--grpc-infer-response-compression-level". invalid argument for --grpc_infer_response_compression_level. Got best, expected one of: none, low, medium, high)"},
    {"--model-repository=", R"(Bad option: "--model-repository". the path of a model repository is empty)"},
    {"--trace-config=level", R"(Bad option: "--trace-config". --trace-config option format is '<trace mode>,<setting>=<value>'. Got level)"},
    {"--trace-config=level=Loud", R"(Bad option: "--trace-config level". invalid value for trace level option: loud, expected OFF, TIMESTAMPS or TENSORS)"},
    {"--trace-config=mode=x", R"(Bad option: "--trace-config mode". invalid value for trace mode option: x. Available options are "triton" and "opentelemetry")"},
    {"--trace-config=foo,bar=1", R"(Bad option: "--trace-config". invalid value for trace mode option: foo. Available options are "triton" and "opentelemetry")"},
    {"--trace-config=triton,bar=1", R"(Bad option: "--trace-config triton,bar". unknown setting 'bar' of mode triton, expected file or log-frequency)"},
    {"--trace-config=bar=1", R"(Bad option: "--trace-config bar". unknown setting 'bar', expected rate, level, count or mode)"},
    {"--trace-config=rate=-1", R"(Bad option: "--trace-config rate". Provided option value is out of bound. Got -1, expected 0 to 4294967295)"},
    {"--trace-config=opentelemetry,bsp_max_queue_size=bad_value", R"(Bad option: "--trace-config opentelemetry,bsp_max_queue_size". Invalid option value. Got bad_value, expected a whole number)"},
    {"--trace-config=opentelemetry,resource=a", R"(Bad option: "--trace-config opentelemetry,resource". Cannot parse pair option, expected the form <attribute>=<value>. Found: a)"},
    {"--trace-level=loud", R"(Bad option: "--trace-level". invalid value for trace level option: loud, expected OFF, TIMESTAMPS or TENSORS)"},
    {"--metrics-config=x", R"(Bad option: "--metrics-config". --metrics-config option format is '<setting>=<value>'. Got x)"},
    {"--metrics-config=x=1", R"(Bad option: "--metrics-config". unknown setting 'x', expected counter_latencies, histogram_latencies, summary_latencies or summary_quantiles)"},
    {"--metrics-config=summary_quantiles=0.5", R"(Bad option: "--metrics-config". Cannot parse pair option, expected the form <quantile>:<error>. Found: 0.5)"},
    {"--metrics-config=summary_quantiles=1.5:0.1", R"(Bad option: "--metrics-config". Provided option value is out of bound. Got 1.5, expected 0 to 1)"},
    {"--backend-config=onnxruntime", R"(Bad option: "--backend-config". --backend-config option format is '<backend name>,<setting>=<value>'. Got onnxruntime)"},
    {"--backend-config=,a=1", R"(Bad option: "--backend-config". No backend specified. --backend-config option format is <backend name>,<setting>=<value> or <setting>=<value>. Got ,a=1)"},
    {"--backend-config=tensorflow,default-max-batch-size=", R"(Bad option: "--backend-config". --backend-config option format is '<backend name>,<setting>=<value>'. Got tensorflow,default-max-batch-size=)"},
    {"--backend-config=default-max-batch-size=many", R"(Bad option: "--backend-config". Invalid option value. Got many, expected a whole number)"},
    {"--cache-config=size=1", R"(Bad option: "--cache-config". No cache specified. --cache-config option format is <cache name>,<setting>=<value>. Got size=1)"},
    {"--cache-config=local,size=1 --cache-config=redis,port=1", R"(Bad option: "--cache-config". found multiple cache configurations, but only a single cache is currently supported. Got 'local' and 'redis')"},
    {"--rate-limit-resource=a", R"(Bad option: "--rate-limit-resource". option format is '<resource_name>:<count>:<device>' or '<resource_name>:<count>'. Got a)"},
    {"--rate-limit-resource=a:1:2:3", R"(Bad option: "--rate-limit-resource". option format is '<resource_name>:<count>:<device>' or '<resource_name>:<count>'. Got a:1:2:3)"},
    {"--rate-limit-resource=a:-1", R"(Bad option: "--rate-limit-resource". Provided option value is out of bound. Got -1, expected 0 to 2147483647)"},
    {"--cuda-memory-pool-byte-size=0-15", R"(Bad option: "--cuda-memory-pool-byte-size". Cannot parse pair option, expected the form <device>:<bytes>. Found: 0-15)"},
    {"--model-load-gpu-limit=0:1.5", R"(Bad option: "--model-load-gpu-limit". Provided option value is out of bound. Got 1.5, expected 0 to 1)"},
    {"--host-policy=numa-node=0", R"(Bad option: "--host-policy". --host-policy option format is '<policy name>,<setting>=<value>'. Got numa-node=0)"},
    {"--host-policy=cpu,weight=0", R"(Bad option: "--host-policy". Unsupported host policy setting 'weight' is specified, supported settings are 'numa-node', 'cpu-cores')"},
    {"--host-policy=cpu,cpu-cores=3-1", R"(Bad option: "--host-policy". cpu-cores has a range whose first number is above its last: 3-1)"},
    {"--host-policy=cpu,cpu-cores=1-2-3", R"(Bad option: "--host-policy". cpu-cores must be numbers and ranges, for example 0-3,8. Got 1-2-3)"},
    {"--sagemaker-safe-port-range=5", R"(Bad option: "--sagemaker-safe-port-range". Cannot parse pair option, expected the form <first port>-<last port>. Found: 5)"},
    {"--sagemaker-safe-port-range=5-1", R"(Bad option: "--sagemaker-safe-port-range". the first port is above the last port: 5-1)"},
    {"--http-restricted-api=health", R"(Bad option: "--http-restricted-api". option format is '<api>[,<api>...]:<key>=<value>'. Got health)"},
    {"--http-restricted-api=health:=v", R"(Bad option: "--http-restricted-api". option format is '<api>[,<api>...]:<key>=<value>'. Got health:=v)"},
    {"--http-restricted-api=foo:k=v", R"(Bad option: "--http-restricted-api". unknown restricted api 'foo', expected one of: health, metadata, inference, shared-memory, model-config, model-repository, statistics, trace, logging)"},
    {"--grpc-restricted-protocol=health:k=v --grpc-restricted-protocol=metadata,health:k2=v", R"(Bad option: "--grpc-restricted-protocol". restricted protocol 'health' can not be specified in multiple config groups)"},
    {"--http-restricted-api=health,health:k=v", R"(Bad option: "--http-restricted-api". restricted api 'health' can not be specified in multiple config groups)"},
    {"", "--model-repository must be specified, for example --model-repository=/models"},
    {"--model-store=/m --load-model=a", "Error: Use of '--load-model' requires setting '--model-control-mode=explicit' as well."},
    {"--model-store=/m --model-control-mode=explicit --load-model=* --load-model=a", R"(Bad option: "--load-model". '*' loads all models and must be the only value of this flag)"},
    {"--model-store=/m --auth-protect-health=true", "--auth-protect-health needs --auth-file, which says who has a role"},
    {"--model-store=/m --admin-address=127.0.0.1", "--admin-address needs --admin-port"},
    {"--admin-port=65536", R"(Bad option: "--admin-port". Provided option value is out of bound. Got 65536, expected 0 to 65535)"},
    {"--model-store=/m --admin-port=8000 --admin-address=0.0.0.0", "The server cannot listen to HTTP requests and management requests at the same address and port 0.0.0.0:8000"},
    {"--model-store=/m --http-port=8001", "The server cannot listen to HTTP requests and GRPC requests at the same address and port 0.0.0.0:8001"},
    {"--model-store=/m --metrics-port=8001", "The server cannot listen to GRPC requests and metrics requests at the same address and port 0.0.0.0:8001"},
    {"--model-store=/m --http-address=unix:/s --metrics-address=unix:/s", "The server cannot listen to HTTP requests and metrics requests at the same Unix socket unix:/s"},
    {"--unix-socket-mode=668", R"(Bad option: "--unix-socket-mode". Invalid option value. Got 668, expected octal digits from 0 to 0777)"},
    {"--sequence-id-header=a:b", R"(Bad option: "--sequence-id-header". the name of a header has 1 to 64 letters, digits, '-', '_' and '.', and does not end with -bin. Got a:b)"},
    {"--sequence-id-header=", R"(Bad option: "--sequence-id-header". the name of a header has 1 to 64 letters, digits, '-', '_' and '.', and does not end with -bin. Got )"},
    {"--sequence-id-header=id-bin", R"(Bad option: "--sequence-id-header". the name of a header has 1 to 64 letters, digits, '-', '_' and '.', and does not end with -bin. Got id-bin)"},
    {"--sequence-id-header=Authorization", R"(Bad option: "--sequence-id-header". the header Authorization has secrets, and the ids of sequences are none)"},
    {"--replica-name=", R"(Bad option: "--replica-name". the name of a replica has 1 to 128 visible characters of ASCII, without blanks. Got )"},
    {"--max-connections-per-address=-1", R"(Bad option: "--max-connections-per-address". Provided option value is out of bound. Got -1, expected 0 to 2147483647)"},
    {"--http-cors-allow-origin=https://a/", R"(Bad option: "--http-cors-allow-origin". the origin of a web page has the form https://host[:port] in lower case, or is * for all pages. Got https://a/)"},
    {"--model-store=/m --allow-sagemaker=1 --allow-vertex-ai=1", "The server cannot listen to SageMaker requests and Vertex AI requests at the same address and port 0.0.0.0:8080"},
    {"--model-store=/m --allow-sagemaker=1 --sagemaker-safe-port-range=8000-8001", "The server cannot listen to metrics requests at port 8002, allowed port range is [8000, 8001]"},
    {"--model-store=/m --response-cache-byte-size=1 --cache-config=local,size=1", "Error: Incompatible flags --response-cache-byte-size and --cache-config both provided, use --cache-config alone"},
        // clang-format on
};

TEST(CommandLineTest, MistakesHaveExactLines) {
  for (const ErrorCase& mistake : kErrors) {
    const auto parsed = Parse(Words(mistake.flags));
    ASSERT_FALSE(parsed.ok()) << mistake.flags;
    EXPECT_EQ(parsed.status().message(), mistake.line) << mistake.flags;
    EXPECT_EQ(parsed.status().code(), base::StatusCode::kInvalidArgument);
  }
}

TEST(CommandLineTest, MessagesAreOneLineForEveryValue) {
  EXPECT_EQ(
      Parse({"--http-port=1\n2\x1b"}).status().message(),
      R"(Bad option: "--http-port". Invalid option value. Got 1?2?, expected a whole number)");
  EXPECT_EQ(Parse({"a\nb"}).status().message(), "Unexpected argument: a?b");
}

TEST(CommandLineTest, DefaultsEqualTriton) {
  const ServerOptions options = Good({}).options;
  EXPECT_EQ(options.id, "triton");
  EXPECT_EQ(options.exit_timeout_secs, 30);
  EXPECT_EQ(options.drain_secs, 0);
  EXPECT_EQ(options.watchdog_secs, 60);
  EXPECT_FALSE(options.watchdog_liveness);
  EXPECT_EQ(options.http.port, 8000);
  EXPECT_EQ(options.grpc.port, 8001);
  EXPECT_EQ(options.metrics.port, 8002);
  EXPECT_EQ(options.metrics.address, "0.0.0.0");
  EXPECT_EQ(options.repository.poll_secs, 0);
  EXPECT_EQ(options.trace.rate, 1000u);
  EXPECT_EQ(options.trace.count, -1);
  EXPECT_EQ(options.plugins.backend_directory, "/opt/tritonserver/backends");
  EXPECT_THAT(options.repository.paths, ElementsAre("/m"));
  EXPECT_TRUE(options.inline_execution == InlineExecution::kAuto);
  EXPECT_TRUE(options.cpu_plan == CpuPlanMode::kShare);
}

TEST(CommandLineTest, AcceptsBothSpellingsAndAbbreviationsAndTheLastValueWins) {
  const ServerOptions options =
      Good({"--http-port", "1", "--http-por=2", "--strict-r", "off", "--i=x", "--model-store=/b",
            "--model-repository", "/a", "--model-repository=/b"})
          .options;
  EXPECT_EQ(options.http.port, 2);
  EXPECT_FALSE(options.repository.strict_readiness);
  EXPECT_EQ(options.id, "x");  // --inline-execution does not make --i ambiguous
  EXPECT_THAT(options.repository.paths, ElementsAre("/a", "/b", "/m"));
}

TEST(CommandLineTest, PlainValuesSetTheirOptions) {
  const ServerOptions options = Good({"--log-verbose=true",
                                      "--log-format=ISO8601",
                                      "--log-file=/l",
                                      "--log-info=0",
                                      "--disable-auto-complete-config",
                                      "--model-control-mode=poll",
                                      "--http-address=::1",
                                      "--http-restricted-api=health:k=v",
                                      "--grpc-use-ssl-mutual=1",
                                      "--allow-metrics=false",
                                      "--metrics-interval-ms=2.5",
                                      "--min-supported-compute-capability=7.5",
                                      "--allow-client-shm=true",
                                      "--inline-execution=never",
                                      "--cpu-plan=off",
                                      "--auth-file=/a",
                                      "--auth-protect-health=1",
                                      "--admin-address=::1",
                                      "--admin-port=9",
                                      "--http-thread-count=3",
                                      "--execution-watchdog-secs=60",
                                      "--drain-secs=20",
                                      "--watchdog-secs=5",
                                      "--watchdog-liveness=true",
                                      "--repository-settle-secs=3",
                                      "--model-load-timeout-secs=90",
                                      "--enable-sequence-listing=true",
                                      "--access-log=true"})
                                    .options;
  EXPECT_EQ(options.log.verbose, 1);
  EXPECT_TRUE(options.log.access);
  EXPECT_TRUE(options.log.format == base::LogFormat::kIso8601);
  EXPECT_EQ(options.log.file, "/l");
  EXPECT_FALSE(options.log.info);
  EXPECT_TRUE(options.repository.strict_model_config);
  EXPECT_EQ(options.repository.poll_secs, 15);
  EXPECT_EQ(options.metrics.address, "::1");
  EXPECT_EQ(options.http.restricted.size(), 1u);
  EXPECT_TRUE(options.grpc.tls.enabled);
  EXPECT_FALSE(options.metrics.cpu || options.metrics.gpu || options.metrics.enabled);
  EXPECT_EQ(options.metrics.interval_ms, 2);
  EXPECT_DOUBLE_EQ(options.devices.min_supported_compute_capability, 7.5);
  EXPECT_TRUE(options.devices.allow_client_shm == ClientShm::kAll);
  EXPECT_TRUE(options.inline_execution == InlineExecution::kNever);
  EXPECT_TRUE(options.cpu_plan == CpuPlanMode::kOff);
  EXPECT_EQ(options.execution_watchdog_secs, 60);
  EXPECT_EQ(options.drain_secs, 20);
  EXPECT_EQ(options.watchdog_secs, 5);
  EXPECT_TRUE(options.watchdog_liveness);
  EXPECT_EQ(options.repository.settle_secs, 3);
  EXPECT_EQ(options.repository.load_timeout_secs, 90);
  EXPECT_TRUE(options.enable_sequence_listing);
  EXPECT_EQ(options.http.thread_count, 3);
  EXPECT_EQ(options.access.auth_file, "/a");
  EXPECT_TRUE(options.access.protect_health);
  EXPECT_EQ(options.access.admin_address, "::1");
  EXPECT_EQ(options.access.admin_port, 9);
}

TEST(CommandLineTest, SomeValuesIgnoreCase) {
  const ServerOptions options =
      Good({"--model-control-mode=EXPLICIT", "--rate-limit=Execution_Count"}).options;
  EXPECT_TRUE(options.repository.control_mode == ModelControlMode::kExplicit);
  EXPECT_TRUE(options.rate_limit.mode == RateLimitMode::kExecutionCount);
  EXPECT_TRUE(Good({"--model-control-mode=Poll"}).options.repository.control_mode ==
              ModelControlMode::kPoll);
  EXPECT_TRUE(Good({"--rate-limit=OFF"}).options.rate_limit.mode == RateLimitMode::kOff);
}

TEST(CommandLineTest, CompositeValues) {
  const ServerOptions options =
      Good(
          {"--backend-config=onnxruntime,a=b", "--backend-config=default-max-batch-size=8",
           "--cache-config=local,size=10", "--cache-config=local,x=y", "--rate-limit-resource=R1:4",
           "--rate-limit-resource=R2:2:1", "--cuda-memory-pool-byte-size=0:5",
           "--cuda-memory-pool-byte-size=0:6", "--host-policy=cpu,cpu-cores=0-3,8",
           "--model-load-gpu-limit=1:0.5", "--metrics-config=counter_latencies=false",
           "--metrics-config=summary_quantiles=0.5:0.1,0.9:0.2", "--sagemaker-safe-port-range=1-2"})
          .options;
  EXPECT_THAT(options.plugins.backend_config.at("onnxruntime"), ElementsAre(Pair("a", "b")));
  EXPECT_THAT(options.plugins.backend_config.at(""),
              ElementsAre(Pair("default-max-batch-size", "8")));
  EXPECT_EQ(options.plugins.cache_name, "local");
  EXPECT_THAT(options.plugins.cache_config, ElementsAre(Pair("size", "10"), Pair("x", "y")));
  ASSERT_EQ(options.rate_limit.resources.size(), 2u);
  EXPECT_EQ(options.rate_limit.resources[0].count, 4u);
  EXPECT_FALSE(options.rate_limit.resources[0].device.has_value());
  EXPECT_EQ(options.rate_limit.resources[1].device, 1);
  EXPECT_EQ(options.devices.cuda_memory_pool_byte_size.at(0), 6u);
  EXPECT_THAT(options.devices.host_policies.at("cpu"), ElementsAre(Pair("cpu-cores", "0-3,8")));
  EXPECT_DOUBLE_EQ(options.devices.model_load_gpu_limit.at(1), 0.5);
  EXPECT_FALSE(options.metrics.counter_latencies);
  EXPECT_THAT(options.metrics.summary_quantiles, ElementsAre(Pair(0.5, 0.1), Pair(0.9, 0.2)));
  EXPECT_EQ(options.sagemaker.safe_port_range, (std::pair<int, int>(1, 2)));
}

TEST(CommandLineTest, TraceSettings) {
  const TraceOptions trace =
      Good({"--trace-config=level=TIMESTAMPS", "--trace-config=level=tensors",
            "--trace-config=level=off", "--trace-config=rate=5", "--trace-config=count=9",
            "--trace-config=triton,file=/t", "--trace-config=triton,log-frequency=2",
            "--trace-config=mode=opentelemetry", "--trace-config=opentelemetry,url=http://c:1/x",
            "--trace-config=opentelemetry,resource=a=b,c",
            "--trace-config=opentelemetry,resource=service.name=n",
            "--trace-config=opentelemetry,bsp_max_queue_size=7"})
          .options.trace;
  EXPECT_TRUE(trace.timestamps && trace.tensors);
  EXPECT_EQ(trace.rate, 5u);
  EXPECT_EQ(trace.count, 9);
  EXPECT_EQ(trace.file, "/t");
  EXPECT_EQ(trace.log_frequency, 2u);
  EXPECT_TRUE(trace.mode == TraceMode::kOpenTelemetry);
  EXPECT_EQ(trace.otlp_url, "http://c:1/x");
  EXPECT_THAT(trace.resource, ElementsAre(Pair("service.name", "n"), Pair("a", "b,c")));
  EXPECT_EQ(trace.bsp_max_queue_size, 7u);
}

TEST(CommandLineTest, OpenTelemetryFollowsItsEnvironmentBehindTheFlags) {
  std::map<std::string, std::string> environment = {
      {"OTEL_BSP_MAX_QUEUE_SIZE", "9"},
      {"OTEL_BSP_SCHEDULE_DELAY", "11"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1/"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "a=x%20y, b=%2"},
      {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/all.pem"},
      {"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/traces.pem"},
      {"OTEL_RESOURCE_ATTRIBUTES", "k=v,,zone=a%2Cb"}};
  const std::string mode = "--trace-config=mode=opentelemetry";
  const TraceOptions trace =
      Good({mode, "--trace-config=opentelemetry,bsp_schedule_delay=3"}, environment).options.trace;
  EXPECT_EQ(trace.bsp_max_queue_size, 9u);
  EXPECT_EQ(trace.bsp_schedule_delay_ms, 3u);
  EXPECT_EQ(trace.bsp_max_export_batch_size, 512u);
  EXPECT_EQ(trace.otlp_url, "");
  EXPECT_EQ(trace.default_otlp_url, "http://all:1/v1/traces");
  EXPECT_EQ(trace.otlp_certificate, "/traces.pem");
  EXPECT_THAT(trace.otlp_headers, ElementsAre(Pair("a", "x y"), Pair("b", "%2")));
  EXPECT_THAT(trace.environment_resource, ElementsAre(Pair("k", "v"), Pair("zone", "a,b")));

  environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://traces:2/here";
  EXPECT_EQ(Good({mode}, environment).options.trace.default_otlp_url, "http://traces:2/here");
  // Mode triton reads none of it.
  EXPECT_EQ(Good({}, environment).options.trace.bsp_max_queue_size, 2048u);
}

TEST(CommandLineTest, AVariableOfOpenTelemetryThatCannotBeUsedIsNamed) {
  const auto refusal = [](const std::string& name, const std::string& value) {
    return Parse({"--trace-config=mode=opentelemetry", "--model-repository=/m"}, {{name, value}})
        .status()
        .message();
  };
  EXPECT_EQ(refusal("OTEL_BSP_SCHEDULE_DELAY", "5s"),
            R"(Bad option: "OTEL_BSP_SCHEDULE_DELAY". Invalid option value. Got 5s, expected a )"
            R"(whole number)");
  EXPECT_THAT(refusal("OTEL_RESOURCE_ATTRIBUTES", "k"),
              HasSubstr(R"(Bad option: "OTEL_RESOURCE_ATTRIBUTES". expected <key>=<value>)"));
  EXPECT_THAT(refusal("OTEL_EXPORTER_OTLP_HEADERS", "=v"), HasSubstr("expected <key>=<value>"));
}

TEST(CommandLineTest, DeprecatedFlagsWorkAndWarn) {
  const ParsedCommandLine parsed =
      Good({"--strict-model-config=true", "--response-cache-byte-size=1048576", "--trace-file=/t",
            "--trace-rate=7", "--trace-level=max", "--trace-level=TENSORS"});
  EXPECT_TRUE(parsed.options.repository.strict_model_config);
  EXPECT_EQ(parsed.options.plugins.cache_name, "local");
  EXPECT_THAT(parsed.options.plugins.cache_config, ElementsAre(Pair("size", "1048576")));
  EXPECT_EQ(parsed.options.trace.file, "/t");
  EXPECT_EQ(parsed.options.trace.rate, 7u);
  EXPECT_TRUE(parsed.options.trace.timestamps && parsed.options.trace.tensors);
  EXPECT_THAT(
      parsed.warnings,
      ElementsAre("Warning: '--trace-file' has been deprecated and will be removed in future "
                  "releases. Please use '--trace-config triton,file=<filepath> instead.",
                  "Warning: '--trace-rate' has been deprecated and will be removed in future "
                  "releases. Please use '--trace-config rate=<rate value> instead.",
                  "Warning: '--trace-level' has been deprecated and will be removed in future "
                  "releases. Please use '--trace-config level=<OFF|TIMESTAMPS|TENSORS> instead.",
                  "Warning: '--response-cache-byte-size' has been deprecated! This will default "
                  "to the 'local' cache implementation with the provided byte size for its "
                  "config. Please use '--cache-config' instead. The equivalent --cache-config CLI "
                  "args would be: '--cache-config=local,size=1048576'",
                  "Warning: '--strict-model-config' has been deprecated! Please use "
                  "'--disable-auto-complete-config' instead."));
}

TEST(CommandLineTest, CurrentFlagsOverrideDeprecatedOnes) {
  ParsedCommandLine parsed =
      Good({"--strict-model-config=false", "--disable-auto-complete-config", "--trace-rate=7",
            "--trace-config=rate=9", "--trace-level=tensors", "--trace-config=level=timestamps"});
  EXPECT_TRUE(parsed.options.repository.strict_model_config);
  EXPECT_THAT(parsed.warnings,
              ::testing::Contains("Warning: Overriding deprecated '--strict-model-config' from "
                                  "False to True in favor of '--disable-auto-complete-config'!"));
  EXPECT_EQ(parsed.options.trace.rate, 9u);
  EXPECT_TRUE(parsed.options.trace.timestamps);
  EXPECT_FALSE(parsed.options.trace.tensors);
  EXPECT_THAT(parsed.warnings,
              ::testing::Contains("Warning: Overriding deprecated '--trace-rate' in favor of "
                                  "provided rate value in --trace-config!"));
  EXPECT_THAT(Good({"--trace-file=/t", "--trace-config=triton,file=/u"}).warnings,
              ::testing::Contains("Warning: Overriding deprecated '--trace-file' in favor of "
                                  "provided file in --trace-config!"));
  parsed = Good({"--trace-level=tensors", "--trace-level=off"});
  EXPECT_FALSE(parsed.options.trace.timestamps || parsed.options.trace.tensors);
  EXPECT_EQ(Good({"--response-cache-byte-size=0"}).options.plugins.cache_name, "");
}

TEST(CommandLineTest, PortsOnDifferentAddressesAndPortZeroDoNotConflict) {
  EXPECT_TRUE(
      Parse({"--model-store=/m", "--http-port=0", "--grpc-port=0", "--metrics-port=0"}).ok());
  EXPECT_TRUE(Parse({"--model-store=/m", "--http-port=8001", "--http-address=127.0.0.1"}).ok());
  EXPECT_TRUE(Parse({"--model-store=/m", "--http-port=8001", "--allow-grpc=false"}).ok());
}

TEST(CommandLineTest, PlacesOfServicesThatAreOffDoNotMatter) {
  for (const std::string service : {"http", "grpc", "metrics", "sagemaker", "vertex-ai"}) {
    const std::string off = "--allow-" + service + "=0";
    for (const std::string port : {"-47", "65536", "99999999999999"}) {
      const std::string flag = "--" + service + "-port";
      EXPECT_TRUE(Parse({"--model-store=/m", flag, port, off}).ok()) << flag;
      EXPECT_TRUE(Parse({"--model-store=/m", off, flag, port}).ok()) << flag;
      EXPECT_TRUE(Parse({"--model-store=/m", flag, port, flag + "=7000"}).ok()) << flag;
    }
  }
  for (const std::string service : {"http", "grpc", "metrics"}) {
    const std::string off = "--allow-" + service + "=0";
    EXPECT_TRUE(Parse({"--model-store=/m", "--" + service + "-address", "-47", off}).ok());
  }
  EXPECT_EQ(Good({"--http-address", "-47", "--allow-http=0"}).options.metrics.address, "127.0.0.1");
  EXPECT_EQ(Good({"--http-address=::1", "--allow-http=0"}).options.metrics.address, "::1");
  EXPECT_EQ(
      Parse({"--model-store=/m", "--sagemaker-port=-1", "--allow-sagemaker=1"}).status().message(),
      "Bad option: \"--sagemaker-port\". Provided option value is out of bound. Got -1, "
      "expected 0 to 65535");
}

TEST(CommandLineTest, WhatLoadBalancersNeed) {
  EXPECT_EQ(Good({}).options.sequence_id_header, "");
  EXPECT_EQ(Good({}).options.replica_name, "");
  const auto parsed = Good({"--sequence-id-header=X-Sequence-Id", "--replica-name", "pod-1:8000"});
  EXPECT_EQ(parsed.options.sequence_id_header, "X-Sequence-Id");
  EXPECT_EQ(parsed.options.replica_name, "pod-1:8000");
  const auto peers =
      Good({"--sequence-handover-peers=a:1,b:2", "--sequence-handover-token-file=/t"});
  EXPECT_EQ(peers.options.sequence_handover_peers, (std::vector<std::string>{"a:1", "b:2"}));
}

TEST(CommandLineTest, UnixSocketsHaveNoPorts) {
  const auto parsed =
      Good({"--http-address=unix:/h", "--grpc-address=unix-abstract:g", "--http-port=8001"});
  EXPECT_EQ(parsed.options.http.address, "unix:/h");
  EXPECT_EQ(parsed.options.unix_socket_mode, 0660u);
  EXPECT_EQ(parsed.options.metrics.address, "127.0.0.1");  // one socket cannot serve both
  EXPECT_EQ(Good({"--http-address=unix:/h", "--metrics-address=unix:/m"}).options.metrics.address,
            "unix:/m");
  EXPECT_TRUE(Good({"--admin-address=unix:/a"}).options.access.admin_port.has_value());
  EXPECT_EQ(Good({"--unix-socket-mode=0600"}).options.unix_socket_mode, 0600u);
}

TEST(CommandLineTest, OriginsOfWebPages) {
  EXPECT_THAT(Good({"--http-cors-allow-origin=https://a.example,http://localhost:3000",
                    "--http-cors-allow-origin=https://[::1]:8"})
                  .options.http.cors_origins,
              ElementsAre("https://a.example", "http://localhost:3000", "https://[::1]:8"));
  EXPECT_THAT(Good({"--http-cors-allow-origin=*"}).options.http.cors_origins, ElementsAre("*"));
  for (const char* wrong : {"", "null", "example.org", "https://", "://a", "https://A.example",
                            "https://a.example/path", "https://a,*b", "https://a b", "**"}) {
    EXPECT_FALSE(Parse({"--model-store=/m", std::string("--http-cors-allow-origin=") + wrong}).ok())
        << wrong;
  }
}

TEST(CommandLineTest, VertexAiContainers) {
  const std::map<std::string, std::string> environment = {
      {"AIP_MODE", "PREDICTION"}, {"AIP_HTTP_PORT", "9090"}, {"AIP_STORAGE_URI", "gs://b/m"}};
  const auto parsed = Parse({"--allow-grpc=true"}, environment);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(parsed->options.vertex_ai.enabled);
  EXPECT_EQ(parsed->options.vertex_ai.port, 9090);
  EXPECT_FALSE(parsed->options.http.enabled);
  EXPECT_TRUE(parsed->options.grpc.enabled);
  EXPECT_THAT(parsed->options.repository.paths, ElementsAre("gs://b/m"));
  EXPECT_EQ(
      Parse({}, {{"AIP_MODE", "PREDICTION"}, {"AIP_HTTP_PORT", "x"}}).status().message(),
      "Environment variable AIP_HTTP_PORT: Invalid option value. Got x, expected a whole number");
  EXPECT_EQ(Good({"--allow-vertex-ai=false"}, environment).options.http.enabled, false);
}

TEST(CommandLineTest, RoutesOfVertexAi) {
  const auto parsed = Parse({"--model-store=/m"},
                            {{"AIP_PREDICT_ROUTE", "/predict"}, {"AIP_HEALTH_ROUTE", "/health"}});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_FALSE(parsed->options.vertex_ai.enabled);
  EXPECT_EQ(parsed->options.vertex_ai.predict_route, "/predict");
  EXPECT_EQ(parsed->options.vertex_ai.health_route, "/health");
}

TEST(CommandLineTest, SagemakerContainers) {
  const auto with = [](const std::map<std::string, std::string>& environment,
                       const char* enabled = "--allow-sagemaker=true") {
    return Parse({"--model-store=/m", enabled}, environment);
  };
  const auto defaults = with({{"SAGEMAKER_TRITON_PING_MODE", ""}});
  ASSERT_TRUE(defaults.ok()) << defaults.status().message();
  EXPECT_TRUE(defaults->options.sagemaker.ping == SagemakerPing::kReady);
  EXPECT_TRUE(defaults->options.sagemaker.inference == SagemakerInference::kInfer);
  EXPECT_EQ(defaults->options.sagemaker.default_model, "");
  const auto set = with({{"SAGEMAKER_TRITON_PING_MODE", "live"},
                         {"SAGEMAKER_TRITON_INFERENCE_TYPE", "generate_stream"},
                         {"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME", "m"}});
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_TRUE(set->options.sagemaker.ping == SagemakerPing::kLive);
  EXPECT_TRUE(set->options.sagemaker.inference == SagemakerInference::kGenerateStream);
  EXPECT_EQ(set->options.sagemaker.default_model, "m");
  EXPECT_EQ(with({{"SAGEMAKER_TRITON_PING_MODE", "Live"}}).status().message(),
            "Environment variable SAGEMAKER_TRITON_PING_MODE must be ready or live. Got Live");
  EXPECT_EQ(with({{"SAGEMAKER_TRITON_INFERENCE_TYPE", "x"}}).status().message(),
            "Environment variable SAGEMAKER_TRITON_INFERENCE_TYPE must be infer or generate or "
            "generate_stream. Got x");
  EXPECT_TRUE(with({{"SAGEMAKER_TRITON_PING_MODE", "x"}}, "--allow-sagemaker=false").ok());
}

TEST(CommandLineTest, HelpAmongFlagsBehavesAsInTriton) {
  for (const auto& arguments : {std::vector<std::string>{"tritonserver", "--help"},
                                {"./nereid", "serve", "--id=x", "--he"}}) {
    const auto parsed = ParseCommandLine(arguments, {});
    ASSERT_TRUE(parsed.ok());
    EXPECT_TRUE(parsed->action == ParsedCommandLine::Action::kPrint);
    EXPECT_TRUE(parsed->text_on_stderr);
    EXPECT_EQ(parsed->exit_code, 1);
    EXPECT_THAT(parsed->text, HasSubstr("--model-repository <path>"));
  }
}

TEST(CommandLineTest, CommandsOfNereid) {
  const auto print = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "/x/nereid");
    const auto parsed = ParseCommandLine(arguments, {});
    EXPECT_TRUE(parsed.ok() && parsed->action == ParsedCommandLine::Action::kPrint &&
                !parsed->text_on_stderr && parsed->exit_code == 0);
    return parsed.ok() ? parsed->text : "";
  };
  EXPECT_THAT(print({"--version"}), ::testing::MatchesRegex("nereid [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(print({"help"}), HasSubstr("nereid serve --model-repository=<path>"));
  EXPECT_EQ(print({"help"}), print({"--help"}));
  EXPECT_EQ(print({"help", "serve"}), UsageText("nereid serve"));

  EXPECT_EQ(ParseCommandLine({"nereid", "serve", "--model-repository=/m", "--http-port=1"}, {})
                ->options.http.port,
            1);
  EXPECT_EQ(ParseCommandLine({"nereid"}, {}).status().message(),
            "A command is missing, for example: nereid serve --model-repository=/models");
  EXPECT_EQ(ParseCommandLine({}, {}).status().message(),
            "A command is missing, for example: nereid serve --model-repository=/models");
  EXPECT_EQ(ParseCommandLine({"nereid", "--id=x"}, {}).status().message(),
            "Unknown command: --id=x. Flags follow a command: nereid serve --id=x");
  EXPECT_EQ(ParseCommandLine({"nereid", "start"}, {}).status().message(),
            "Unknown command: start. The commands are serve, help and --version");
  CommandLineContext context;
  context.commands = {{"check", "check <directory>", "look at models"}};
  EXPECT_THAT(
      ParseCommandLine({"nereid", "--help"}, context)->text,
      HasSubstr("\n  nereid check <directory>                              look at models\n"));
  EXPECT_EQ(ParseCommandLine({"nereid", "start"}, context).status().message(),
            "Unknown command: start. The commands are serve, check, help and --version");
}

TEST(CommandLineTest, AFlagOverridesTheSearchForPlugIns) {
  EXPECT_EQ(Good({"--backend-directory=/b"}).options.plugins.backend_directory, "/b");
  EXPECT_THAT(Good({}).warnings, IsEmpty());
}

TEST(CommandLineTest, ClientShm) {
  const auto parsed = [](const std::string& value) {
    return Good({"--allow-client-shm=" + value}).options.devices.allow_client_shm;
  };
  EXPECT_TRUE(parsed("true") == ClientShm::kAll);
  EXPECT_TRUE(parsed("sent") == ClientShm::kSent);
  EXPECT_TRUE(parsed("0") == ClientShm::kNone);
}

}  // namespace
}  // namespace nereid::app
