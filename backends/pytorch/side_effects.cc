// SPDX-License-Identifier: Apache-2.0
#include "pytorch/side_effects.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "pytorch/torch_error.h"

namespace nereid::pytorch {
namespace {

using torch::jit::AliasDb;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

void ForEachNode(Block& block, const std::function<void(Node&)>& visit) {
  for (Node* node : block.nodes()) {
    visit(*node);
    for (Block* inner : node->blocks()) {
      ForEachNode(*inner, visit);
    }
  }
}

bool ReadsAttribute(const Node& node) { return node.kind() == c10::prim::GetAttr; }

bool IsModule(const Value& value) {
  const auto type = value.type()->cast<c10::ClassType>();
  return type != nullptr && type->is_module();
}

/// Returns the code of forward with the code that it calls and without the code of training.
std::shared_ptr<Graph> EvaluationGraph(const torch::jit::Module& module) {
  std::shared_ptr<Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  std::vector<Node*> training;
  ForEachNode(*graph->block(), [&](Node& node) {
    if (ReadsAttribute(node) && IsModule(*node.input()) && node.s(c10::attr::name) == "training" &&
        node.output()->type()->kind() == c10::TypeKind::BoolType) {
      training.push_back(&node);
    }
  });
  for (Node* node : training) {
    const torch::jit::WithInsertPoint before(node);
    node->output()->replaceAllUsesWith(graph->insertConstant(false));
  }
  // Decides the branches that depend on `training`. It computes with numbers, not with tensors.
  torch::jit::ConstantPropagationImmutableTypes(graph);
  return graph;
}

bool Forks(Block& block) {
  bool forks = false;
  ForEachNode(block, [&](const Node& node) {
    forks = forks || node.kind() == c10::prim::fork || node.kind() == c10::prim::awaitable;
  });
  return forks;
}

/// The values in a graph through which the module can be changed: its attributes and its constants.
struct Kept {
  std::vector<std::pair<Value*, std::string>> attributes;  // with their names
  std::vector<Value*> all;
};

Kept FindKept(Block& block) {
  Kept kept;
  ForEachNode(block, [&](Node& node) {
    if (ReadsAttribute(node) && !IsModule(*node.output())) {
      kept.attributes.emplace_back(node.output(), node.s(c10::attr::name));
      kept.all.push_back(node.output());
    } else if (node.kind() == c10::prim::Constant) {
      kept.all.push_back(node.output());
    }
  });
  return kept;
}

bool Writes(const c10::AliasInfo& alias) {
  return alias.isWrite() ||
         std::any_of(alias.containedTypes().begin(), alias.containedTypes().end(), Writes);
}

/// Returns the values to which an operator writes.
std::vector<Value*> WrittenBy(Node& node) {
  std::vector<Value*> written;
  const c10::FunctionSchema* const schema = node.maybeSchema();
  if (schema == nullptr || !schema->is_mutable()) {
    return written;
  }
  const auto& arguments = schema->arguments();
  for (size_t i = 0; i < std::min(arguments.size(), node.inputs().size()); ++i) {
    if (arguments[i].alias_info() != nullptr && Writes(*arguments[i].alias_info())) {
      written.push_back(node.inputs()[i]);
    }
  }
  return written;
}

/// Returns whether an operator changes something outside of the graph, or may do so. An error or a
/// line of output does not matter.
bool ChangesMore(const Node& node) {
  return node.hasSideEffects() && node.kind() != c10::prim::RaiseException &&
         node.kind() != c10::prim::Print && node.kind() != c10::aten::warn;
}

void FindChanges(Graph& graph, const AliasDb& aliases, SideEffects* effects) {
  const Kept kept = FindKept(*graph.block());
  std::set<std::string> names;
  bool changes = Forks(*graph.block());
  ForEachNode(*graph.block(), [&](Node& node) {
    changes = changes || ChangesMore(node);
    if (node.kind() == c10::prim::SetAttr) {
      names.insert(node.s(c10::attr::name));
    }
    const std::vector<Value*> written = WrittenBy(node);
    if (written.empty()) {
      return;
    }
    for (const auto& [value, name] : kept.attributes) {
      if (aliases.writesToAlias(&node, {value})) {
        names.insert(name);
      }
    }
    // An element of a list that is an attribute is no attribute, but the module's nevertheless.
    changes = changes || std::any_of(written.begin(), written.end(), [&](Value* value) {
                return aliases.mayContainAlias(value, kept.all);
              });
  });
  effects->changed_attributes.assign(names.begin(), names.end());
  effects->leaves_nothing = !changes && names.empty();
}

void FindBorrowable(Graph& graph, const AliasDb& aliases, SideEffects* effects) {
  if (Forks(*graph.block())) {
    return;
  }
  for (size_t i = 1; i < graph.inputs().size(); ++i) {
    effects->borrowable.push_back(!aliases.hasWriters(graph.inputs()[i]));
  }
}

}  // namespace

SideEffects FindSideEffects(const torch::jit::Module& module) {
  SideEffects effects;
  const Error failure = CatchTorch("", [&]() -> Error {
    const std::shared_ptr<Graph> graph = EvaluationGraph(module);
    FindBorrowable(*graph, AliasDb(graph), &effects);
    // Otherwise every tensor that was ever an element of a list counts as an attribute, because
    // neither is known to be new. `isFrozen` is the analysis of torch.jit.freeze.
    FindChanges(*graph, AliasDb(graph, /*isFrozen=*/true), &effects);
    return {};
  });
  return failure.ok() ? effects : SideEffects();
}

}  // namespace nereid::pytorch
