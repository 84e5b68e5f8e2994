// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "schedule/sequence/complete_batch.h"
#include "schedule/sequence/sequence_planner.h"

namespace nereid::schedule {

inline constexpr uint32_t kStart = request::kFlagSequenceStart;
inline constexpr uint32_t kEnd = request::kFlagSequenceEnd;
inline constexpr uint64_t kMs = 1'000'000;

/// A planner with instances 1, 2, …, under a time that the test sets.
class SequenceFixture : public ::testing::Test {
 protected:
  ~SequenceFixture() override {
    for (RequestPtr& request : running_) request->response_factory()->Disarm();
    std::vector<Refusal> rest;
    if (planner_ != nullptr) planner_->DropAll(base::Status::Internal("end"), &rest);
    for (Refusal& refusal : rest) refusal.request->response_factory()->Disarm();
    sink_->Clear();
  }

  void Use(const std::string& batching, int max_batch_size = 2, int instances = 1,
           const std::string& rest = "", StartConditions start = {}) {
    model_ = request::MakeModel("name: \"m\" max_batch_size: " + std::to_string(max_batch_size) +
                                " input { name: \"IN\" data_type: TYPE_INT8 dims: [ -1 ] } "
                                "sequence_batching { max_sequence_idle_microseconds: 1000000 " +
                                batching + " } " + rest);
    inputs_ = request::SequenceInputs::Create(model_->config, "/none").value();
    planner_ = std::make_unique<SequencePlanner>(*model_->config, inputs_, start);
    for (int i = 1; i <= instances; ++i) planner_->AddInstance(static_cast<InstanceId>(i), now_);
  }

  RequestPtr Make(request::CorrelationId id, uint32_t flags, const std::string& name = "") {
    auto request = std::make_unique<request::InferenceRequest>();
    request->id = name;
    request->correlation_id = std::move(id);
    request->flags = flags;
    request->batch_size = model_->config->max_batch_size() > 0 ? 1 : 0;
    (void)request->AddInput("IN", tensor::DataType::kInt8, {1, columns_});
    request->SetSink(sink_);
    request::BindRequest(*request, model_);
    cancellations_[name] = request->cancellation();
    return request;
  }
  base::Status Push(RequestPtr request) {
    const base::Status status = planner_->Push(request, now_);
    if (!status.ok()) request->response_factory()->Disarm();
    return status;
  }
  base::Status Send(request::CorrelationId id, uint32_t flags, const std::string& name) {
    return Push(Make(std::move(id), flags, name));
  }

  /// Starts the next batch of an instance: the names of its rows, "-" for padding.
  std::vector<std::string> Next(InstanceId instance = 1) {
    std::vector<Refusal> refused;
    Decision decision = planner_->Next(now_, instance, &refused);
    Note(std::move(refused));
    wake_ = decision.wake_ns;
    std::vector<std::string> rows;
    if (!decision.batch) return rows;
    reason_ = decision.batch->reason;
    for (RequestPtr& request : decision.batch->requests) {
      rows.push_back(request == nullptr ? "-" : request->is_null ? "notice" : request->id);
      if (request != nullptr) running_.push_back(std::move(request));
    }
    return rows;
  }
  void Release(const std::string& name) {
    for (auto request = running_.begin(); request != running_.end(); ++request) {
      if (((*request)->is_null ? "notice" : (*request)->id) != name) continue;
      planner_->OnReleased(**request, now_);
      (*request)->response_factory()->Disarm();
      running_.erase(request);
      return;
    }
    FAIL() << "'" << name << "' is not running";
  }
  /// Executes: Next, then all of it is released.
  std::vector<std::string> Run(InstanceId instance = 1) {
    std::vector<std::string> rows = Next(instance);
    for (const std::string& row : rows) {
      if (row != "-") Release(row);
    }
    return rows;
  }
  void Note(std::vector<Refusal> refused) {
    for (Refusal& refusal : refused) {
      refused_.push_back(refusal.request->id + ": " + refusal.error.message());
      reasons_.push_back(refusal.reason);
      refusal.request->response_factory()->Disarm();
    }
  }
  void Advance(uint64_t ns) {
    now_ += ns;
    std::vector<Refusal> refused;
    planner_->Expire(now_, &refused);
    Note(std::move(refused));
  }
  void DropCancelled() {
    std::vector<Refusal> refused;
    planner_->DropCancelled(now_, &refused);
    Note(std::move(refused));
  }
  uint64_t Ended(SequenceEnd end) const {
    return planner_->CountSequences().ended[static_cast<size_t>(end)].second;
  }
  /// Adds the server's tensors to a batch, and returns the requests for which that failed.
  std::vector<Refusal> Complete(Batch* batch) {
    std::vector<Refusal> failed;
    CompleteSequenceBatch(*inputs_, batch,
                          [&](Refusal refusal) { failed.push_back(std::move(refusal)); });
    return failed;
  }
  /// Queues a running request again.
  void Reschedule(RequestPtr request) {
    planner_->Reschedule(std::move(request), now_);
    TakeRefused();
  }
  void TakeRefused() {
    std::vector<Refusal> refused;
    planner_->TakeRefused(now_, &refused);
    Note(std::move(refused));
  }

  std::shared_ptr<const request::ModelIdentity> model_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::shared_ptr<const request::SequenceInputs> inputs_;
  std::unique_ptr<SequencePlanner> planner_;
  std::map<std::string, std::shared_ptr<request::Cancellation>> cancellations_;
  std::vector<RequestPtr> running_;
  std::vector<std::string> refused_;
  std::vector<telemetry::FailureReason> reasons_;
  BatchReason reason_ = BatchReason::kSingle;
  uint64_t now_ = 1'000 * kMs;
  uint64_t wake_ = 0;
  int64_t columns_ = 1;
};

}  // namespace nereid::schedule
