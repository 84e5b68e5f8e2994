// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/exchange_steps.h"

#include <utility>

#include "frontend/http/cors.h"

namespace nereid::frontend::http {

void BeginAccessEntry(ConnectionExchange* exchange, std::string peer) {
  exchange->access_entry().Begin(exchange->head(), std::move(peer),
                                 exchange->request().receive_start_ns,
                                 exchange->body().total_size());
}

void Dispatch(ConnectionExchange& exchange, LoopServices& loop) {
  if (exchange.head().IsPreflight() && loop.options().cors != nullptr) {
    loop.options().cors->AnswerPreflight(exchange.head().origin, &exchange.reply());
    return exchange.Finish();
  }
  loop.handler().Handle(exchange);
}

void CountSent(Exchange& exchange) {
  api::AccessRecord* const record = exchange.access_entry().record();
  if (record == nullptr || exchange.head().method == Method::kHead) return;
  record->AddSent(exchange.reply().body_size());
}

std::string_view FieldsForPages(const HttpServerOptions& options, const RequestHead& head) {
  return options.cors == nullptr ? std::string_view() : options.cors->FieldsFor(head.origin);
}

}  // namespace nereid::frontend::http
