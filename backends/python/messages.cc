// SPDX-License-Identifier: Apache-2.0
#include "python/messages.h"

#include <algorithm>

namespace nereid::python {
namespace {

using Malformed = std::optional<std::string>;

// What the smallest item of a list takes: a count beyond the rest of the message is refused before
// anything is allocated for it.
constexpr uint64_t kLeastTensor = 32;
constexpr uint64_t kLeastResult = 4;
constexpr uint64_t kLeastText = 4;
constexpr uint32_t kMaxRank = 1024;

Malformed TooShort(const char* what) {
  return std::string("a message of the worker ends inside ") + what;
}

bool Fits(const WireReader& in, uint64_t count, uint64_t least) {
  return in.ok() && count <= in.rest().size() / least;
}

bool ReadTensor(WireReader* in, WireTensor* tensor) {
  tensor->data_type = in->Number<uint32_t>();
  const auto rank = in->Number<uint32_t>();
  const auto name_size = in->Number<uint32_t>();
  tensor->segment = in->Number<uint32_t>();
  tensor->offset = in->Number<uint64_t>();
  tensor->size = in->Number<uint64_t>();
  tensor->name = in->RawText(name_size);
  if (rank > kMaxRank || !Fits(*in, rank, sizeof(int64_t))) {
    return false;
  }
  tensor->shape.resize(rank);
  for (int64_t& dim : tensor->shape) {
    dim = in->Number<int64_t>();
  }
  return in->ok();
}

bool ReadTensors(WireReader* in, std::vector<WireTensor>* tensors) {
  const auto count = in->Number<uint32_t>();
  if (!Fits(*in, count, kLeastTensor)) {
    return false;
  }
  tensors->resize(count);
  return std::all_of(tensors->begin(), tensors->end(),
                     [in](WireTensor& tensor) { return ReadTensor(in, &tensor); });
}

bool ReadTexts(WireReader* in, std::vector<std::string_view>* texts) {
  const auto count = in->Number<uint32_t>();
  if (!Fits(*in, count, kLeastText)) {
    return false;
  }
  texts->resize(count);
  for (std::string_view& text : *texts) {
    text = in->Text();
  }
  return in->ok();
}

bool ReadResult(WireReader* in, WireResult* result) {
  result->kind = static_cast<ResultKind>(in->Number<uint32_t>());
  switch (result->kind) {
    case ResultKind::kNone:
    case ResultKind::kReschedule:
    case ResultKind::kLater:
      return in->ok();
    case ResultKind::kError:
      result->code = in->Number<uint32_t>();
      result->text = in->Text();
      return in->ok();
    case ResultKind::kResponse:
      result->parameters = in->Text();
      return ReadTensors(in, &result->outputs);
  }
  return false;
}

}  // namespace

Malformed ReadHeader(Bytes message, MessageHeader* header, Bytes* body) {
  WireReader in(message);
  header->type = static_cast<MessageType>(in.Number<uint8_t>());
  header->flags = in.Number<uint8_t>();
  in.Number<uint16_t>();
  const auto released = in.Number<uint32_t>();
  header->id = in.Number<uint64_t>();
  if (!Fits(in, released, sizeof(uint32_t))) {
    return TooShort("its header");
  }
  header->released.resize(released);
  for (uint32_t& id : header->released) {
    id = in.Number<uint32_t>();
  }
  *body = in.rest();
  return std::nullopt;
}

Malformed ReadResults(Bytes body, WireResults* results) {
  WireReader in(body);
  results->failed = in.Number<uint32_t>() != 0;
  const auto count = in.Number<uint32_t>();
  if (!Fits(in, count, kLeastResult)) {
    return TooShort("the results of a batch");
  }
  results->results.resize(count);
  for (WireResult& result : results->results) {
    if (!ReadResult(&in, &result)) {
      return TooShort("the result of a request");
    }
  }
  results->data = in.rest();
  return std::nullopt;
}

Malformed ReadSend(Bytes body, WireSend* send) {
  WireReader in(body);
  send->request = in.Number<uint64_t>();
  send->flags = in.Number<uint32_t>();
  if (!ReadResult(&in, &send->result)) {
    return TooShort("a response");
  }
  send->data = in.rest();
  return std::nullopt;
}

Malformed ReadInfer(Bytes body, WireInfer* infer) {
  WireReader in(body);
  infer->version = in.Number<int64_t>();
  infer->correlation = in.Number<uint64_t>();
  infer->timeout_us = in.Number<uint64_t>();
  infer->trace = in.Number<uint64_t>();
  infer->flags = in.Number<uint32_t>();
  infer->text_correlation = in.Number<uint8_t>() != 0;
  infer->decoupled = in.Number<uint8_t>() != 0;
  infer->memory = in.Number<uint16_t>();
  infer->model = in.Text();
  infer->request_id = in.Text();
  infer->correlation_text = in.Text();
  infer->parameters = in.Text();
  if (!ReadTexts(&in, &infer->outputs) || !ReadTensors(&in, &infer->inputs)) {
    return TooShort("a request");
  }
  infer->data = in.rest();
  return std::nullopt;
}

Malformed ReadLog(Bytes body, WireLog* log) {
  WireReader in(body);
  log->level = in.Number<uint32_t>();
  log->line = in.Number<uint32_t>();
  log->file = in.Text();
  log->text = in.Text();
  return in.ok() ? Malformed() : TooShort("a log line");
}

Malformed ReadControl(Bytes body, WireControl* control) {
  WireReader in(body);
  control->function = static_cast<ControlFunction>(in.Number<uint32_t>());
  return ReadTexts(&in, &control->arguments) ? Malformed() : TooShort("the call of a function");
}

Malformed ReadDone(Bytes body, WireDone* done) {
  WireReader in(body);
  done->ok = in.Number<uint8_t>() != 0;
  done->asynchronous = in.Number<uint8_t>() != 0;
  done->has_is_ready = in.Number<uint8_t>() != 0;
  in.Number<uint8_t>();
  done->text = in.Text();
  return in.ok() ? Malformed() : TooShort("the end of a call");
}

void WriteHeader(WireWriter* out, MessageType type, uint64_t id,
                 const std::vector<uint32_t>& released) {
  out->Number(static_cast<uint8_t>(type));
  out->Number(uint8_t{0});
  out->Number(uint16_t{0});
  out->Number(static_cast<uint32_t>(released.size()));
  out->Number(id);
  for (const uint32_t segment : released) {
    out->Number(segment);
  }
}

void WriteTensor(WireWriter* out, const WireTensor& tensor) {
  out->Number(tensor.data_type);
  out->Number(static_cast<uint32_t>(tensor.shape.size()));
  out->Number(static_cast<uint32_t>(tensor.name.size()));
  out->Number(tensor.segment);
  out->Number(tensor.offset);
  out->Number(tensor.size);
  out->Raw(tensor.name);
  for (const int64_t dim : tensor.shape) {
    out->Number(dim);
  }
}

bool FindInline(const WireTensor& tensor, Bytes data, Bytes* content) {
  if (tensor.offset > data.size() || tensor.size > data.size() - tensor.offset) {
    *content = {};
    return false;
  }
  *content = data.subspan(tensor.offset, tensor.size);
  return true;
}

}  // namespace nereid::python
