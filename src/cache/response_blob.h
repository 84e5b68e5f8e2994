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

/// The form in which a response is stored. All numbers are little-endian, nothing is aligned.
///
///   8   "NRDRESP" and the version of the form, 0x01
///   32  the digest of the request (a cache that mixes up its keys is noticed)
///   4   number of outputs, 4 number of parameters
///   for each output:     4+n name, 1 data type (TRITONSERVER_DataType), 4 rank, 8 per dimension,
///                        8 byte size
///   for each parameter:  4+n name, 1 kind (0 text, 1 int64, 2 bool, 3 double), value (4+n or 8)
///   the bytes of the outputs, in order
///
/// and nothing behind. The id, the model's name and version are the request's own and not stored.

/// The size of a response in that form. Nothing for one that cannot be stored: with an error, with
/// an output that is not in host memory, was not allocated, or whose size contradicts its shape.
std::optional<size_t> EncodedSize(const request::InferenceResponse& response);

/// Writes a response, for which EncodedSize gave out.size().
void EncodeResponse(const request::InferenceResponse& response, const Digest& digest,
                    std::span<char> out);

/// An output as it is stored; the views are into the blob.
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

/// Reads what a cache gave back, which may be anything: nothing unless the blob is, to the last
/// byte, a response to the request of `digest` in this form.
std::optional<StoredResponse> DecodeResponse(std::string_view blob, const Digest& digest);

}  // namespace nereid::cache
