// SPDX-License-Identifier: Apache-2.0
#include "pytorch/module.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <filesystem>

#include "base/mutex.h"
#include "framework/division_trap.h"
#include "nereid/backend/log.h"
#include "pytorch/archive.h"
#include "pytorch/code_check.h"
#include "pytorch/gpu_run.h"
#include "pytorch/pickle_check.h"
#include "pytorch/torch_error.h"

namespace nereid::pytorch {
namespace {

/// Sets the number of inter-op threads, which is possible once in a process, before the first
/// parallel work.
void SetInterOpThreads(const std::string& model, int64_t threads) {
  static base::Mutex mutex;
  static int64_t chosen NEREID_GUARDED_BY(mutex) = 0;
  const base::MutexLock lock(mutex);
  if (chosen == 0) {
    try {
      at::set_num_interop_threads(static_cast<int>(threads));
    } catch (const std::exception&) {
      // PyTorch has already started with another number.
    }
    chosen = at::get_num_interop_threads();
  }
  if (chosen != threads) {
    NEREID_BACKEND_LOG(WARN, "model '" + model + "': INTER_OP_THREAD_COUNT " +
                                 std::to_string(threads) +
                                 " is ignored: the process already uses " + std::to_string(chosen));
  }
}

ValueType Describe(const c10::TypePtr& type) {
  ValueType described{ValueKind::kOther, false, type->repr_str()};
  c10::TypePtr inner = type;
  if (const auto optional = type->cast<c10::OptionalType>()) {
    described.optional = true;
    inner = optional->getElementType();
  }
  const auto list = inner->cast<c10::ListType>();
  const auto dictionary = inner->cast<c10::DictType>();
  if (inner->kind() == c10::TypeKind::TensorType) {
    described.kind = ValueKind::kTensor;
  } else if (inner->kind() == c10::TypeKind::IntType) {
    described.kind = ValueKind::kInteger;
  } else if (inner->kind() == c10::TypeKind::FloatType) {
    described.kind = ValueKind::kFloat;
  } else if (inner->kind() == c10::TypeKind::BoolType) {
    described.kind = ValueKind::kBool;
  } else if (list && list->getElementType()->kind() == c10::TypeKind::StringType) {
    described.kind = ValueKind::kTexts;
  } else if (dictionary && dictionary->getKeyType()->kind() == c10::TypeKind::StringType &&
             dictionary->getValueType()->kind() == c10::TypeKind::TensorType) {
    described.kind = ValueKind::kTensorDictionary;
  } else if (inner->kind() == c10::TypeKind::AnyType || inner->kind() == c10::TypeKind::UnionType) {
    described.kind = ValueKind::kUnknown;
  }
  return described;
}

Results DescribeResults(const c10::TypePtr& type) {
  Results results;
  results.text = type->repr_str();
  const ValueType whole = Describe(type);
  if (const auto tuple = type->cast<c10::TupleType>()) {
    results.form = Results::Form::kTuple;
    for (const c10::TypePtr& element : tuple->elements()) {
      results.elements.push_back(Describe(element));
    }
    if (const auto names = tuple->names()) {
      results.names.assign(names->begin(), names->end());
    }
  } else if (const auto list = type->cast<c10::ListType>();
             list && whole.kind != ValueKind::kTexts) {
    results.form = Results::Form::kList;
    results.elements = {Describe(list->getElementType())};
  } else if (const auto dictionary = type->cast<c10::DictType>();
             dictionary && dictionary->getKeyType()->kind() == c10::TypeKind::StringType) {
    results.form = Results::Form::kDictionary;
    results.elements = {Describe(dictionary->getValueType())};
  } else if (whole.kind != ValueKind::kUnknown) {
    results.form = Results::Form::kOne;
    results.elements = {whole};
  }
  return results;
}

/// Returns the element size of a storage type by its name in pickles; 0 for an unknown type.
size_t ElementSize(std::string_view storage) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto type = static_cast<c10::ScalarType>(i);
    if (type != c10::ScalarType::Undefined &&
        storage == std::string(c10::toString(type)) + "Storage") {
      return c10::elementSize(type);
    }
  }
  return 0;
}

/// Checks that the record of a storage is large enough. PyTorch trusts the size in the pickle.
Error CheckStorage(caffe2::serialize::PyTorchStreamReader* reader, const std::string& folder,
                   std::string_view type, std::string_view key, int64_t elements) {
  const std::string name = folder + "/" + std::string(key);
  const size_t element = ElementSize(type);
  if (element == 0 || elements <= 0 || !reader->hasRecord(name)) {
    return elements < 0 ? Error::InvalidArgument("record " + name + " has a size below zero")
                        : Error();  // PyTorch reports the reason
  }
  const size_t bytes = reader->getRecordSize(name);
  if (static_cast<uint64_t>(elements) > bytes / element) {
    return Error::InvalidArgument("record " + name + " has " + std::to_string(bytes) +
                                  " bytes, too few for " + std::to_string(elements) +
                                  " elements of a " + std::string(type));
  }
  return {};
}

Error CheckRecord(caffe2::serialize::PyTorchStreamReader* reader, const std::string& name) {
  const bool code = name.ends_with(".py");
  const bool pickle = name == "data.pkl" || name == "constants.pkl";
  if (!code && !pickle) {
    return {};
  }
  const auto [data, size] = reader->getRecord(name);
  const std::string_view content(static_cast<const char*>(data.get()), size);
  if (code && DeepestExpression(content) > kDeepestCode) {
    return Error::InvalidArgument("the code " + name + " has an expression more than " +
                                  std::to_string(kDeepestCode) + " levels deep");
  }
  if (!pickle) {
    return {};
  }
  const std::string folder = name.substr(0, name.size() - std::strlen(".pkl"));
  return CheckPickle(content, [&](std::string_view type, std::string_view key, int64_t elements) {
    return CheckStorage(reader, folder, type, key, elements);
  });
}

/// Detects errors that would crash PyTorch, or that it does not notice, before it reads the file.
Error CheckFile(const std::string& path) {
  ArchiveSizes sizes;
  NEREID_BACKEND_TRY(CheckArchive(path, &sizes));
  caffe2::serialize::PyTorchStreamReader reader(path);
  if (!reader.hasRecord("constants.pkl")) {
    return Error::InvalidArgument(
        reader.hasRecord("data.pkl")
            ? "it holds what torch.save wrote; a model is written by torch.jit.save"
            : "it is no TorchScript file; torch.jit.save writes them");
  }
  for (const std::string& name : reader.getAllRecords()) {
    NEREID_BACKEND_TRY(CheckRecord(&reader, name));
  }
  return {};
}

}  // namespace

void ApplyProcessSettings(const std::string& model, const ProcessSettings& settings, bool on_gpu) {
  if (settings.inter_op_threads > 0) {
    SetInterOpThreads(model, settings.inter_op_threads);
  }
  if (settings.jit_executor) {
    torch::jit::getExecutorMode() = *settings.jit_executor;
  }
  if (settings.jit_profiling) {
    torch::jit::getProfilingMode() = *settings.jit_profiling;
  }
  if (settings.tensor_fuser) {
    torch::jit::setTensorExprFuserEnabled(*settings.tensor_fuser);
  }
  if (on_gpu && settings.cudnn) {
    at::globalContext().setUserEnabledCuDNN(*settings.cudnn);
  }
  const std::string where = on_gpu ? " has no effect" : " has no effect on the CPU";
  for (const std::string& name :
       on_gpu ? settings.without_effect : settings.without_effect_on_cpu) {
    NEREID_BACKEND_LOG(WARN, "model '" + model + "': parameter '" + name + "'" + where);
  }
}

Error LoadModule(const std::string& model, const std::string& path, int gpu,
                 std::shared_ptr<torch::jit::Module>* module) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    return Error(TRITONSERVER_ERROR_NOT_FOUND, "model '" + model + "': there is no file " + path);
  }
  const std::string what = "model '" + model + "': " + path + " cannot be loaded";
  NEREID_BACKEND_TRY(CatchTorch(what, [&]() -> Error {
    const Error error = CheckFile(path);
    return error.ok() ? Error() : Error::InvalidArgument(what + ": " + error.message());
  }));
  // div with rounding_mode "trunc" checks for a divisor of 0 only (see division_trap.h).
  framework::LetOverflowsPass(reinterpret_cast<const void*>(&at::globalContext));
  return CatchTorch(what, [&]() -> Error {
    // Debug records are not loaded: they are pickles that PyTorch would read while it handles an
    // error.
    auto loaded = std::make_shared<torch::jit::Module>(
        torch::jit::load(path, DeviceOf(gpu), /*load_debug_files=*/false));
    loaded->eval();
    if (gpu >= 0) {  // the instances use streams that do not wait for the one of the load
      c10::impl::VirtualGuardImpl(c10::kCUDA).synchronizeDevice(DeviceOf(gpu).index());
    }
    *module = std::move(loaded);
    return {};
  });
}

Error ReadForward(const std::string& model, const torch::jit::Module& module,
                  ForwardSignature* signature) {
  return CatchTorch("model '" + model + "'", [&]() -> Error {
    const auto forward = module.find_method("forward");
    if (!forward) {
      return Error::InvalidArgument("model '" + model +
                                    "': the TorchScript module has no method forward");
    }
    const c10::FunctionSchema& schema = forward->function().getSchema();
    const auto& arguments = schema.arguments();
    for (size_t i = 1; i < arguments.size(); ++i) {
      signature->arguments.push_back({arguments[i].name(), Describe(arguments[i].type()),
                                      arguments[i].default_value().has_value()});
    }
    if (schema.returns().size() == 1) {
      signature->results = DescribeResults(schema.returns()[0].type());
    }
    return {};
  });
}

}  // namespace nereid::pytorch
