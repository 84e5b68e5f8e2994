// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/forwarding_handler.h"

#include <utility>

namespace nereid::frontend::cloud {

ForwardingHandler::ForwardingHandler(std::shared_ptr<http::KserveRoutes> kserve)
    : kserve_(std::move(kserve)) {}

bool ForwardingHandler::MakeInferenceReply(http::Exchange& exchange,
                                           std::unique_ptr<request::InferenceResponse> response,
                                           int count) {
  return kserve_->MakeInferenceReply(exchange, std::move(response), count);
}

void ForwardingHandler::FreeElsewhere(std::shared_ptr<void> owner) {
  kserve_->FreeElsewhere(std::move(owner));
}

void ForwardingHandler::RefusePath(http::Exchange& exchange, std::string_view service) {
  http::LogRequest(exchange.head(), 400, service);
  exchange.reply().status = 400;
  exchange.reply().content_type = http::kTextType;
  exchange.Finish();
}

}  // namespace nereid::frontend::cloud
