// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/ensemble_run.h"
#include "memory/host_buffer.h"
#include "request/inference_request.h"
#include "request/inference_response.h"

namespace nereid::ensemble {

/// What a request says of its sequence. A model may change it for the steps behind it.
struct SequenceFields {
  request::CorrelationId correlation_id = uint64_t{0};
  uint32_t flags = 0;
};

/// A tensor of an ensemble: an input of the request, of which it is a view, or an output that a
/// step has made, whose bytes it owns. Never changes.
struct EnsembleTensor final : TensorValue {
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;    // as clients of the member that made it see it; an input: reshaped
  bool batching = false;  // the shape begins with a batch dimension
  std::vector<request::InputPiece> pieces;
  SequenceFields sequence;

  // What keeps the bytes of an output, of which there is one piece.
  memory::HostBuffer buffer;
  std::shared_ptr<const void> lender;
  char* data = nullptr;
  size_t size = 0;
};

/// A view of an input of the ensemble's request, which is normalised and must outlive it.
TensorPtr ViewInput(const request::Input& input, bool batching, const SequenceFields& sequence);

/// Takes an output out of a response, with its bytes.
TensorPtr TakeOutput(request::Output& output, bool batching, const SequenceFields& sequence);

/// `fields` as a response's parameters sequence_id, sequence_start and sequence_end change them.
SequenceFields WithParameters(SequenceFields fields,
                              const std::vector<request::Parameter>& parameters);

/// And the other way: what every response of an ensemble carries.
std::vector<request::Parameter> ToParameters(const SequenceFields& fields);

}  // namespace nereid::ensemble
