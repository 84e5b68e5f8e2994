// SPDX-License-Identifier: Apache-2.0
// The bytes of the requests, and the outputs in the bytes of the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "load/connection.h"
#include "options.h"

namespace nereid::bench {

using load::Turn;

/// Returns the input tensor: little-endian, the same numbers every time, with many digits. Empty
/// for an unsupported data type.
std::string MakeTensor(const Options& options);

/// Returns a complete HTTP/1.1 request that infers `tensor`.
std::string MakeHttpRequest(const Options& options, std::string_view tensor, Turn turn = {});

/// Returns a gRPC message, length prefix and ModelInferRequest, that infers `tensor`.
std::string MakeGrpcMessage(const Options& options, std::string_view tensor, Turn turn = {});

/// Returns a request of the options' protocol.
std::string MakeRequest(const Options& options, std::string_view tensor, Turn turn = {});

/// Returns the bytes of the outputs in an HTTP answer with binary data: the part after `json_size`
/// bytes of JSON. Nothing if there is no such part.
std::optional<std::string> OutputOfBinaryBody(std::string_view body, size_t json_size);

/// Returns the numbers of the first "data" array of a JSON answer, as little-endian `datatype`.
std::optional<std::string> OutputOfJsonBody(std::string_view body, std::string_view datatype);

/// Returns the first raw output of the ModelInferResponse in a gRPC message with its length prefix.
std::optional<std::string> OutputOfGrpcMessage(std::string_view message);

}  // namespace nereid::bench
