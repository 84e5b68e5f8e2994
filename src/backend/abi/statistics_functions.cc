// SPDX-License-Identifier: Apache-2.0
// The functions with which backends report their executions.
#include "abi/error.h"
#include "abi/handle.h"
#include "backend/backend_instance.h"
#include "request/inference_request.h"
#include "request/response_factory.h"

using nereid::abi::Guard;
using nereid::abi::Unwrap;
using nereid::backend::BackendInstance;
using nereid::backend::ExecutionTimes;
using nereid::backend::ResponseTimes;
using nereid::base::Status;
using nereid::request::Trace;
using nereid::request::TraceActivity;

/// The definition of the opaque C type: collects the values of the setters.
struct TRITONBACKEND_ModelInstanceResponseStatistics {
  TRITONBACKEND_ModelInstance* instance = nullptr;
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  ResponseTimes times;
};

namespace {

void ReportTimes(Trace& trace, const ExecutionTimes& times) {
  trace.Report(TraceActivity::kComputeStart, times.exec_start_ns);
  trace.Report(TraceActivity::kComputeInputEnd, times.compute_start_ns);
  trace.Report(TraceActivity::kComputeOutputStart, times.compute_end_ns);
  trace.Report(TraceActivity::kComputeEnd, times.exec_end_ns);
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns) {
  NEREID_CHECK_NOT_NULL(instance, request);
  // A padding request is not counted.
  if (Unwrap(request).is_null) return nullptr;
  return Guard([&] {
    const ExecutionTimes times{exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns};
    // A backend may report one outcome for a whole batch, although some of its responses are
    // errors.
    const bool succeeded = success && !Unwrap(request).response_factory()->HasFailed();
    BackendInstance::From(instance)->observer().OnRequest(Unwrap(request), succeeded, times);
    if (Trace* const trace = Unwrap(request).trace()) ReportTimes(*trace, times);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns) {
  NEREID_CHECK_NOT_NULL(instance);
  return Guard([&] {
    BackendInstance::From(instance)->observer().OnBatch(
        batch_size, ExecutionTimes{exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns});
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ModelInstanceResponseStatistics** response_statistics) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  return Guard([&] {
    *response_statistics = new TRITONBACKEND_ModelInstanceResponseStatistics();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics) {
  delete response_statistics;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ModelInstance* model_instance) {
  NEREID_CHECK_NOT_NULL(response_statistics, model_instance);
  response_statistics->instance = model_instance;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ResponseFactory* response_factory) {
  NEREID_CHECK_NOT_NULL(response_statistics, response_factory);
  response_statistics->factory = response_factory;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_start) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  response_statistics->times.response_start_ns = response_start;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t compute_output_start) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  response_statistics->times.compute_output_start_ns = compute_output_start;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_end) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  response_statistics->times.response_end_ns = response_end;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, TRITONSERVER_Error* error) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  return Guard([&] {
    response_statistics->times.error = nereid::abi::ToStatus(error);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics) {
  NEREID_CHECK_NOT_NULL(response_statistics);
  return Guard([&] {
    if (response_statistics->instance == nullptr || response_statistics->factory == nullptr) {
      return Status::InvalidArgument(
          "response statistics need a model instance and a response factory");
    }
    ResponseTimes times = response_statistics->times;
    times.response_index = Unwrap(response_statistics->factory)->NextStatisticsIndex();
    BackendInstance::From(response_statistics->instance)->observer().OnResponse(times);
    return Status::Ok();
  });
}

}  // extern "C"
