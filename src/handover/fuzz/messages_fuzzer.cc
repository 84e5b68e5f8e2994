// SPDX-License-Identifier: Apache-2.0
// Decodes arbitrary bytes as each of the messages with which replicas hand sequences over. What was
// decoded must be encoded to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "handover/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::handover;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto check = [bytes](bool is_same) {
    if (!is_same) std::abort();
    if (SecretOf(bytes).size() > kMaxText) std::abort();
  };
  if (const auto claim = DecodeClaim(bytes); claim.ok()) check(Encode(*claim) == bytes);
  if (const auto offer = DecodeOffer(bytes); offer.ok()) check(Encode(*offer) == bytes);
  if (const auto end = DecodeSettlement(bytes); end.ok()) check(Encode(*end) == bytes);
  if (const auto sequence = DecodeSequence(bytes); sequence.ok()) {
    const auto encoded = Encode(*sequence);
    check(encoded.ok() && *encoded == bytes);
  }
  (void)SecretOf(bytes);
  return 0;
}
