// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "codec/proto/contents.h"
#include "codec/proto/wire_reader.h"

namespace nereid::codec::proto {

/// Limits of one ModelInferRequest. A message of 2 GiB could otherwise describe billions of empty
/// elements, each of which costs memory and time.
inline constexpr size_t kMaxRequestTensors = 4096;  // inputs and outputs, each
inline constexpr size_t kMaxRequestRawEntries = 65536;
inline constexpr size_t kMaxRequestParameters = 65536;  // of the request and of its tensors, each
inline constexpr size_t kMaxRequestDims = 1 << 20;      // of all inputs together
inline constexpr size_t kMaxContentsPieces = 65536;     // occurrences of `contents`

/// An InferParameter and its key.
struct ParameterView {
  enum class Kind : uint8_t { kUnset, kBool, kInt64, kString, kDouble, kUint64 };
  std::string_view name;
  Kind kind = Kind::kUnset;
  uint64_t bits = 0;      // bool, int64, uint64, or the bits of the double
  std::string_view text;  // kString

  bool AsBool() const { return bits != 0; }
  int64_t AsInt64() const { return static_cast<int64_t>(bits); }
  uint64_t AsUint64() const { return bits; }
  double AsDouble() const;
};

struct InputView {
  std::string_view name;
  std::string_view datatype;
  ViewRange dims;
  ViewRange parameters;
  ContentsView contents;
};

struct OutputView {
  std::string_view name;
  ViewRange parameters;
};

/// A ModelInferRequest as views of the encoded message, which must outlive the views. One object
/// can be reused for many messages; its lists keep their memory. Not thread-safe.
///
/// Merging follows protobuf: the last of repeated singular fields counts, repeated `contents` are
/// concatenated, and the last map entry of a key counts.
class InferRequestView {
 public:
  /// Parses a message. Returns INTERNAL if protobuf's parser would reject it, and INVALID_ARGUMENT
  /// if it exceeds the limits above. After an error the view must not be used.
  base::Status Parse(std::string_view message);

  std::string_view model_name;
  std::string_view model_version;
  std::string_view id;
  std::vector<ParameterView> parameters;
  std::vector<InputView> inputs;
  std::vector<OutputView> outputs;
  std::vector<std::string_view> raw_input_contents;

  std::span<const int64_t> Dims(const InputView& input) const {
    return {dims_.data() + input.dims.begin, input.dims.end - input.dims.begin};
  }
  std::span<const ParameterView> Parameters(ViewRange range) const {
    return {tensor_parameters_.data() + range.begin, range.end - range.begin};
  }
  std::span<const std::string_view> ContentsBodies(const InputView& input) const {
    const ViewRange range = input.contents.bodies;
    return {contents_bodies_.data() + range.begin, range.end - range.begin};
  }

 private:
  void Clear();
  bool ParseFields(std::string_view message);
  bool ParseKnownField(WireReader& reader, uint32_t tag, bool* known);
  bool ParseInput(std::string_view body, InputView* input);
  bool ParseInputField(WireReader& reader, uint32_t tag, InputView* input, bool* known);
  bool ParseOutput(std::string_view body, OutputView* output);
  bool ParseShape(WireReader& reader, bool packed);
  bool Within(size_t count, size_t bound, std::string_view what);

  std::vector<int64_t> dims_;
  std::vector<ParameterView> tensor_parameters_;
  std::vector<std::string_view> contents_bodies_;
  base::Status bound_exceeded_;
};

}  // namespace nereid::codec::proto
