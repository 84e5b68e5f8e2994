// SPDX-License-Identifier: Apache-2.0
// nereid bench: a load on one model, and what the model does under it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "app/tools/bench/level_report.h"
#include "app/tools/bench/load_levels.h"
#include "app/tools/bench/load_target.h"
#include "app/tools/bench/measure.h"
#include "app/tools/infer/open_inference.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/wait_limit.h"
#include "app/tools/tensors/input_argument.h"
#include "app/tools/tool.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr double kMaxConcurrency = 10'000;
constexpr double kMaxRate = 10'000'000;
constexpr uint64_t kMaxBatch = 1'000'000;

constexpr ToolFlag kFlags[] = {
    {"concurrency", "levels",
     "Requests in flight: 8, 1,2,8, first:last:step (1:16:2), or 1:64:x2 (default 1)"},
    {"request-rate", "levels", "Requests per second instead, in the same forms"},
    {"distribution", "constant|poisson",
     "Distances between the requests of a rate (default constant)"},
    {"connections", "number", "The most requests of a rate in flight at once (default 64)"},
    {"warmup", "seconds", "Time before the measurement of each level (default 1)"},
    {"window", "seconds", "Length of a window (default 2)"},
    {"stability", "percent",
     "How far throughput and mean latency of the last three windows may be from their mean "
     "(default "
     "10)"},
    {"max-windows", "number", "Windows of a level until it counts as not stable (default 10)"},
    kInputFlag,
    kShapeFlag,
    kImageScaleFlag,
    kAudioRateFlag,
    {"batch", "number", "The batch of generated inputs (default 1)"},
    {"zeros", "", "Generate zeros instead of random numbers"},
    {"sequence-length", "number", "Send sequences of that many requests, one on each connection"},
    kModelVersionFlag,
    {"svg", "file", "Write the plot of latency over throughput"},
    {"no-plot", "", "Show no plot behind the table"},
    kInferenceUrlFlag,
    kTokenFlag,
    kCaFlag,
    kFormatFlag,
    kHelpFlag,
};

constexpr char kUsage[] =
    "Usage: nereid bench <model> [flags]\n"
    "\n"
    "Puts a load on a model of any v2 server and measures throughput and latency for each level of "
    "the\n"
    "load. A level is measured in windows until three in a row agree. Inputs without --input are\n"
    "random. QUEUE and COMPUTE are means of a request in the server, from its statistics. "
    "Latencies\n"
    "are in milliseconds; with --request-rate they count from when the request was due.\n"
    "\n"
    "  nereid bench resnet --concurrency 1:16:x2 --svg resnet.svg\n"
    "  nereid bench resnet --url grpc://gpu:8001 --request-rate 100:1000:100\n"
    "\n"
    "Exit codes: 0 measured; 1 requests failed, or a level was not stable; 2 not measured: wrong "
    "flags\n"
    "or inputs, no connection, no such model.\n"
    "\n";

/// What the command line asks for.
struct Plan {
  std::string model, version, fill = "random", svg;
  std::vector<double> levels = {1};
  bool is_rate = false, json = false, plot = true;
  MeasureSettings settings;
  InputArguments inputs;
};

template <typename Number>
Status ReadNumber(const ToolArguments& arguments, const char* flag, Number least, Number most,
                  Number* value) {
  if (!arguments.Has(flag)) return {};
  const auto number = base::ParseWhole<Number>(arguments.Get(flag));
  if (number && *number >= least && *number <= most) {
    *value = *number;
    return {};
  }
  char text[200];
  std::snprintf(text, sizeof(text), "--%s must be a number from %g to %g. Got ", flag,
                static_cast<double>(least), static_cast<double>(most));
  return Status::InvalidArgument(text + arguments.Get(flag));
}

Status ReadLevels(const ToolArguments& arguments, Plan* plan) {
  plan->is_rate = arguments.Has("request-rate");
  if (plan->is_rate && arguments.Has("concurrency")) {
    return Status::InvalidArgument("--concurrency and --request-rate exclude each other");
  }
  const char* const flag = plan->is_rate ? "request-rate" : "concurrency";
  NEREID_ASSIGN_OR_RETURN(plan->levels,
                          ParseLevels(flag, arguments.Get(flag, "1"), plan->is_rate ? 0.01 : 1,
                                      plan->is_rate ? kMaxRate : kMaxConcurrency));
  const std::string distribution = arguments.Get("distribution", "constant");
  plan->settings.is_poisson = distribution == "poisson";
  if (distribution == "poisson" || distribution == "constant") return {};
  return Status::InvalidArgument("--distribution must be constant or poisson. Got " + distribution);
}

Status ReadSettings(const ToolArguments& arguments, MeasureSettings* settings) {
  double percent = 10;
  NEREID_RETURN_IF_ERROR(ReadNumber(arguments, "warmup", 0.0, 3600.0, &settings->warmup_seconds));
  NEREID_RETURN_IF_ERROR(ReadNumber(arguments, "window", 0.01, 3600.0, &settings->window_seconds));
  NEREID_RETURN_IF_ERROR(ReadNumber(arguments, "stability", 0.1, 1e6, &percent));
  NEREID_RETURN_IF_ERROR(
      ReadNumber<size_t>(arguments, "max-windows", kStableWindows, 10'000, &settings->max_windows));
  NEREID_RETURN_IF_ERROR(ReadNumber<size_t>(
      arguments, "connections", 1, static_cast<size_t>(kMaxConcurrency), &settings->connections));
  NEREID_RETURN_IF_ERROR(ReadNumber<uint64_t>(arguments, "batch", 1, kMaxBatch, &settings->batch));
  NEREID_RETURN_IF_ERROR(
      ReadNumber(arguments, "sequence-length", 1, 1'000'000, &settings->sequence_length));
  settings->tolerance = percent / 100;
  return {};
}

base::Result<Plan> ParsePlan(const ToolArguments& arguments) {
  Plan plan;
  NEREID_ASSIGN_OR_RETURN(plan.model, ModelOf(arguments));
  plan.version = arguments.Get("model-version");
  if (!plan.version.empty() && !IsPathSegment(plan.version)) {
    return Status::InvalidArgument("--model-version must be a number or a label. Got " +
                                   plan.version);
  }
  NEREID_ASSIGN_OR_RETURN(plan.json, WantsJson(arguments));
  NEREID_ASSIGN_OR_RETURN(plan.inputs, InputArguments::From(arguments));
  NEREID_RETURN_IF_ERROR(ReadLevels(arguments, &plan));
  NEREID_RETURN_IF_ERROR(ReadSettings(arguments, &plan.settings));
  if (arguments.Has("zeros")) plan.fill = "zeros";
  plan.svg = arguments.Get("svg");
  plan.plot = !arguments.Has("no-plot");
  return plan;
}

/// Sets the batch of the inputs that are generated.
Status SetBatch(const ModelDescription& model, Plan* plan) {
  if (plan->settings.batch == 1) return {};
  for (const TensorSpec& spec : model.inputs) {
    if (plan->inputs.values.contains(spec.name)) {
      return Status::InvalidArgument(
          "--batch is for generated inputs; the values of --input have "
          "their own batch");
    }
    if (plan->inputs.shapes.contains(spec.name)) continue;
    if (spec.dims.empty() || spec.dims[0] != tensor::kVariableDim) {
      return Status::InvalidArgument("--batch: the first dimension of the input '" + spec.name +
                                     "' is not variable: " + tensor::ShapeText(spec.dims));
    }
    tensor::Shape shape = tensor::WithoutVariableDims(spec.dims);
    shape[0] = static_cast<int64_t>(plan->settings.batch);
    plan->inputs.shapes[spec.name] = std::move(shape);
  }
  return {};
}

base::Result<InferCall> MakeCall(const ModelDescription& model, const Plan& plan) {
  InferCall call;
  call.model = plan.model;
  call.version = plan.version;
  NEREID_ASSIGN_OR_RETURN(call.inputs,
                          MakeInputs(model.inputs, model.optional_inputs, plan.inputs, plan.fill));
  return call;
}

/// Makes the bytes of the requests, and of the sequences if there are some.
base::Result<LoadRequest> MakeRequest(const InferenceClient& client, const ModelDescription& model,
                                      const Plan& plan, LoadTarget target) {
  NEREID_ASSIGN_OR_RETURN(const InferCall call, MakeCall(model, plan));
  NEREID_ASSIGN_OR_RETURN(const EncodedCall encoded, client.Encode(call, model));
  LoadRequest request{std::move(target), "", {}};
  request.bytes = RequestBytes(request.target, encoded);
  if (plan.settings.sequence_length == 0) return request;
  request.make_turn = [&client, &model, call, where = request.target](load::Turn turn) {
    InferCall one = call;
    one.parameters = {{"sequence_id", static_cast<int64_t>(turn.id)},
                      {"sequence_start", turn.start},
                      {"sequence_end", turn.end}};
    // The same call was encoded without these parameters above.
    auto bytes = client.Encode(one, model);
    return bytes.ok() ? RequestBytes(where, *bytes) : std::string();
  };
  return request;
}

Status WriteFile(const std::string& path, const std::string& content) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file != nullptr) {
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    if (std::fclose(file) == 0 && written) return {};
  }
  return Status::Unavailable("the file '" + path + "' cannot be written: " + std::strerror(errno));
}

/// Shows lines at once if the program can, else at the end.
class Table {
 public:
  Table(const Plan& plan, const ToolContext& context) : plan_(plan), context_(context) {}
  /// Returns false if nobody reads.
  bool Show(const std::string& line) {
    if (plan_.json) return true;
    if (context_.print) return context_.print(line);
    kept_ += line;
    return true;
  }
  std::string Kept() { return std::move(kept_); }

 private:
  const Plan& plan_;
  const ToolContext& context_;
  std::string kept_;
};

ToolResult RunLevels(InferenceClient& client, const LoadRequest& request, const Plan& plan,
                     const std::string& url, const ToolContext& context) {
  const ReadCounters read = [&]() -> std::optional<ModelCounters> {
    const auto counters = client.Statistics(plan.model);
    return counters.ok() ? std::optional(Sum(*counters, plan.model)) : std::nullopt;
  };
  std::vector<LevelResult> results;
  Table table(plan, context);
  table.Show(LevelHead(plan.is_rate));
  bool failed = false;
  std::string errors;
  for (const double level : plan.levels) {
    auto result = MeasureLevel(request, level, plan.is_rate, plan.settings, read, context.progress);
    if (!result.ok()) {
      return {kCannotRun, table.Kept(), ToolError("bench", result.status().message())};
    }
    failed = failed || !result->is_stable || result->total.errors > 0;
    if (errors.empty() && result->total.errors > 0) {
      errors = ToolError("bench", "a request failed: " + result->first_error);
    }
    if (!table.Show(LevelLine(*result))) return {kCannotRun, "", ""};
    results.push_back(std::move(*result));
  }
  std::string out = table.Kept();
  if (plan.json) out += LevelsJson(results, plan.model, url);
  const std::string plot = plan.json || !plan.plot ? "" : LatencyPlot(results);
  if (!plot.empty()) out += "\n" + plot;
  if (!plan.svg.empty()) {
    const Status written = WriteFile(plan.svg, LatencySvg(results, plan.model + " at " + url));
    if (!written.ok()) return {kCannotRun, out, ToolError("bench", written.message())};
  }
  return {failed ? 1 : 0, std::move(out), std::move(errors)};
}

ToolResult Failed(const Status& status) {
  return {kCannotRun, "", ToolError("bench", status.message())};
}

base::Result<LoadTarget> FindTarget(const ToolArguments& arguments, const std::string& url,
                                    const ToolContext& context) {
  const auto address = IsGrpcUrl(url) ? ParseGrpcUrl(url) : ParseServerUrl(url);
  if (!address.ok()) return address.status();
  NEREID_ASSIGN_OR_RETURN(const std::string token, RemoteServer::TokenOf(arguments, context));
  return ResolveTarget(*address, token, arguments.Get("ca-file"));
}

}  // namespace

ToolResult RunBench(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("bench", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  auto plan = ParsePlan(*arguments);
  if (!plan.ok()) return CannotRun("bench", plan.status().message());
  const auto client = OpenInference(*arguments, context);
  if (!client.ok()) return CannotRun("bench", client.status().message());
  const auto model = (*client)->Describe(plan->model, plan->version);
  if (!model.ok()) return Failed(model.status());
  if (model->decoupled) {
    return Failed(Status::InvalidArgument("'" + plan->model +
                                          "' is decoupled: a request has any "
                                          "number of responses. nereid infer sends such requests"));
  }
  const Status batch = SetBatch(*model, &*plan);
  if (!batch.ok()) return Failed(batch);
  const std::string url = RemoteServer::UrlOf(*arguments, context);
  auto target = FindTarget(*arguments, url, context);
  if (!target.ok()) return Failed(target.status());
  const auto request = MakeRequest(**client, *model, *plan, std::move(*target));
  if (!request.ok()) return Failed(request.status());
  return RunLevels(**client, *request, *plan, url, context);
}

}  // namespace nereid::app::tools
