// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/digest.h"
#include "request/inference_response.h"

namespace nereid::cache {

/// The format of a stored response. All numbers are little-endian; nothing is aligned.
///
///   8   "NRDRESP" and the version of the format, 0x01
///   32  the digest of the request, to detect a cache that mixes up its keys
///   4   number of outputs, 4 number of parameters
///   for each output:     4+n name, 1 data type (TRITONSERVER_DataType), 4 rank, 8 per dimension,
///                        8 byte size
///   for each parameter:  4+n name, 1 kind (0 text, 1 int64, 2 bool, 3 double), value (4+n or 8)
///   the bytes of the outputs, in order
///
/// Nothing follows. The request's id and the model's name and version are not stored; a response
/// takes them from its request.

/// Returns the size of a response in this format. Returns nothing if it cannot be stored: it has an
/// error, more than 4,096 outputs, or an output that is in GPU memory, was not allocated, or whose
/// size contradicts its shape.
std::optional<size_t> EncodedSize(const request::InferenceResponse& response);

/// Writes a response. `out` must have the size that EncodedSize returned.
void EncodeResponse(const request::InferenceResponse& response, const Digest& digest,
                    std::span<char> out);

/// An output of a stored response; its name and data are views of the blob.
struct StoredOutput {
  std::string_view name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;
  std::string_view data;
};

struct StoredResponse {
  std::vector<StoredOutput> outputs;
  std::vector<request::Parameter> parameters;
};

/// Reads a blob from a cache, which may hold anything. Returns nothing unless the whole blob is a
/// response to the request of `digest` in this format.
std::optional<StoredResponse> DecodeResponse(std::string_view blob, const Digest& digest);

}  // namespace nereid::cache
