// SPDX-License-Identifier: Apache-2.0
// The bytes of the requests, and the outputs out of the bytes of the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "options.h"

namespace nereid::bench {

/// The input tensor: little-endian, the same numbers every time, none of them round. Empty for a
/// data type that is not supported.
std::string MakeTensor(const Options& options);

/// Which request of which sequence it is; id 0: of none.
struct Turn {
  uint64_t id = 0;
  bool start = false;
  bool end = false;
};

/// A whole HTTP/1.1 request, head and body, that infers `tensor`.
std::string MakeHttpRequest(const Options& options, std::string_view tensor, Turn turn = {});

/// A gRPC message, length prefix and ModelInferRequest, that infers `tensor`.
std::string MakeGrpcMessage(const Options& options, std::string_view tensor, Turn turn = {});

/// Either, as the options' protocol is.
std::string MakeRequest(const Options& options, std::string_view tensor, Turn turn = {});

/// The outputs' bytes in an HTTP answer with binary data: what stands behind the `json_size` bytes
/// of JSON. Nothing if there is no such part.
std::optional<std::string> OutputOfBinaryBody(std::string_view body, size_t json_size);

/// The numbers of the first "data" array of a JSON answer, as little-endian `datatype`.
std::optional<std::string> OutputOfJsonBody(std::string_view body, std::string_view datatype);

/// The first raw output of the ModelInferResponse in a gRPC message with its length prefix.
std::optional<std::string> OutputOfGrpcMessage(std::string_view message);

}  // namespace nereid::bench
