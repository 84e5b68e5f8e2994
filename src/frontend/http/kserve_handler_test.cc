// SPDX-License-Identifier: Apache-2.0
// The replies of all endpoints, without a network.
#include "frontend/http/kserve_handler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include "api/testing/fake_inference_service.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/reply_stream.h"
#include "memory/shared/testing/temporary_object.h"

namespace nereid::frontend::http {
namespace {

using api::testing::FakeInferenceService;

/// An exchange without a connection.
class FakeExchange final : public Exchange,
                           public request::ResponseSink,
                           public std::enable_shared_from_this<FakeExchange> {
 public:
  using Exchange::request;

  void Finish() noexcept override {
    if (next != nullptr) return std::exchange(next, nullptr)();
    finished.release();
  }
  void ContinueWith(std::function<void()> then) override { next = std::move(then); }
  std::shared_ptr<request::ResponseSink> BecomeSink(std::shared_ptr<request::Cancellation>,
                                                    ReplyForm form) override {
    set_reply_form(form);
    is_sink = true;
    return shared_from_this();
  }
  std::shared_ptr<ReplyStream> BeginStream(std::shared_ptr<request::Cancellation>,
                                           const StreamForm& form) override {
    reply().content_type = form.content_type;
    stream = std::make_shared<ReplyStream>(kStreamLimit, std::chrono::milliseconds{0},
                                           [this](std::shared_ptr<ReplyStream> ready) {
                                             ReplyStream::Ready taken = ready->Take();
                                             reply().status = taken.status;
                                             for (const auto& piece : taken.pieces)
                                               reply().text << piece.text;
                                             if (taken.ended) Finish();
                                           });
    return stream;
  }
  void ResignSink() override {
    is_sink = false;
    stream.reset();
  }
  bool IsGone() const noexcept override { return false; }
  std::shared_ptr<Exchange> Share() override { return shared_from_this(); }
  void Send(std::unique_ptr<request::InferenceResponse> sent, bool final) noexcept override {
    if (sent != nullptr && count++ == 0) response = std::move(sent);
    if (final) Finish();
  }

  static constexpr size_t kStreamLimit = 1 << 20;
  bool is_sink = false;
  std::shared_ptr<ReplyStream> stream;
  std::unique_ptr<request::InferenceResponse> response;
  int count = 0;
  std::function<void()> next;
  std::counting_semaphore<> finished{0};
};

struct Answer {
  int status;
  std::string type;
  std::string fields;
  std::string body;
};

class KserveHandlerTest : public ::testing::Test {
 protected:
  Answer Ask(Method method, const std::string& target, const std::string& body = "",
             const std::string& encoding = "", const std::string& accept = "",
             const char* header_length = nullptr) {
    auto handler = MakeKserveHandler({}, service_);
    auto exchange = std::make_shared<FakeExchange>();
    RequestHead& head = exchange->request().head;
    head.method = method;
    EXPECT_TRUE(head.SetTarget(target));
    head.content_encoding = encoding;
    head.accept_encoding = accept;
    if (header_length != nullptr) head.inference_header_length = header_length;
    head.deadline_ns = deadline_ns_;
    Body& content = exchange->request().body;
    content.buffer = memory::HostBuffer::Allocate(body.size());
    content.size = body.size();
    if (!body.empty()) std::memcpy(content.buffer.data(), body.data(), body.size());
    handler->Handle(*exchange);
    exchange->finished.acquire();
    if (exchange->is_sink &&
        !handler->MakeInferenceReply(*exchange, std::move(exchange->response), exchange->count)) {
      exchange->finished.acquire();
    }
    std::string text(exchange->reply().text.view());
    for (const auto& piece : exchange->reply().tail) text.append(piece.data, piece.size);
    const Answer answer{exchange->reply().status, std::string(exchange->reply().content_type),
                        exchange->reply().extra_fields, text};
    exchange->reply().Clear();  // the response refers to its sink, the exchange
    return answer;
  }
  Answer Get(const std::string& target) { return Ask(Method::kGet, target); }
  Answer Post(const std::string& target, const std::string& body = "") {
    return Ask(Method::kPost, target, body);
  }

  void Expect(const Answer& answer, int status, const std::string& type, const std::string& body) {
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.type, type);
    EXPECT_EQ(answer.body, body);
  }

  FakeInferenceService service_;
  uint64_t deadline_ns_ = 0;
};

TEST_F(KserveHandlerTest, Health) {
  Expect(Get("/v2/health/live"), 200, "text/plain", "");
  Expect(Get("/v2/health/ready?x=1"), 200, "text/plain", "");
  service_.ready = false;
  Expect(Get("/v2/health/ready"), 400, "text/plain", "");
  Expect(Get("/v2/models/echo/ready"), 200, "text/plain", "");
  Expect(Get("/v2/models/echo/versions/9/ready"), 400, "text/plain",
         R"({"error":"Model version not ready"})");
}

TEST_F(KserveHandlerTest, HealthOfKservesOlderProtocol) {
  Expect(Get("/"), 200, "application/json", R"({"status":"alive"})");
  Expect(Get("/v1/models/echo"), 200, "application/json", R"({"name":"echo","ready":true})");
  Expect(Get("/v1/models/no\"ne"), 404, "application/json",
         R"({"error":"Model with name no\"ne does not exist."})");
  Expect(Post("/"), 405, "application/json", R"({"error":"Method Not Allowed"})");
  Expect(Post("/v1/models/echo"), 405, "application/json", R"({"error":"Method Not Allowed"})");
}

TEST_F(KserveHandlerTest, Metadata) {
  Expect(Get("/v2"), 200, "application/json",
         R"({"name":"triton","version":"2.51.0","extensions":["classification",)"
         R"("binary_tensor_data","statistics"]})");
  EXPECT_EQ(Get("/v2/models/echo/versions/2").body.find(R"({"name":"echo","versions":["2"])"), 0u);
  Expect(Get("/v2/models/none"), 404, "application/json",
         R"({"error":"Request for unknown model: 'none' is not found"})");
}

TEST_F(KserveHandlerTest, WrongPathsAndMethods) {
  Expect(Get("/v2/"), 404, "text/plain", R"({"error":"Not Found"})");
  Expect(Get("/v2/models/echo/infer"), 405, "text/plain", R"({"error":"Method Not Allowed"})");
  Expect(Post("/v2"), 405, "application/json", R"({"error":"Method Not Allowed"})");
  EXPECT_EQ(Post("/v2").fields, "Allow: GET, HEAD\r\n");
  EXPECT_EQ(Get("/v2/models/echo/infer").fields, "Allow: POST\r\n");
  EXPECT_EQ(Ask(Method::kHead, "/v2/models/echo/infer").status, 405);
  EXPECT_EQ(Ask(Method::kPut, "/v2/drain").fields, "Allow: GET, HEAD, POST, DELETE\r\n");
  Expect(Get("/v2/repository/index"), 405, "application/json", R"({"error":"Method Not Allowed"})");
}

TEST_F(KserveHandlerTest, HeadHasTheReplyOfGet) {
  for (const char* path : {"/v2", "/v2/health/live", "/v2/models/echo", "/v2/models/stats", "/",
                           "/v2/models/echo/config", "/v2/models/echo/ready", "/v2/models/none"}) {
    const Answer get = Get(path);
    const Answer head = Ask(Method::kHead, path);  // the connection leaves the body out
    EXPECT_EQ(head.status, get.status) << path;
    EXPECT_EQ(head.body, get.body) << path;
  }
  service_.ready = false;
  EXPECT_EQ(Ask(Method::kHead, "/v2/health/ready").status, 400);
}

TEST_F(KserveHandlerTest, NamesInPathsAreDecoded) {
  service_.models["a b/c"] = service_.models["echo"];
  EXPECT_EQ(Get("/v2/models/a%20b%2Fc/ready").status, 200);
  EXPECT_EQ(Get("/v2/models/a%20b/c/ready").status, 404);
  Expect(Get("/v2/models/no%20ne"), 404, "application/json",
         R"({"error":"Request for unknown model: 'no ne' is not found"})");
}

TEST_F(KserveHandlerTest, CompressedBodiesAreInflatedOnEveryRoute) {
  const auto packed = [](const std::string& text, Encoding encoding) {
    const tensor::ByteSpan piece{text.data(), text.size()};
    codec::json::TextBuffer out;
    EXPECT_TRUE(Compress({&piece, 1}, encoding, &out).ok());
    return std::string(out.view());
  };
  const auto post = [&](const std::string& body, const std::string& encoding) {
    return Ask(Method::kPost, "/v2/logging", body, encoding);
  };
  const std::string change = R"({"log_verbose_level":0})";
  const Answer plain = post(change, "");
  EXPECT_EQ(plain.status, 200);
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const std::string name(EncodingName(encoding));
    Expect(post(packed(change, encoding), name), 200, "application/json", plain.body);
    EXPECT_EQ(post(packed(change, encoding) + "x", name).status, 400);
    EXPECT_EQ(post(packed("{", encoding), name).status, post("{", "").status);
    EXPECT_EQ(post("garbage", name).status, 400);
  }
  EXPECT_EQ(post(change, "identity").status, 200);
  const Answer unknown = post(change, "br");
  EXPECT_EQ(unknown.status, 415);
  EXPECT_EQ(unknown.fields, "Accept-Encoding: gzip, deflate\r\n");
}

TEST_F(KserveHandlerTest, UnsupportedExtensionsAreNamed) {
  Expect(Post("/v2/trace/setting"), 501, "application/json",
         R"({"error":"the trace extension is not supported yet"})");
}

TEST_F(KserveHandlerTest, SharedMemoryIsOffByDefault) {
  const char* const off = R"({"error":"Client shared memory is disabled. Start the server with )"
                          R"('--allow-client-shm=true' to enable."})";
  for (const std::string kind : {"/v2/systemsharedmemory", "/v2/cudasharedmemory"}) {
    Expect(Post(kind + "/region/r/register"), 501, "application/json", off);
    Expect(Post(kind + "/register"), 501, "application/json", off);
    Expect(Post(kind + "/region/r/unregister"), 501, "application/json", off);
    Expect(Post(kind + "/unregister"), 501, "application/json", off);
    Expect(Get(kind + "/status"), 200, "application/json", "[]");
    EXPECT_EQ(Get(kind + "/region/r/status").status, 404);
    Expect(Get(kind + "/region/r/register"), 405, "application/json",
           R"({"error":"Method Not Allowed"})");
    Expect(Post(kind + "/status"), 405, "application/json", R"({"error":"Method Not Allowed"})");
  }
}

TEST_F(KserveHandlerTest, SharedMemory) {
  ASSERT_TRUE(service_.shared_memory().Allow(api::AllowedRegions::kAll, {}).ok());
  memory::TemporaryObject object(4096);
  const float values[] = {1.5f, -2.0f};
  object.Write(64, {reinterpret_cast<const char*>(values), sizeof(values)});
  const std::string path = "/v2/systemsharedmemory/region/r";
  const std::string body = R"({"key":")" + object.key() + R"(","byte_size":4096})";
  Expect(Post(path + "/register", body), 200, "application/json", "");
  Expect(Post(path + "/register", body), 400, "application/json",
         R"({"error":"shared memory region 'r' already in manager"})");
  Expect(Get(path + "/status"), 200, "application/json",
         R"([{"name":"r","key":")" + object.key() + R"(","offset":0,"byte_size":4096}])");
  Expect(Post("/v2/systemsharedmemory/register", body), 400, "application/json",
         R"({"error":"'region name' is necessary to register system shared memory region"})");

  const auto infer = [this](const std::string& size) {
    return Post("/v2/models/echo/infer",
                R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[2],"parameters":)"
                R"({"shared_memory_region":"r","shared_memory_offset":64,)"
                R"("shared_memory_byte_size":8}}],"outputs":[{"name":"OUTPUT0","parameters":)"
                R"({"shared_memory_region":"r","shared_memory_byte_size":)" +
                    size + "}}]}");
  };
  Expect(infer("8"), 200, "application/json",
         R"({"model_name":"echo","model_version":"1","outputs":)"
         R"([{"name":"OUTPUT0","datatype":"FP32","shape":[2]}]})");
  EXPECT_EQ(object.Read(0, 8), object.Read(64, 8));
  Expect(infer("7"), 500, "text/plain",
         R"({"error":"shared memory size specified with the request for output 'OUTPUT0' (7 )"
         R"(bytes) should be at least 8 bytes to hold the results"})");
  Expect(Post(path + "/unregister"), 200, "application/json", "");
  Expect(infer("8"), 404, "application/json",
         R"({"error":"Unable to find shared memory region: 'r'"})");
}

TEST_F(KserveHandlerTest, Statistics) {
  EXPECT_EQ(Get("/v2/models/stats").body.find(R"({"model_stats":[{"name":"echo","version":"1")"),
            0u);
  EXPECT_EQ(Get("/v2/models/echo/stats").status, 200);
  Expect(Get("/v2/models/none/stats"), 400, "application/json",
         R"({"error":"requested model 'none' is not available"})");
}

TEST_F(KserveHandlerTest, RepositoryIndex) {
  Expect(Post("/v2/repository/index", R"({"ready":true})"), 200, "application/json",
         R"([{"name":"echo","version":"1","state":"READY"}])");
  EXPECT_EQ(Post("/v2/repository/r/index").status, 200);
  EXPECT_EQ(Post("/v2/repository/index", "{").status, 400);
}

TEST_F(KserveHandlerTest, LoadAndUnload) {
  std::string loaded;
  size_t parameters = 0;
  service_.on_load = [&](const std::string& name, const std::vector<api::LoadParameter>& given) {
    loaded = name;
    parameters = given.size();
  };
  Expect(Post("/v2/repository/models/m/load", R"({"parameters":{"config":"{}"}})"), 200,
         "application/json", "");
  EXPECT_EQ(loaded, "m");
  EXPECT_EQ(parameters, 1u);
  bool with_dependents = false;
  service_.on_unload = [&](const std::string&, bool dependents) { with_dependents = dependents; };
  Expect(Post("/v2/repository/models/m/unload", R"({"parameters":{"unload_dependents":true}})"),
         200, "application/json", "");
  EXPECT_TRUE(with_dependents);
  service_.load_result = base::Status::Unavailable("no");
  Expect(Post("/v2/repository/models/m/load"), 503, "application/json", R"({"error":"no"})");
  Expect(Post("/v2/repository/r/models/m/load"), 501, "application/json",
         R"({"error":"'repository_name' specification is not supported"})");
}

TEST_F(KserveHandlerTest, InferenceFailures) {
  Expect(Post("/v2/models/none/infer"), 404, "text/plain",
         R"({"error":"Request for unknown model: 'none' is not found"})");
  Expect(Post("/v2/models/decoupled/infer"), 501, "text/plain",
         R"({"error":"HTTP end point doesn't support models with decoupled transaction policy"})");
  EXPECT_EQ(Post("/v2/models/echo/versions/99999999999999999999/infer").status, 400);
  Expect(Post("/v2/models/echo/infer", "{}"), 400, "application/json",
         R"({"error":"Unable to parse 'inputs': attempt to access non-existing object member )"
         R"('inputs'"})");
  Expect(Ask(Method::kPost, "/v2/models/echo/infer", "{}", "", "", "3"), 400, "text/plain",
         R"({"error":"inference header size should be in range (0, 2), got: 3"})");
  Expect(Ask(Method::kPost, "/v2/models/echo/infer", "{}", "", "", "x"), 400, "text/plain",
         R"({"error":"Unable to parse Inference-Header-Content-Length, got: x"})");
  service_.infer_refusal = base::Status::Unavailable("Exceeds maximum queue size");
  Expect(Post("/v2/models/echo/infer", R"({"inputs":[]})"), 503, "application/json",
         R"({"error":"Exceeds maximum queue size"})");
}

TEST_F(KserveHandlerTest, Classification) {
  service_.labels = {{"OUTPUT0", {"cat", "dog"}}};
  const auto body = [](const std::string& type, const std::string& data,
                       const std::string& parameters) {
    return R"({"inputs":[{"name":"INPUT0","shape":[3],"datatype":")" + type + R"(","data":)" +
           data + R"(}],"outputs":[{"name":"OUTPUT0","parameters":{)" + parameters + "}}]}";
  };
  Expect(Post("/v2/models/echo/infer", body("FP32", "[1,3,2]", R"("classification":2)")), 200,
         "application/json",
         R"({"model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0",)"
         R"("datatype":"BYTES","shape":[2],"data":["3.000000:1:dog","2.000000:2"]}]})");
  Expect(Post("/v2/models/echo/infer",
              body("INT32", "[1,3,2]", R"("classification":1,"binary_data":true)")),
         200, "application/octet-stream",
         R"({"model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0",)"
         R"("datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":11}}]})" +
             std::string("\7\0\0\0003:1:dog", 11));
  Expect(Post("/v2/models/echo/infer", body("BOOL", "[true,false,true]", R"("classification":2)")),
         400, "text/plain",
         R"({"error":"class result not available for output due to unsupported type 'BOOL'"})");
}

TEST_F(KserveHandlerTest, FailuresOfTheModel) {
  service_.handler = [](std::unique_ptr<request::InferenceRequest> request) {
    FakeInferenceService::Fail(std::move(request), base::Status::Internal("broken"));
  };
  Expect(Post("/v2/models/echo/infer", R"({"inputs":[]})"), 500, "text/plain",
         R"({"error":"broken"})");
  service_.handler = &FakeInferenceService::AnswerNothing;
  Expect(Post("/v2/models/echo/infer", R"({"inputs":[]})"), 500, "text/plain",
         R"({"error":"expected a single response, got 0"})");
}

TEST_F(KserveHandlerTest, RefusalsAfterTheDeadline) {
  const std::string too_late = R"({"error":"the deadline of the request has passed"})";
  const std::string body = R"({"inputs":[]})";
  service_.handler = [](std::unique_ptr<request::InferenceRequest> request) {
    FakeInferenceService::Fail(std::move(request), base::Status::Unavailable("expired"));
  };
  deadline_ns_ = UINT64_MAX;
  Expect(Post("/v2/models/echo/infer", body), 503, "text/plain", R"({"error":"expired"})");
  deadline_ns_ = 1;
  Expect(Post("/v2/models/echo/infer", body), 504, "text/plain", too_late);
  service_.infer_refusal = base::Status::Unavailable("Exceeds maximum queue size");
  Expect(Post("/v2/models/echo/infer", body), 504, "text/plain", too_late);
}

TEST_F(KserveHandlerTest, Compression) {
  const std::string json =
      R"({"inputs":[{"name":"INPUT0","shape":[1],"datatype":"INT32","data":[5]}]})";
  const tensor::ByteSpan piece{json.data(), json.size()};
  codec::json::TextBuffer packed;
  ASSERT_TRUE(Compress({&piece, 1}, Encoding::kDeflate, &packed).ok());
  const Answer answer =
      Ask(Method::kPost, "/v2/models/echo/infer", std::string(packed.view()), "deflate", "gzip");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields, "Content-Encoding: gzip\r\n");
  const auto unpacked = Decompress(answer.body, 0, 1000);
  ASSERT_TRUE(unpacked.ok());
  EXPECT_EQ(unpacked->view(),
            R"({"model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0",)"
            R"("datatype":"INT32","shape":[1],"data":[5]}]})");
  const Answer unknown = Ask(Method::kPost, "/v2/models/echo/infer", "x", "br");
  Expect(unknown, 501, "text/plain", R"({"error":"Unsupported compression type"})");
  EXPECT_EQ(unknown.fields, "Accept-Encoding: gzip, deflate\r\n");
}

}  // namespace
}  // namespace nereid::frontend::http
