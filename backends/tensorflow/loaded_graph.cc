// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/loaded_graph.h"

#include <algorithm>
#include <charconv>

#include "framework/printable.h"
#include "tensorflow/graph_check.h"
#include "tensorflow/graph_state.h"
#include "tensorflow/model_files.h"
#include "tensorflow/session_config.h"
#include "tensorflow/session_options.h"
#include "tensorflow/signature_def.h"

namespace nereid::tensorflow {
namespace {

using backend::ModelConfig;
using framework::TensorSignature;

/// Returns the tensor "op:index" or "op" of the graph; `oper` is null if there is none.
TF_Output FindOutput(TF_Graph* graph, const std::string& name) {
  TF_Output output{TF_GraphOperationByName(graph, name.c_str()), 0};
  const size_t colon = name.rfind(':');
  if (output.oper == nullptr && colon != std::string::npos) {
    const char* end = name.data() + name.size();
    const auto [rest, failure] = std::from_chars(name.data() + colon + 1, end, output.index);
    if (failure == std::errc() && rest == end) {
      output.oper = TF_GraphOperationByName(graph, name.substr(0, colon).c_str());
    }
  }
  if (output.oper != nullptr &&
      (output.index < 0 || output.index >= TF_OperationNumOutputs(output.oper))) {
    output.oper = nullptr;
  }
  return output;
}

TensorSignature Describe(TF_Graph* graph, const std::string& name, TF_Output output) {
  TensorSignature tensor;
  tensor.name = name;
  const TF_DataType type = TF_OperationOutputType(output);
  tensor.data_type = DataTypeOf(type);
  if (tensor.data_type == TRITONSERVER_TYPE_INVALID) {
    tensor.foreign_type = TfTypeName(type);
  }
  Status status;
  const int rank = TF_GraphGetTensorNumDims(graph, output, status.get());
  if (!status.ok() || rank < 0) {
    return tensor;
  }
  tensor.dims.resize(static_cast<size_t>(rank));
  if (rank > 0) {
    TF_GraphGetTensorShape(graph, output, tensor.dims.data(), rank, status.get());
  }
  tensor.has_rank = status.ok();
  return tensor;
}

/// Adds the graph's tensor `target` to a signature under the name that clients use.
Error Add(const ModelConfig& config, const LoadedGraph& loaded, const std::string& kind,
          const std::string& name, const std::string& target, std::vector<TensorSignature>* tensors,
          std::vector<TF_Output>* outputs) {
  const TF_Output output = FindOutput(loaded.graph.get(), target);
  if (output.oper == nullptr) {
    return Error::InvalidArgument("model '" + config.name + "': the graph has no tensor '" +
                                  framework::Printable(target) + "' for " + kind + " '" +
                                  framework::Printable(name) +
                                  "'; write the name of an operation, or operation:index");
  }
  tensors->push_back(Describe(loaded.graph.get(), name, output));
  outputs->push_back(output);
  return {};
}

/// Returns the outputs of a GraphDef that clients or states take.
std::vector<std::string> OutputNames(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const auto& output : config.outputs) {
    names.push_back(output.name);
  }
  for (const auto& state : config.states) {
    names.push_back(state.output.name);
  }
  return names;
}

bool Holds(const std::vector<TensorSignature>& tensors, const std::string& name) {
  return framework::FindTensor(tensors, name) >= 0;
}

/// Marks shapes that do not bind. A graph made for batches also runs without a batch, because
/// TensorFlow does not compare the shape of a fed tensor with that of its placeholder.
void LeaveBatchOpen(const std::vector<backend::TensorConfig>& given,
                    std::vector<TensorSignature>* tensors) {
  for (const backend::TensorConfig& tensor : given) {
    const int place = framework::FindTensor(*tensors, tensor.name);
    if (place < 0) {
      continue;
    }
    TensorSignature& declared = (*tensors)[static_cast<size_t>(place)];
    if (declared.has_rank && declared.dims.size() == tensor.ModelDims().size() + 1 &&
        declared.dims[0] == -1) {
      declared.shape_binds = false;
    }
  }
}

/// Adds the tensors of the configuration to the signature. A placeholder that the configuration
/// does not name is never fed. TensorFlow then fails in every run that needs it; other runs are not
/// affected.
Error NameGraphTensors(const ModelConfig& config, LoadedGraph* loaded) {
  std::vector<std::string> inputs;
  for (const auto& control : config.controls) {
    inputs.push_back(control.name);
  }
  for (const auto& input : config.inputs) {
    inputs.push_back(input.name);
  }
  for (const auto& state : config.states) {
    inputs.push_back(state.input_name);
  }
  for (const std::string& name : inputs) {
    NEREID_BACKEND_TRY(
        Add(config, *loaded, "input", name, name, &loaded->signature.inputs, &loaded->inputs));
  }
  for (const backend::BatchInputConfig& input : config.batch_inputs) {
    for (const std::string& name : input.targets) {
      if (!Holds(loaded->signature.inputs, name)) {
        NEREID_BACKEND_TRY(Add(config, *loaded, "batch_input", name, name,
                               &loaded->signature.inputs, &loaded->inputs));
      }
    }
  }
  for (const std::string& name : OutputNames(config)) {
    if (!Holds(loaded->signature.outputs, name)) {
      NEREID_BACKEND_TRY(
          Add(config, *loaded, "output", name, name, &loaded->signature.outputs, &loaded->outputs));
    }
  }
  if (config.max_batch_size == 0) {
    LeaveBatchOpen(config.inputs, &loaded->signature.inputs);
    LeaveBatchOpen(config.outputs, &loaded->signature.outputs);
  }
  return {};
}

/// Gets the definition of an operation from TensorFlow.
bool FindOp(const std::string& name, std::string* op_def) {
  static TF_Graph* const none = TF_NewGraph();
  const Owned<TF_Buffer> found(TF_NewBuffer());
  Status status;
  TF_GraphGetOpDef(none, name.c_str(), found.get(), status.get());
  if (status.ok()) {
    op_def->assign(static_cast<const char*>(found->data), found->length);
  }
  return status.ok();
}

/// Refuses graphs that would crash TensorFlow.
Error CheckGraph(const ModelConfig& config, const std::string& path, std::string_view graph_def) {
  return CheckGraphDef(graph_def, "model '" + config.name + "': " + path, FindOp);
}

/// Finds out whether the outputs change the state of a session, and makes the options of one.
Error PrepareSession(const ModelConfig& config, std::string_view graph_def,
                     const std::vector<std::string>& outputs, LoadedGraph* loaded,
                     Owned<TF_SessionOptions>* options) {
  loaded->changes_state = MayChangeState(graph_def, outputs, FindOp);
  int64_t sharers = 0;
  NEREID_BACKEND_TRY(ReadSharers(config, loaded->changes_state, &sharers));
  return MakeSessionOptions(config, sharers, options);
}

/// Runs the operations in TF_INIT_OPS_FILE in order.
Error Initialize(const ModelConfig& config, const LoadedGraph& loaded) {
  std::vector<std::string> names;
  NEREID_BACKEND_TRY(ReadInitOps(config, &names));
  for (const std::string& name : names) {
    const TF_Operation* const operation = TF_GraphOperationByName(loaded.graph.get(), name.c_str());
    if (operation == nullptr) {
      return Error::InvalidArgument("model '" + config.name + "': the graph has no operation '" +
                                    name + "', which init_ops names (parameter TF_INIT_OPS_FILE)");
    }
    Status status;
    TF_SessionRun(loaded.session.get(), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                  &operation, 1, nullptr, status.get());
    NEREID_BACKEND_TRY(status.ToError("model '" + config.name + "': the initializing operation '" +
                                      name + "' failed"));
  }
  return {};
}

/// Takes the shape from the signature and not from the graph. A signature without dimensions
/// declares a scalar, an open rank, or nothing, and some writers mean the same by all three: the
/// configuration decides.
void TakeShape(const TensorInfo& info, TensorSignature* tensor) {
  if (info.dims && !info.dims->empty()) {
    tensor->has_rank = true;
    tensor->dims = *info.dims;
  } else {
    tensor->shape_binds = false;
  }
}

/// Reads the signature that the parameters select.
Error ReadSignature(const ModelConfig& config, std::string_view meta_graph,
                    SignatureDef* signature) {
  const std::string* wanted = config.parameters.Find("TF_SIGNATURE_DEF");
  return ChooseSignature(ReadSignatures(meta_graph), wanted == nullptr ? "" : *wanted, config.name,
                         signature);
}

std::vector<std::string> TensorsOf(const std::map<std::string, TensorInfo>& outputs) {
  std::vector<std::string> names;
  for (const auto& [name, info] : outputs) {
    names.push_back(info.tensor);
  }
  return names;
}

/// Adds the tensors of the signature.
Error NameSignatureTensors(const ModelConfig& config, const SignatureDef& signature,
                           LoadedGraph* loaded) {
  for (const auto& [name, info] : signature.inputs) {
    NEREID_BACKEND_TRY(Add(config, *loaded, "input", name, info.tensor, &loaded->signature.inputs,
                           &loaded->inputs));
    TakeShape(info, &loaded->signature.inputs.back());
  }
  for (const auto& [name, info] : signature.outputs) {
    NEREID_BACKEND_TRY(Add(config, *loaded, "output", name, info.tensor, &loaded->signature.outputs,
                           &loaded->outputs));
    TakeShape(info, &loaded->signature.outputs.back());
  }
  return {};
}

}  // namespace

Error LoadGraphDef(const ModelConfig& config, const std::string& path, LoadedGraph* loaded) {
  std::string bytes;
  NEREID_BACKEND_TRY(ReadMessageFile(config, path, "GraphDef", &bytes));
  NEREID_BACKEND_TRY(CheckGraph(config, path, bytes));
  Owned<TF_SessionOptions> options;
  NEREID_BACKEND_TRY(PrepareSession(config, bytes, OutputNames(config), loaded, &options));
  const Owned<TF_Buffer> buffer(TF_NewBufferFromString(bytes.data(), bytes.size()));
  const Owned<TF_ImportGraphDefOptions> import(TF_NewImportGraphDefOptions());
  loaded->graph.reset(TF_NewGraph());
  Status status;
  TF_GraphImportGraphDef(loaded->graph.get(), buffer.get(), import.get(), status.get());
  if (!status.ok()) {
    return status.ToError("model '" + config.name + "': " + path + " cannot be loaded");
  }
  loaded->session.reset(TF_NewSession(loaded->graph.get(), options.get(), status.get()));
  if (!status.ok()) {
    return status.ToError("model '" + config.name + "': no session can be made");
  }
  NEREID_BACKEND_TRY(NameGraphTensors(config, loaded));
  return Initialize(config, *loaded);
}

Error LoadSavedModel(const ModelConfig& config, const std::string& path, LoadedGraph* loaded) {
  const std::vector<std::string> wanted = WantedTags(config);
  std::string bytes;
  std::string_view meta_graph;
  NEREID_BACKEND_TRY(OpenSavedModel(config, path, wanted, &bytes, &meta_graph));
  NEREID_BACKEND_TRY(CheckGraph(config, path, GraphDefOf(meta_graph)));
  SignatureDef signature;
  Owned<TF_SessionOptions> options;
  const auto prepare = [&](std::string_view found) -> Error {
    NEREID_BACKEND_TRY(ReadSignature(config, found, &signature));
    return PrepareSession(config, GraphDefOf(found), TensorsOf(signature.outputs), loaded,
                          &options);
  };
  // Only TensorFlow can read the text form. Its session gets the options for one instance.
  const bool is_text = meta_graph.empty();
  NEREID_BACKEND_TRY(is_text ? MakeSessionOptions(config, 1, &options) : prepare(meta_graph));
  std::vector<const char*> tags(wanted.size());
  std::transform(wanted.begin(), wanted.end(), tags.begin(),
                 [](const std::string& tag) { return tag.c_str(); });
  const Owned<TF_Buffer> read(TF_NewBuffer());
  loaded->graph.reset(TF_NewGraph());
  Status status;
  loaded->session.reset(TF_LoadSessionFromSavedModel(
      options.get(), nullptr, path.c_str(), tags.data(), static_cast<int>(tags.size()),
      loaded->graph.get(), read.get(), status.get()));
  if (!status.ok()) {
    return status.ToError("model '" + config.name + "': " + path + " cannot be loaded");
  }
  if (is_text) {
    NEREID_BACKEND_TRY(prepare({static_cast<const char*>(read->data), read->length}));
  }
  return NameSignatureTensors(config, signature, loaded);
}

}  // namespace nereid::tensorflow
