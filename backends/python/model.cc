// SPDX-License-Identifier: Apache-2.0
#include "python/model.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "nereid/backend/json.h"
#include "nereid/backend/log.h"
#include "python/completion.h"
#include "python/gpu_sharing.h"
#include "python/worker_argument.h"

namespace nereid::python {

using backend::Error;
using std::chrono::milliseconds;

namespace {

constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                            "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"};

std::string TextOfDocument(const rapidjson::Document& document) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  document.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

/// The CPUs of this thread, which the server has bound if the instance has a host policy; empty if
/// it may use all that the process may use.
std::vector<int> BoundCpus() {
  cpu_set_t own;
  cpu_set_t all;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(own), &own) != 0 ||
      sched_getaffinity(getpid(), sizeof(all), &all) != 0 || CPU_EQUAL(&own, &all)) {
    return cpus;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &own)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

/// Whether an instance group needs resources or has a priority.
bool HasRateLimiter(const rapidjson::Document& config) {
  const rapidjson::Value* groups = backend::Member(&config, "instance_group");
  if (groups == nullptr || !groups->IsArray()) {
    return false;
  }
  return std::any_of(groups->Begin(), groups->End(), [](const rapidjson::Value& group) {
    return backend::MemberCount(backend::Member(&group, "rate_limiter")) > 0;
  });
}

/// Whether requests of the model may be executed again.
bool IsIterative(const rapidjson::Document& config) {
  const rapidjson::Value* sequences = backend::Member(&config, "sequence_batching");
  const rapidjson::Value* iterative = backend::Member(sequences, "iterative_sequence");
  return iterative != nullptr && iterative->IsBool() && iterative->GetBool();
}

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

Error PythonModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelServer(model, &server_));
  NEREID_BACKEND_TRY(Read(model));
  NEREID_BACKEND_TRY(ReadParameters());
  NEREID_BACKEND_TRY(FindModelFile());
  NEREID_BACKEND_TRY(PrepareCommand());
  bool complete = false;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelAutoCompleteConfig(model, &complete));
  return complete ? Complete(model) : Error();
}

Error PythonModel::Read(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  config_text_ = TextOfDocument(document);
  traits_ = {config_.decoupled, config_.batching(), {}};
  for (const backend::StateConfig& state : config_.states) {
    traits_.states.insert(state.output.name);
  }
  pipelined_ = config_.instance_count == 1 && !config_.decoupled && !config_.has_dynamic_batching &&
               !config_.has_sequence_batching && !HasRateLimiter(document);
  shares_inputs_ = !IsIterative(document);
  return {};
}

bool PythonModel::TakeInputMemory(size_t size, void** base, void** memory) noexcept {
  using Block = std::shared_ptr<InputBlock>;
  if (!shares_inputs_ || size > InputArena::kMaxBlock) {
    return false;
  }
  const Error taken = backend::Catching([&]() -> Error {
    std::shared_ptr<InputArena> arena;
    {
      const base::MutexLock lock(mutex_);
      if (input_arena_ == nullptr && !has_no_arena_) {
        const Error created = InputArena::Create(&input_arena_);
        has_no_arena_ = !created.ok();
        if (has_no_arena_) {
          NEREID_BACKEND_LOG(WARN,
                             "model " + config_.name + " copies its inputs: " + created.message());
        }
      }
      arena = input_arena_;
    }
    Block block = arena == nullptr ? nullptr : arena->Take(size);
    if (block == nullptr) {
      return Error::Internal("no memory");
    }
    *base = block->data();
    *memory = new Block(std::move(block));
    return {};
  });
  return taken.ok();
}

size_t PythonModel::PrepareInputMemory(void* memory, size_t begin, size_t end) noexcept {
  return (*static_cast<std::shared_ptr<InputBlock>*>(memory))->Prepare(begin, end);
}

void PythonModel::FreeInputMemory(void* memory) noexcept {
  delete static_cast<std::shared_ptr<InputBlock>*>(memory);
}

std::shared_ptr<InputArena> PythonModel::input_arena() const {
  const base::MutexLock lock(mutex_);
  return input_arena_;
}

Error PythonModel::ReadParameters() {
  constexpr int64_t kMost = int64_t{1} << 50;
  const backend::Parameters& parameters = config_.parameters;
  int64_t memory = static_cast<int64_t>(supervisor_.memory_limit);
  int64_t start_seconds = backend_.settings().stub_timeout_seconds;
  int64_t end_seconds = backend_.settings().stub_timeout_seconds;
  int64_t execution_ms = 0;
  NEREID_BACKEND_TRY(parameters.ReadInt("shared_memory_limit_bytes", 1, kMost, &memory));
  NEREID_BACKEND_TRY(parameters.ReadInt("initialize_timeout_seconds", 0, kMost, &start_seconds));
  NEREID_BACKEND_TRY(parameters.ReadInt("finalize_timeout_seconds", 0, kMost, &end_seconds));
  NEREID_BACKEND_TRY(parameters.ReadInt("execute_timeout_ms", 0, kMost, &execution_ms));
  NEREID_BACKEND_TRY(parameters.ReadInt("restart_limit", 0, kMost, &supervisor_.restart_limit));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("max_concurrent_batches", 1, 1 << 20, &max_concurrent_batches_));
  constexpr int64_t kMostMilliseconds = int64_t{1} << 40;
  supervisor_.memory_limit = static_cast<uint64_t>(memory);
  const auto seconds = [](int64_t value) {
    return milliseconds(std::min(value, kMostMilliseconds / 1000) * 1000);
  };
  supervisor_.loop.start_limit = seconds(start_seconds);
  supervisor_.loop.end_limit = seconds(end_seconds);
  supervisor_.loop.execution_limit = milliseconds(std::min(execution_ms, kMostMilliseconds));
  if (const std::string* cpu_only = parameters.Find("FORCE_CPU_ONLY_INPUT_TENSORS")) {
    if (*cpu_only != "yes" && *cpu_only != "no") {
      return Error::Unsupported("Incorrect value for FORCE_CPU_ONLY_INPUT_TENSORS: " + *cpu_only +
                                "'");
    }
    gpu_inputs_ = *cpu_only == "no";
    NEREID_BACKEND_LOG(INFO, *cpu_only == "yes" ? "Forcing CPU only input tensors."
                                                : "Input tensors can be both in CPU and GPU. "
                                                  "FORCE_CPU_ONLY_INPUT_TENSORS is off.");
  }
  return {};
}

Error PythonModel::FindModelFile() {
  std::string name = config_.default_model_filename;
  name = name.empty() ? "model.py" : name;
  if (!name.ends_with(".py")) {
    return Error::Internal("Model name must end with '.py'. Model name is \"" + name + "\".");
  }
  const std::string version = std::to_string(config_.version);
  version_directory_ = config_.directory + "/" + version;
  model_file_ = version_directory_ + "/" + name;
  module_ = version + "." + name.substr(0, name.size() - 3);
  search_path_ = {version_directory_, config_.directory, backend_.runtime()};
  const std::string backend_model = backend_.directory() + "/model.py";
  if (backend_.directory() != backend_.runtime() && IsFile(backend_model)) {
    // A backend that is written in Python: its model.py serves all models.
    model_file_ = backend_model;
    module_ = "model";
    search_path_.insert(search_path_.begin() + 2, backend_.directory());
  } else if (!IsFile(model_file_)) {
    return Error::Internal("Python model file not found in '" + model_file_ + "'");
  }
  return {};
}

Error PythonModel::PrepareCommand() {
  std::vector<std::string>& environment = command_.environment;
  environment = CurrentEnvironment();
  if (const std::string* threads = config_.parameters.Find("cpu_threads_per_instance")) {
    for (const char* name : kThreadVariables) {
      SetVariable(name, *threads, true, &environment);
    }
  }
  std::string python = backend_.settings().interpreter;
  if (const std::string* given = config_.parameters.Find("python")) {
    python = ExpandModelDirectory(*given, config_.directory);
    if (std::filesystem::is_directory(python)) {
      Activate(python, &environment);
      python += "/bin/python3";
    }
  }
  const std::string main = backend_.runtime() + "/nereid_worker";
  if (const std::string* path = config_.parameters.Find("EXECUTION_ENV_PATH")) {
    const Command unpack{{python, main + "/unpack.py"}, environment};
    std::string folder;
    NEREID_BACKEND_TRY(backend_.environments().Find(ExpandModelDirectory(*path, config_.directory),
                                                    unpack, &backend_.spawner(), &folder));
    NEREID_BACKEND_LOG(INFO, "Using Python execution env " + *path);
    Activate(folder, &environment);
  }
  NEREID_BACKEND_TRY(PrepareRequirements(&python));
  command_.arguments = {python, main};
  supervisor_.command = command_;
  supervisor_.loop.server = server_;
  return {};
}

Error PythonModel::PrepareRequirements(std::string* python) {
  const std::string file = FindRequirements(version_directory_, config_.directory);
  if (file.empty()) {
    return {};
  }
  const RequirementsSettings& settings = backend_.settings().requirements;
  if (!settings.install) {
    NEREID_BACKEND_LOG(INFO, file + " of model '" + config_.name +
                                 "' is not installed; --backend-config=python,"
                                 "install-requirements=true would do that");
    return {};
  }
  const Command program{{*python, backend_.runtime() + "/nereid_worker/requirements.py"},
                        command_.environment};
  NEREID_BACKEND_TRY(
      requirements_.Provide(file, settings, program, config_.name, &backend_.spawner()));
  *python = requirements_.folder() + "/bin/python3";
  Activate(requirements_.folder(), &command_.environment);
  return {};
}

Error PythonModel::Complete(TRITONBACKEND_Model* model) {
  SupervisorSettings settings = supervisor_;
  settings.loop.name = config_.name;
  settings.loop.first = MessageType::kComplete;
  WorkerArgument argument;
  argument.args = {{"model_config", config_text_}};
  argument.name = config_.name;
  argument.model_file = model_file_;
  argument.module = module_;
  argument.version_directory = version_directory_;
  argument.search_path = search_path_;
  settings.loop.argument = WriteWorkerArgument(argument);
  std::string completed;
  if (Error failed = RunCompletion(settings, &backend_.spawner(), &completed); !failed.ok()) {
    NEREID_BACKEND_LOG(INFO,
                       "Failed to initialize Python stub for auto-complete: " + failed.message());
    return failed;
  }
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  if (!completed.empty()) {
    NEREID_BACKEND_TRY(MergeCompletion(completed, &document));
  }
  // Also without the function: the server serves a model without a configuration if its backend
  // says that there is nothing to add.
  NEREID_BACKEND_TRY(backend::WriteConfigDocument(model, document));
  return Read(model);
}

Error PythonModel::InstanceSettings(TRITONBACKEND_ModelInstance* instance,
                                    SupervisorSettings* settings) const {
  const char* name = nullptr;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  int32_t device = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceName(instance, &name));
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  const std::string kind_text = TRITONSERVER_InstanceGroupKindString(kind);
  NEREID_BACKEND_LOG(INFO, std::string("TRITONBACKEND_ModelInstanceInitialize: ") + name + " (" +
                               kind_text + " device " + std::to_string(device) + ")");
  int64_t memory_limit = 0;
  NEREID_BACKEND_TRY(
      config_.parameters.ReadInt("worker_memory_limit_bytes", 0, int64_t{1} << 50, &memory_limit));
  WorkerArgument argument;
  argument.args = {{"model_config", config_text_},
                   {"model_instance_kind", kind_text},
                   {"model_instance_name", name},
                   {"model_instance_device_id", std::to_string(device)},
                   {"model_repository", config_.directory},
                   {"model_version", std::to_string(config_.version)},
                   {"model_name", config_.name}};
  argument.name = name;
  argument.model_file = model_file_;
  argument.module = module_;
  argument.version_directory = version_directory_;
  argument.search_path = search_path_;
  argument.decoupled = config_.decoupled;
  argument.states = {traits_.states.begin(), traits_.states.end()};
  argument.cpus = BoundCpus();
  argument.memory_limit = memory_limit;
  argument.shared_memory_limit = supervisor_.memory_limit;
  for (const SharedGpu& gpu : SharedGpus()) {
    argument.gpus.push_back(HexText(gpu.uuid));
  }
  *settings = supervisor_;
  settings->loop.name = name;
  settings->loop.pipelined = pipelined_;
  settings->loop.argument = WriteWorkerArgument(argument);
  return {};
}

}  // namespace nereid::python
