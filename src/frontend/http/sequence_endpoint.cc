// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/sequence_endpoint.h"

#include <string>

#include "api/sequence_handover.h"
#include "api/status_map.h"

namespace nereid::frontend::http {
namespace {

/// Returns the body of the reply.
base::Result<std::string> Answer(api::SequenceHandover& handover, Endpoint endpoint,
                                 std::string_view body) {
  if (endpoint == Endpoint::kSequenceClaim) return handover.Claim(body);
  NEREID_RETURN_IF_ERROR(endpoint == Endpoint::kSequenceSettle ? handover.Settle(body)
                                                               : handover.Offer(body));
  return std::string();
}

/// Unlike other errors this is not JSON: another replica takes the text as it is.
void SetText(Exchange& exchange, int status, std::string_view text) {
  exchange.reply().status = status;
  exchange.reply().content_type = kTextType;
  exchange.reply().text << text;
}

}  // namespace

void SequenceEndpoint::Reply(Exchange& exchange, Endpoint endpoint) const {
  api::SequenceHandover* const offered = service_.controls().handover;
  if (offered == nullptr) return exchange.reply().SetError(404, kTextType, "Not Found");
  api::SequenceHandover& handover = *offered;
  const std::string_view body = exchange.body().view();
  if (!handover.IsFromReplica(body)) {
    return SetText(exchange, 403, "The message has not the token of the replicas");
  }
  const auto answer = Answer(handover, endpoint, body);
  if (!answer.ok()) {
    return SetText(exchange, api::HttpStatus(answer.status().code()), answer.status().message());
  }
  exchange.reply().content_type = "application/octet-stream";
  exchange.reply().text << *answer;
}

}  // namespace nereid::frontend::http
