// SPDX-License-Identifier: Apache-2.0
// nereid infer: one request to a model, made from values and files.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "app/tools/infer/open_inference.h"
#include "app/tools/infer/run_many.h"
#include "app/tools/infer/save_output.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/remote/wait_limit.h"
#include "app/tools/tensors/input_argument.h"
#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/tensor_text.h"
#include "app/tools/tool.h"
#include "base/json_writer.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr uint64_t kMaxConcurrency = 256;
constexpr uint64_t kMaxRepeat = 1'000'000'000;

constexpr ToolFlag kFlags[] = {
    kInputFlag,
    kShapeFlag,
    kImageScaleFlag,
    kAudioRateFlag,
    {"output,o", "name or name=file",
     "An output to ask for (default all); with a file it is saved instead of shown: .npy, .json, "
     "else\n        the bytes"},
    {"classes", "number", "Show the classes with the highest scores, with their labels"},
    {"parameter", "name=value",
     "A parameter of the request: true, false, a number, or text; text in quotes stays text"},
    {"id", "text", "The id of the request"},
    kModelVersionFlag,
    {"repeat", "number", "Send the request that many times (default 1)"},
    {"concurrency", "number", "Requests at once (default 1, at most 256)"},
    {"max-elements", "number", "Summarize tensors with more elements (default 200)"},
    kInferenceUrlFlag,
    kTokenFlag,
    kCaFlag,
    kFormatFlag,
    kHelpFlag,
};

constexpr char kUsage[] =
    "Usage: nereid infer <model> --input <name>=<value>... [flags]\n"
    "\n"
    "Sends a request to a model of any v2 server and shows the response. The types and shapes of "
    "the\n"
    "inputs come from the model. The responses of a decoupled model are shown as they arrive.\n"
    "\n"
    "  nereid infer add --input a=1,2,3 --input b='[4,5,6]'\n"
    "  nereid infer resnet --input data=@cat.jpg --image-scale imagenet --classes 5\n"
    "  nereid infer embed --input text='text:Hello' --output vector=hello.npy\n"
    "\n"
    "Exit codes: 0 answered; 1 a request failed; 2 nothing was sent: wrong flags or inputs, no\n"
    "connection, no such model.\n"
    "\n";

/// What the command line asks for.
struct Wish {
  std::string model, version;
  InputArguments inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::string> files;  // by the output's name
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::string id;
  uint64_t classes = 0, repeat = 1, concurrency = 1, max_elements = 200;
  bool json = false;
};

base::Result<uint64_t> NumberOf(const ToolArguments& arguments, const char* flag,
                                uint64_t otherwise, uint64_t least, uint64_t most) {
  if (!arguments.Has(flag)) return otherwise;
  const auto number = base::ParseWhole<uint64_t>(arguments.Get(flag));
  if (number && *number >= least && *number <= most) return *number;
  return Status::InvalidArgument("--" + std::string(flag) + " must be a whole number from " +
                                 std::to_string(least) + " to " + std::to_string(most) + ". Got " +
                                 arguments.Get(flag));
}

ParameterValue ParameterOf(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = base::ParseWhole<int64_t>(text)) return *whole;
  if (const auto number = base::ParseWhole<double>(text)) return *number;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

base::Result<Wish> ParseWish(const ToolArguments& arguments) {
  Wish wish;
  NEREID_ASSIGN_OR_RETURN(wish.model, ModelOf(arguments));
  wish.version = arguments.Get("model-version");
  if (!wish.version.empty() && !IsPathSegment(wish.version)) {
    return Status::InvalidArgument("--model-version must be a number or a label. Got " +
                                   wish.version);
  }
  NEREID_ASSIGN_OR_RETURN(wish.json, WantsJson(arguments));
  NEREID_ASSIGN_OR_RETURN(wish.inputs, InputArguments::From(arguments));
  for (const std::string& text : arguments.All("output")) {
    const size_t equals = text.find('=');
    wish.outputs.push_back(text.substr(0, equals));
    if (equals != text.npos) wish.files[wish.outputs.back()] = text.substr(equals + 1);
  }
  for (const std::string& text : arguments.All("parameter")) {
    NEREID_ASSIGN_OR_RETURN(const auto pair, SplitAssignment("parameter", text));
    wish.parameters.emplace_back(pair.first, ParameterOf(pair.second));
  }
  wish.id = arguments.Get("id");
  NEREID_ASSIGN_OR_RETURN(wish.classes, NumberOf(arguments, "classes", 0, 1, 1'000'000));
  NEREID_ASSIGN_OR_RETURN(wish.repeat, NumberOf(arguments, "repeat", 1, 1, kMaxRepeat));
  NEREID_ASSIGN_OR_RETURN(wish.concurrency,
                          NumberOf(arguments, "concurrency", 1, 1, kMaxConcurrency));
  NEREID_ASSIGN_OR_RETURN(wish.max_elements,
                          NumberOf(arguments, "max-elements", 200, 1, 1'000'000'000));
  wish.concurrency = std::min(wish.concurrency, wish.repeat);
  return wish;
}

base::Result<EncodedCall> EncodeWish(const Wish& wish, const ModelDescription& model,
                                     const InferenceClient& client) {
  InferCall call{wish.model, wish.version, wish.id,     wish.parameters,
                 {},         wish.outputs, wish.classes};
  NEREID_ASSIGN_OR_RETURN(call.inputs,
                          MakeInputs(model.inputs, model.optional_inputs, wish.inputs, ""));
  for (const std::string& name : wish.outputs) {
    if (FindSpec(model.outputs, name) != nullptr) continue;
    std::string all;
    for (const TensorSpec& spec : model.outputs) all += (all.empty() ? "" : ", ") + spec.name;
    return Status::InvalidArgument("the model has no output '" + name + "', its outputs are " +
                                   all);
  }
  if (wish.classes > 0 && call.outputs.empty()) {
    for (const TensorSpec& spec : model.outputs) call.outputs.push_back(spec.name);
  }
  return client.Encode(call, model);
}

std::string ReplyJson(const InferReply& reply, uint64_t latency_ns) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("model_name").String(reply.model);
  json.Key("model_version").String(reply.version);
  if (!reply.id.empty()) json.Key("id").String(reply.id);
  json.Key("latency_us").Integer(latency_ns / 1000).Key("outputs").BeginArray();
  for (const Tensor& output : reply.outputs) {
    json.BeginObject().Key("name").String(output.name);
    json.Key("datatype").String(tensor::DataTypeName(output.type)).Key("shape").BeginArray();
    for (const int64_t dim : output.shape) json.Integer(dim);
    json.EndArray().Key("data");
    WriteFlatValues(output, &json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text + "\n";
}

/// Shows responses and saves outputs.
class Presenter {
 public:
  Presenter(const Wish& wish, const ToolContext& context) : wish_(wish), context_(context) {}

  /// Returns false if a file cannot be written, or nobody reads the output.
  bool Show(InferReply reply, uint64_t latency_ns) {
    std::string head =
        TerminalText(reply.model, 200) + " version " + TerminalText(reply.version, 40);
    if (!reply.id.empty()) head += ", id " + TerminalText(reply.id, 100);
    head += ", " + MillisecondsText(latency_ns) + "\n";
    std::string body;
    for (const Tensor& output : reply.outputs) {
      const auto file = wish_.files.find(output.name);
      if (file == wish_.files.end()) {
        body += wish_.classes > 0 && AreClasses(output)
                    ? ClassesText(output)
                    : TensorText(output, static_cast<int64_t>(wish_.max_elements));
        continue;
      }
      const std::string path = NumberedPath(file->second, shown_);
      status_ = SaveTensor(output, path);
      if (!status_.ok()) return false;
      body += TerminalText(output.name, 200) + "  saved in " + TerminalText(path) + "\n";
    }
    ++shown_;
    if (!wish_.json) return Print(head + body);
    std::erase_if(reply.outputs, [&](const Tensor& t) { return wish_.files.contains(t.name); });
    return Print(ReplyJson(reply, latency_ns));
  }

  /// Writes at once if the program can, so that a stream is seen while it lasts.
  bool Print(const std::string& text) {
    if (context_.print) return context_.print(text);
    kept_ += text;
    return true;
  }

  uint64_t shown() const { return shown_; }
  const Status& status() const { return status_; }
  std::string Kept() { return std::move(kept_); }

 private:
  const Wish& wish_;
  const ToolContext& context_;
  uint64_t shown_ = 0;
  Status status_;
  std::string kept_;
};

ToolResult Finish(Presenter& presenter, const Status& status) {
  if (!presenter.status().ok()) {
    return {kCannotRun, presenter.Kept(), ToolError("infer", presenter.status().message())};
  }
  if (status.ok()) return {0, presenter.Kept(), ""};
  return {1, presenter.Kept(), ToolError("infer", status.message())};
}

ToolResult RunStream(InferenceClient& client, const EncodedCall& call,
                     const ModelDescription& model, const Wish& wish, const ToolContext& context) {
  Presenter presenter(wish, context);
  const uint64_t begin_ns = context.clock->NowNs();
  for (uint64_t i = 0; i < wish.repeat; ++i) {
    const Status status = client.Stream(call, model, [&](InferReply reply) {
      return presenter.Show(std::move(reply), context.clock->NowNs() - begin_ns);
    });
    if (!status.ok() || !presenter.status().ok()) return Finish(presenter, status);
  }
  if (!wish.json) {
    presenter.Print(std::to_string(presenter.shown()) + " responses in " +
                    MillisecondsText(context.clock->NowNs() - begin_ns) + "\n");
  }
  return Finish(presenter, {});
}

ToolResult RunOnce(InferenceClient& client, const EncodedCall& call, const Wish& wish,
                   const ToolContext& context) {
  ManyOutcome outcome = RunMany(client, call, wish.repeat, wish.concurrency, context);
  Presenter presenter(wish, context);
  if (outcome.first_reply &&
      !presenter.Show(std::move(*outcome.first_reply), outcome.first_latency_ns)) {
    return Finish(presenter, {});
  }
  if (wish.repeat > 1) {
    presenter.Print(wish.json ? ManyJson(outcome, wish.concurrency)
                              : ManyText(outcome, wish.concurrency));
  }
  return Finish(presenter, outcome.first_error);
}

}  // namespace

ToolResult RunInfer(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("infer", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto wish = ParseWish(*arguments);
  if (!wish.ok()) return CannotRun("infer", wish.status().message());
  const auto client = OpenInference(*arguments, context);
  if (!client.ok()) return CannotRun("infer", client.status().message());
  const auto model = (*client)->Describe(wish->model, wish->version);
  if (!model.ok()) return {kCannotRun, "", ToolError("infer", model.status().message())};
  if (model->decoupled && wish->concurrency > 1) {
    return CannotRun("infer", "--concurrency is for models that answer once; '" + wish->model +
                                  "' is decoupled");
  }
  const auto call = EncodeWish(*wish, *model, **client);
  if (!call.ok()) return {kCannotRun, "", ToolError("infer", call.status().message())};
  if (model->decoupled) return RunStream(**client, *call, *model, *wish, context);
  return RunOnce(**client, *call, *wish, context);
}

}  // namespace nereid::app::tools
