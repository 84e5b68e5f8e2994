// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::frontend::http {

/// The states of a connection, and all legal transitions besides those to kClosed, which every
/// state has:
///
///     kReading    -> kAnswering   a request is complete, or it is refused
///     kAnswering  -> kWriting     the reply is complete
///     kAnswering  -> kStreaming   the first piece of a streamed reply has come
///     kWriting    -> kReading     the reply is written
///     kStreaming  -> kReading     the last piece is written
///     kWriting    -> kLingering   the reply to a refused request is written
enum class ConnectionState {
  kReading,    // waits for a request, or is in the middle of one
  kAnswering,  // the handler, the core or another thread works on the request
  kWriting,    // a complete reply is being written
  kStreaming,  // the pieces of a reply are written as they come
  kLingering,  // has finished sending; reads, and ignores, until the client has seen it
  kClosed,
};

/// Returns whether a request is being answered. Input that comes meanwhile is kept.
constexpr bool HasExchange(ConnectionState state) {
  return state == ConnectionState::kAnswering || state == ConnectionState::kWriting ||
         state == ConnectionState::kStreaming;
}

}  // namespace nereid::frontend::http
