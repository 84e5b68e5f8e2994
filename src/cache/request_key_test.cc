// SPDX-License-Identifier: Apache-2.0
#include "cache/request_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "request/binding.h"
#include "request/discarding_sink.h"
#include "request/testing/make_model.h"

namespace nereid::cache {
namespace {

using request::InferenceRequest;

std::shared_ptr<const request::ModelIdentity> Identity(const std::string& name, int64_t version) {
  auto identity = std::make_shared<request::ModelIdentity>(
      *request::MakeModel("name: \"" + name + "\" backend: \"b\""));
  identity->version = version;
  return identity;
}

std::unique_ptr<InferenceRequest> BaseRequest() {
  auto request = std::make_unique<InferenceRequest>();
  request->SetSink(
      std::make_shared<request::DiscardingSink>());  // without a sink it would send an error
  request->AddInput("A", tensor::DataType::kInt8, {2, 2}).value()->Append("abcd", 4);
  request->AddInput("B", tensor::DataType::kFp16, {2}).value()->Append("efgh", 4);
  request->requested_outputs = {"X", "Y"};
  request->parameters = {{"p", int64_t{1}}, {"q", std::string("r")}};
  request::BindRequest(*request, Identity("m", 1));
  return request;
}

std::string KeyOf(const InferenceRequest& request, const Digest& fingerprint = {}) {
  const auto key = ComputeRequestKey(request, fingerprint);
  return key ? ToHex(*key) : "none";
}

std::string KeyAfter(const std::function<void(InferenceRequest&)>& change) {
  auto request = BaseRequest();
  change(*request);
  return KeyOf(*request);
}

TEST(RequestKeyTest, EveryCoveredFieldChangesIt) {
  const std::map<std::string, std::function<void(InferenceRequest&)>> changes = {
      {"model name", [](auto& r) { request::BindRequest(r, Identity("n", 1)); }},
      {"model version", [](auto& r) { request::BindRequest(r, Identity("m", 2)); }},
      {"input name", [](auto& r) { r.inputs()[0].name = "C"; }},
      {"input type", [](auto& r) { r.inputs()[0].type = tensor::DataType::kUint8; }},
      {"input shape",
       [](auto& r) {
         r.inputs()[0].shape = {4, 1};
       }},
      {"input rank", [](auto& r) { r.inputs()[0].shape = {4}; }},
      {"input bytes", [](auto& r) { r.inputs()[0].pieces[0].data = "abce"; }},
      {"input size", [](auto& r) { r.inputs()[0].pieces[0].size = 3; }},
      {"names swapped", [](auto& r) { std::swap(r.inputs()[0].name, r.inputs()[1].name); }},
      {"one input less", [](auto& r) { EXPECT_TRUE(r.RemoveInput("B").ok()); }},
      {"output name", [](auto& r) { r.requested_outputs[0] = "Z"; }},
      {"one output less", [](auto& r) { r.requested_outputs.pop_back(); }},
      {"order of outputs",
       [](auto& r) {
         r.requested_outputs = {"Y", "X"};
       }},
      {"parameter name", [](auto& r) { r.parameters[0].name = "o"; }},
      {"parameter value", [](auto& r) { r.parameters[0].value = int64_t{2}; }},
      {"parameter kind bool", [](auto& r) { r.parameters[0].value = true; }},
      {"parameter kind double", [](auto& r) { r.parameters[0].value = 1.0; }},
      {"parameter text", [](auto& r) { r.parameters[1].value = std::string("s"); }},
      {"one parameter less", [](auto& r) { r.parameters.pop_back(); }},
  };
  std::map<std::string, std::string> keys = {{KeyOf(*BaseRequest()), "nothing"}};
  for (const auto& [what, change] : changes) {
    const auto [other, added] = keys.try_emplace(KeyAfter(change), what);
    EXPECT_TRUE(added) << what << " and " << other->second;
  }
  Digest fingerprint{};
  fingerprint[31] = 1;
  EXPECT_TRUE(keys.try_emplace(KeyOf(*BaseRequest(), fingerprint), "fingerprint").second);
  EXPECT_EQ(keys.count("none"), 0u);
}

TEST(RequestKeyTest, NothingElseChangesIt) {
  const std::map<std::string, std::function<void(InferenceRequest&)>> changes = {
      {"id", [](auto& r) { r.id = "x"; }},
      {"priority", [](auto& r) { r.priority = 3; }},
      {"timeout", [](auto& r) { r.timeout_us = 4; }},
      {"deadline", [](auto& r) { r.deadline_ns = 5; }},
      {"thread", [](auto& r) { r.may_run_inline = true; }},
      {"times", [](auto& r) { r.times.start_ns = 6; }},
      {"order of inputs", [](auto& r) { std::swap(r.inputs()[0], r.inputs()[1]); }},
      {"order of parameters", [](auto& r) { std::swap(r.parameters[0], r.parameters[1]); }},
      {"pieces",
       [](auto& r) {
         r.inputs()[0].pieces.clear();
         r.inputs()[0].Append("a", 1);
         r.inputs()[0].Append("", 0);
         r.inputs()[0].Append("bcd", 3);
       }},
      {"the version asked for", [](auto& r) { r.model_version = 1; }},
  };
  const std::string key = KeyOf(*BaseRequest());
  for (const auto& [what, change] : changes) EXPECT_EQ(KeyAfter(change), key) << what;
}

TEST(RequestKeyTest, SomeRequestsHaveNone) {
  EXPECT_EQ(KeyAfter([](auto& r) { r.correlation_id = uint64_t{7}; }), "none");
  EXPECT_EQ(KeyAfter([](auto& r) { r.correlation_id = std::string("s"); }), "none");
  EXPECT_EQ(KeyAfter([](auto& r) { r.flags = request::kFlagSequenceEnd; }), "none");
  EXPECT_EQ(
      KeyAfter([](auto& r) { r.inputs()[1].pieces[0].memory_type = memory::MemoryType::kGpu; }),
      "none");
  EXPECT_NE(KeyAfter([](auto& r) { r.correlation_id = std::string(); }), "none");
  EXPECT_EQ(KeyAfter([](auto& r) { r.has_shared_memory = true; }), "none");
}

/// Small random requests, whose parts would be ambiguous if the encoding permitted it.
TEST(RequestKeyTest, TwoDifferentRequestsNeverShareAKey) {
  std::mt19937 random(3);
  const auto text = [&] { return std::string(random() % 3, "ab"[random() % 2]); };
  std::map<std::string, std::string> seen;  // key → description
  size_t same = 0;
  const auto model = Identity("m", 1);
  for (int i = 0; i < 20000; ++i) {
    InferenceRequest request;
    std::string description;
    const auto note = [&](const std::string& part) {
      description += std::to_string(part.size()) + ":" + part + ",";
    };
    std::map<std::string, std::pair<tensor::Shape, std::string>> inputs;
    for (size_t n = random() % 3; n > 0; --n) {
      inputs[text()] = {tensor::Shape(random() % 2, static_cast<int64_t>(random() % 2)), text()};
    }
    for (const auto& [name, content] : inputs) {
      auto* input = request.AddInput(name, tensor::DataType::kInt8, content.first).value();
      input->Append(content.second.data(), content.second.size());
      note(name);
      note(tensor::ShapeText(content.first));
      note(content.second);
    }
    note("outputs");
    for (size_t n = random() % 3; n > 0; --n) note(request.requested_outputs.emplace_back(text()));
    note("parameters");
    if (random() % 2 == 0) {
      request.parameters.push_back({text(), text()});
      note(request.parameters[0].name);
      note(std::get<std::string>(request.parameters[0].value));
    }
    request.SetSink(std::make_shared<request::DiscardingSink>());
    request::BindRequest(request, model);
    const auto [known, added] = seen.try_emplace(KeyOf(request), description);
    EXPECT_EQ(known->second, description);
    same += !added;
  }
  EXPECT_GT(same, 100u) << "the requests do not repeat, so the test shows little";
  EXPECT_GT(seen.size(), 1000u);
}

}  // namespace
}  // namespace nereid::cache
