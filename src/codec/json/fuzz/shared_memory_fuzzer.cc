// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the bodies of the requests that register shared memory, and what the registry
// makes of them. The region's name is the text before the first line end, or nothing.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "codec/json/shared_memory.h"
#include "memory/shared/region_range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exact size, so that a read beyond the end is detected.
  const auto copy = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(copy.get(), data, size);
  const std::string_view input(copy.get(), size);
  const size_t line = input.find('\n');
  const std::string_view name = line == input.npos ? std::string_view() : input.substr(0, line);
  const std::string_view body = line == input.npos ? input : input.substr(line + 1);
  if (const auto region = nereid::codec::json::DecodeCudaRegion(name, body); region.ok()) {
    (void)nereid::codec::json::EncodeCudaRegions({*region});
  }
  auto region = nereid::codec::json::DecodeSystemRegion(name, body);
  if (!region.ok()) return 0;
  (void)nereid::codec::json::EncodeSystemRegions({*region});
  // Whatever is accepted as a part of a region must be inside of it.
  constexpr uint64_t kRegionSize = 1 << 20;
  const bool inside = region->offset < kRegionSize && region->byte_size <= kRegionSize &&
                      region->offset + region->byte_size <= kRegionSize;
  const bool accepted =
      nereid::memory::CheckRegionRange(name, kRegionSize, region->offset, region->byte_size).ok();
  if (accepted != inside) __builtin_trap();
  // Objects of other programs must stay as they are: no object has such a key.
  region->key.insert(0, "/nereid_fuzzer_");
  nereid::memory::SharedRegions regions;
  if (regions.Register(*region).ok()) __builtin_trap();
  return 0;
}
