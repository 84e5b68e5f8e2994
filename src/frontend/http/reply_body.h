// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "frontend/http/loop_services.h"
#include "frontend/http/reply.h"
#include "frontend/http/reply_stream.h"
#include "frontend/net/out_queue.h"

namespace nereid::frontend::http {

/// Moves the body of a whole reply to `queue`. A large body is not copied. The reply's response is
/// not kept beside its exchange, because the response keeps its sink alive, which is the exchange.
/// `loop` frees a large response when it is written.
void AddBody(const std::shared_ptr<LoopServices>& loop, Reply* reply, net::OutQueue* queue);

/// Adds pieces of a streamed reply to `queue`. They keep their share of the bytes that may wait
/// until they are written.
void AddPieces(std::vector<ReplyStream::Piece> pieces, net::OutQueue* queue);

}  // namespace nereid::frontend::http
