// SPDX-License-Identifier: Apache-2.0
// The messages with which replicas of a server hand sequences over to each other.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/correlation_id.h"
#include "request/sequence_states.h"

namespace nereid::handover {

// All numbers are little-endian; nothing is aligned and nothing follows.
//
//   8    "NRDSEQ", the version of the format (0x01), and the kind of the message
//   then, by kind:
//   'C'  claim: text secret, text replica, key
//   'D'  sequence: text hold, key, 8 nanoseconds idle, 2 number of states, and for each state:
//        text name, 1 data type (TRITONSERVER_DataType), 1 rank, 8 per dimension, 8 byte size,
//        bytes
//   'S'  settlement: text secret, text hold, 1 (0 the sender gives it back, 1 it takes it)
//   'O'  offer: text secret, text replica, 2 number of keys, keys
//   text: 2+n.  key: text model, 8 version, 1 kind of id, 8 number (0) or text (1)

/// The limits of the format. A message that exceeds one is refused.
inline constexpr size_t kMaxText = 1024;
inline constexpr size_t kMaxStates = 1024;
inline constexpr size_t kMaxRank = 64;
inline constexpr size_t kMaxOffered = 256;
inline constexpr size_t kMaxSequenceBytes = size_t{256} << 20;

/// Names a sequence among the replicas.
struct SequenceKey {
  std::string model;
  int64_t version = 0;  // of the model, where the sequence is to continue
  request::CorrelationId id = uint64_t{0};
  auto operator<=>(const SequenceKey&) const = default;
};

/// Asks for a sequence.
struct Claim {
  std::string secret;
  std::string replica;  // a random name of the sender, so that a server knows its own questions
  SequenceKey key;
};

/// A sequence that is held for the replica that has asked for it.
struct SequenceMessage {
  std::string hold;  // the random name of the hold, for the settlement
  SequenceKey key;
  uint64_t idle_ns = 0;  // since its last request
  std::vector<request::SavedState> states;
};

/// Ends a hold.
struct Settlement {
  std::string secret;
  std::string hold;
  bool takes = false;
};

/// Names sequences that the receiver may ask for.
struct Offer {
  std::string secret;
  std::string replica;  // as in Claim
  std::vector<SequenceKey> keys;
};

/// Return a message. Texts, counts and ranks must be within the limits; UNSUPPORTED for a sequence
/// that is not.
std::string Encode(const Claim& claim);
std::string Encode(const Settlement& settlement);
std::string Encode(const Offer& offer);
base::Result<std::string> Encode(const SequenceMessage& sequence);

/// Read a message, which may come from anyone. Return INVALID_ARGUMENT, with what is wrong, for
/// bytes that are not exactly one such message.
base::Result<Claim> DecodeClaim(std::string_view bytes);
base::Result<SequenceMessage> DecodeSequence(std::string_view bytes);
base::Result<Settlement> DecodeSettlement(std::string_view bytes);
base::Result<Offer> DecodeOffer(std::string_view bytes);

/// Returns the secret of a claim, a settlement or an offer, a view of `bytes`; an empty text if
/// there is none. Reads nothing behind it.
std::string_view SecretOf(std::string_view bytes);

/// Returns "sequence <id> of model '<name>'".
std::string Named(const SequenceKey& key);

}  // namespace nereid::handover
