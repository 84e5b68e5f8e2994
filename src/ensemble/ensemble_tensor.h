// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/ensemble_run.h"
#include "memory/gpu/device_buffer.h"
#include "memory/host_buffer.h"
#include "request/inference_request.h"
#include "request/inference_response.h"

namespace nereid::ensemble {

/// The sequence fields of a request. A model's response may change them for the steps after it.
struct SequenceFields {
  request::CorrelationId correlation_id = uint64_t{0};
  uint32_t flags = 0;
};

/// A tensor of an ensemble: an input, which is a view of the request's, or an output of a step,
/// which owns its bytes. Immutable.
struct EnsembleTensor final : TensorValue {
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;    // as clients of the model that made it see it; an input: reshaped
  bool batching = false;  // whether the shape begins with a batch dimension
  std::vector<request::InputPiece> pieces;
  SequenceFields sequence;

  // The bytes of an output, which are in one piece, and their owner (`buffer`, `device` or
  // `lender`).
  memory::HostBuffer buffer;
  memory::DeviceBuffer device;
  std::shared_ptr<const void> lender;
  char* data = nullptr;
  size_t size = 0;
  memory::MemoryType memory_type = memory::MemoryType::kCpu;
  int64_t memory_type_id = 0;
};

/// Returns a view of an input of the ensemble's request, which must be normalized and outlive the
/// view.
TensorPtr ViewInput(const request::Input& input, bool batching, const SequenceFields& sequence);

/// Moves an output, with its bytes, out of a response.
TensorPtr TakeOutput(request::Output& output, bool batching, const SequenceFields& sequence);

/// Returns `fields` as changed by a response's parameters sequence_id, sequence_start and
/// sequence_end.
SequenceFields WithParameters(SequenceFields fields,
                              const std::vector<request::Parameter>& parameters);

/// Returns the fields as parameters, which every response of an ensemble carries.
std::vector<request::Parameter> ToParameters(const SequenceFields& fields);

}  // namespace nereid::ensemble
