// SPDX-License-Identifier: Apache-2.0
// What the connections do with an exchange in both versions of HTTP.
#pragma once

#include <string>
#include <string_view>

#include "frontend/http/connection_exchange.h"
#include "frontend/http/loop_services.h"

namespace nereid::frontend::http {

/// Begins the line of a request, which is complete or refused, in the access log.
void BeginAccessEntry(ConnectionExchange* exchange, std::string peer);

/// Lets the handler answer a complete request. A preflight request is answered by the CORS policy.
void Dispatch(ConnectionExchange& exchange, LoopServices& loop);

/// Counts the body of a whole reply, which the reply to a HEAD request lacks.
void CountSent(Exchange& exchange);

/// Returns the fields that the reply to a request has for web pages, as whole lines.
std::string_view FieldsForPages(const HttpServerOptions& options, const RequestHead& head);

}  // namespace nereid::frontend::http
