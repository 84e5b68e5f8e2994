// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/health_endpoint.h"

#include "api/health.h"
#include "api/status_map.h"
#include "api/version_text.h"
#include "codec/json/health.h"

namespace nereid::frontend::http {

using base::Status;

namespace {

void SetError(Exchange& exchange, const Status& status) {
  exchange.reply().SetError(api::HttpStatus(status.code()), kJsonType, status.message());
}

void SetDocument(Exchange& exchange, int status, std::string_view document) {
  exchange.reply().status = status;
  exchange.reply().content_type = kJsonType;
  exchange.reply().text << document;
}

void SetUnsupported(Exchange& exchange) {
  SetError(exchange, Status::Unsupported("this server does not explain its health"));
}

base::Result<api::DrainReport> ChangeDrain(api::Health& health, const Exchange& exchange,
                                           Method method) {
  if (method == Method::kDelete) return health.ChangeDrain({.drain = false});
  NEREID_ASSIGN_OR_RETURN(const api::DrainChange change,
                          codec::json::DecodeDrainChange(exchange.body().view()));
  return health.ChangeDrain(change);
}

}  // namespace

bool AsksForReasons(const RequestHead& head) { return QueryValue(head.target, "reason") == "true"; }

void HealthEndpoint::Explain(Exchange& exchange, const Route& route) const {
  api::Health* const health = service_.health();
  if (health == nullptr) return SetUnsupported(exchange);
  if (route.endpoint == Endpoint::kServerLive) {
    const api::Liveness liveness = health->ExplainLiveness();
    return SetDocument(exchange, liveness.live ? 200 : 400, codec::json::EncodeLiveness(liveness));
  }
  if (route.endpoint != Endpoint::kModelReady) {
    const api::Readiness readiness = health->ExplainServer();
    return SetDocument(exchange, readiness.ready ? 200 : 400,
                       codec::json::EncodeReadiness(readiness));
  }
  const auto version = api::ParseVersionText(route.version);
  if (!version.ok()) return SetError(exchange, version.status());
  const api::Readiness readiness = health->ExplainModel(std::string(route.model), *version);
  const int no = readiness.status.ok() ? 400 : api::HttpStatus(readiness.status.code());
  SetDocument(exchange, readiness.ready ? 200 : no, codec::json::EncodeReadiness(readiness));
}

void HealthEndpoint::Drain(Exchange& exchange, Method method) const {
  api::Health* const health = service_.health();
  if (health == nullptr) return SetUnsupported(exchange);
  const auto report = method == Method::kGet ? base::Result<api::DrainReport>(health->Drain())
                                             : ChangeDrain(*health, exchange, method);
  if (!report.ok()) return SetError(exchange, report.status());
  SetDocument(exchange, 200, codec::json::EncodeDrain(*report));
}

}  // namespace nereid::frontend::http
