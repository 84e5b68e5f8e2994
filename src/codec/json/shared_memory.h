// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/shared_memory.h"
#include "base/result.h"

namespace nereid::codec::json {

/// Whether a region needs the key of its object.
enum class KeyIs { kRequired, kOptional };

/// Reads the request body {"key": string, "offset": unsigned, "byte_size": unsigned}, whose offset
/// may be missing. `name` is the region's name, from the path. Errors have Triton's codes and
/// texts.
base::Result<memory::SharedRegion> DecodeSystemRegion(std::string_view name, std::string_view json,
                                                      KeyIs key_is = KeyIs::kRequired);

/// Reads the request body {"raw_handle": {"b64": string}, "device_id": unsigned, "byte_size":
/// unsigned}.
base::Result<api::CudaRegion> DecodeCudaRegion(std::string_view name, std::string_view json);

/// Return the response bodies of the status operations. The order of the members is Triton's.
std::string EncodeSystemRegions(const std::vector<memory::SharedRegion>& regions);
std::string EncodeCudaRegions(const std::vector<api::CudaRegion>& regions);

}  // namespace nereid::codec::json
