// SPDX-License-Identifier: Apache-2.0
#include "python/model_calls.h"

#include <cstring>
#include <utility>

#include "base/threads.h"
#include "nereid/backend/log.h"
#include "python/model_control.h"

namespace nereid::python {

using backend::Error;

namespace {

/// In a reply, instead of the code of an error.
constexpr uint32_t kReplyOk = UINT32_MAX;

std::string UnknownMessage(MessageType type) {
  return "it sent a message of the unknown type " + std::to_string(static_cast<unsigned>(type));
}

TRITONSERVER_LogLevel LevelOf(uint32_t level) {
  constexpr TRITONSERVER_LogLevel kLevels[] = {TRITONSERVER_LOG_INFO, TRITONSERVER_LOG_WARN,
                                               TRITONSERVER_LOG_ERROR, TRITONSERVER_LOG_VERBOSE};
  return level < std::size(kLevels) ? kLevels[level] : TRITONSERVER_LOG_INFO;
}

}  // namespace

ModelCalls::ModelCalls(TRITONSERVER_Server* server, std::shared_ptr<Worker> worker,
                       std::function<void(uint64_t, const WireDone&)> ready)
    : server_(server),
      worker_(std::move(worker)),
      ready_(std::move(ready)),
      inner_(server, worker_) {}

void ModelCalls::Reply(Worker* worker, uint64_t id, const Error& error, std::string_view value) {
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kReply, id, worker->segments.read->Take());
  if (error.ok()) {
    out.Number(kReplyOk);
    out.Raw(value);
  } else {
    out.Number(static_cast<uint32_t>(TRITONSERVER_ErrorCode(error.get())));
    out.Raw(TRITONSERVER_ErrorMessage(error.get()));
  }
  worker->call.Post(std::move(message), {}, true);
}

std::string ModelCalls::Handle(const Incoming& in) {
  switch (in.header.type) {
    case MessageType::kLog:
      return HandleLog(in);
    case MessageType::kSend:
      return HandleSend(in);
    case MessageType::kInfer:
      return HandleInfer(in);
    case MessageType::kControl:
      return HandleControl(in);
    case MessageType::kReady:
      return HandleReady(in);
    case MessageType::kCancelInfer:
      inner_.Cancel(in.header.id);
      return "";
    case MessageType::kCloseInfer:
      inner_.Close(in.header.id);
      return "";
    case MessageType::kReleased:
      return "";  // the channel has read the header
    case MessageType::kIsCancelled: {
      WireReader body(in.body);
      const auto request = worker_->requests.Find(body.Number<uint64_t>());
      Reply(in.header.id, {}, request != nullptr && request->IsCancelled() ? "1" : "0");
      return "";
    }
    case MessageType::kAbandon:
      if (const auto request = worker_->requests.Find(in.header.id)) {
        request->Abandon();
        worker_->requests.Remove(in.header.id);
      }
      return "";
    default:
      return UnknownMessage(in.header.type);
  }
}

std::string ModelCalls::HandleLog(const Incoming& in) {
  WireLog log;
  if (auto malformed = ReadLog(in.body, &log)) {
    return std::move(*malformed);
  }
  const TRITONSERVER_LogLevel level = LevelOf(log.level);
  if (TRITONSERVER_LogIsEnabled(level)) {
    const Error ignored(TRITONSERVER_LogMessage(level, std::string(log.file).c_str(),
                                                static_cast<int>(log.line & INT32_MAX),
                                                std::string(log.text).c_str()));
  }
  return "";
}

std::string ModelCalls::HandleSend(const Incoming& in) {
  WireSend send;
  if (auto malformed = ReadSend(in.body, &send)) {
    return std::move(*malformed);
  }
  const bool final = (send.flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  const auto request = worker_->requests.Find(send.request);
  const Error sent = backend::Catching([&]() -> Error {
    SegmentUses content(&worker_->segments, send.data, /*may_lend_inputs=*/false);
    content.Add(send.result.outputs);
    if (request == nullptr) {
      return Error::Internal("Unable to send response. Response sender has been closed.");
    }
    return request->Send(send.result, final, &content);
  });
  if (final && request != nullptr) {
    worker_->requests.Remove(send.request);
  }
  Reply(in.header.id, sent, "");
  return "";
}

std::string ModelCalls::HandleInfer(const Incoming& in) {
  WireInfer infer;
  if (auto malformed = ReadInfer(in.body, &infer)) {
    return std::move(*malformed);
  }
  inner_.Start(in.header.id, infer);
  return "";
}

std::string ModelCalls::HandleReady(const Incoming& in) {
  WireDone answer;
  if (auto malformed = ReadDone(in.body, &answer)) {
    return std::move(*malformed);
  }
  ready_(in.header.id, answer);
  return "";
}

std::string ModelCalls::HandleControl(const Incoming& in) {
  WireControl control;
  if (auto malformed = ReadControl(in.body, &control)) {
    return std::move(*malformed);
  }
  switch (control.function) {
    case ControlFunction::kLoadModel:
    case ControlFunction::kUnloadModel:
    case ControlFunction::kIsModelReady:
      StartLoad(in.header.id, control);
      return "";
    default: {
      std::string value;
      const Error result = backend::Catching([&] {
        return control.function == ControlFunction::kTraceContext ? TraceContext(control, &value)
                                                                  : CallMetrics(control, &value);
      });
      // A call without an id is that of a destructor, which waits for nothing.
      if (in.header.id != 0) {
        Reply(in.header.id, result, value);
      }
      return "";
    }
  }
}

Error ModelCalls::TraceContext(const WireControl& control, std::string* value) {
  const auto request =
      control.arguments.empty() ? nullptr : worker_->requests.Find(NumberOf(control.arguments[0]));
  *value = request == nullptr ? "" : request->TraceContext();
  return {};
}

Error ModelCalls::CallMetrics(const WireControl& control, std::string* value) {
  const std::vector<std::string_view>& arguments = control.arguments;
  const uint64_t number = arguments.empty() ? 0 : NumberOf(arguments[0]);
  uint64_t created = 0;
  double read = 0;
  Error result;
  switch (control.function) {
    case ControlFunction::kNewMetricFamily:
      result = metrics_.NewFamily(arguments, &created);
      *value = std::to_string(created);
      return result;
    case ControlFunction::kDeleteMetricFamily:
      return metrics_.DeleteFamily(number);
    case ControlFunction::kNewMetric:
      result = metrics_.New(arguments, &created);
      *value = std::to_string(created);
      return result;
    case ControlFunction::kDeleteMetric:
      return metrics_.Delete(number);
    case ControlFunction::kChangeMetric:
      if (arguments.size() != 3 || arguments[2].size() != sizeof(double)) {
        return Error::InvalidArgument("an operation on a metric needs a name and a number");
      }
      std::memcpy(&read, arguments[2].data(), sizeof(double));
      return metrics_.Change(number, arguments[1], read);
    case ControlFunction::kMetricValue:
      result = metrics_.Value(number, &read);
      value->assign(reinterpret_cast<const char*>(&read), sizeof(read));
      return result;
    default:
      return Error::InvalidArgument("the server has no such function for Python models");
  }
}

void ModelCalls::StartLoad(uint64_t id, const WireControl& control) {
  JoinLoads(false);
  if (loads_.size() >= kMaxLoads) {
    Reply(
        id,
        Error(TRITONSERVER_ERROR_UNAVAILABLE, "the Python model has " + std::to_string(kMaxLoads) +
                                                  " calls for other models at work already"),
        "");
    return;
  }
  Load load;
  load.done = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::string> arguments(control.arguments.begin(), control.arguments.end());
  base::Result<std::thread> started = base::StartThread(
      "python_load", [server = server_, worker = worker_, function = control.function, id,
                      done = load.done, arguments = std::move(arguments)] {
        std::string value;
        const Error result =
            backend::Catching([&] { return ControlModel(server, function, arguments, &value); });
        Reply(worker.get(), id, result, value);
        *done = true;
      });
  if (!started.ok()) {
    Reply(id, Error(TRITONSERVER_ERROR_UNAVAILABLE, started.status().message()), "");
    return;
  }
  load.thread = std::move(started).value();
  loads_.push_back(std::move(load));
}

void ModelCalls::JoinLoads(bool all) {
  std::erase_if(loads_, [all](Load& load) {
    if (!all && !load.done->load()) {
      return false;
    }
    load.thread.join();
    return true;
  });
}

void ModelCalls::BeginClose() {
  inner_.CloseAll();
  metrics_.Clear();
}

bool ModelCalls::IsClosed() {
  JoinLoads(false);
  return loads_.empty() && inner_.IsEmpty();
}

void ModelCalls::Close() {
  inner_.WaitUntilNone();
  JoinLoads(true);
}

}  // namespace nereid::python
