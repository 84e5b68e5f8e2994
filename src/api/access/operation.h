// SPDX-License-Identifier: Apache-2.0
// The operations of the front ends with what decides who may call them, and on which threads they
// run. Every route of a front end names one of them, so no route can exist without a category,
// roles and a cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "api/access/role.h"

namespace nereid::api {

/// Triton's groups of operations, which --http-restricted-api and --grpc-restricted-protocol name.
enum class Category : uint8_t {
  kHealth,
  kMetadata,
  kInference,
  kSharedMemory,
  kModelConfig,
  kModelRepository,
  kStatistics,
  kTrace,
  kLogging,
  kNone,  // cannot be restricted by these flags
};

enum class Operation : uint8_t {
  kServerLive,
  kServerReady,
  kModelReady,
  kLivenessReasons,
  kHealthReasons,
  kServerMetadata,
  kModelMetadata,
  kInfer,
  kModelConfig,
  kStatistics,
  kSequences,
  kRepositoryIndex,
  kModelLoad,
  kModelUnload,
  kLoadRead,
  kLoadCancel,
  kDrainRead,
  kDrainChange,
  kSequenceHandover,
  kRolloutRead,
  kRolloutChange,
  kSharedMemoryStatus,
  kSharedMemoryRegister,
  kSharedMemoryUnregister,
  kTraceRead,
  kTraceChange,
  kLogRead,
  kLogChange,
  kReflection,
  kMetrics,
  kConsolePage,
};
inline constexpr Operation kLastOperation = Operation::kConsolePage;

/// What carrying out an operation takes. A front end chooses threads by the cost: operations of
/// different costs run on different threads, so that the slower ones never delay the others.
enum class Cost : uint8_t {
  kRunsOnLoop = 1,  // microseconds, on the event loop; an inference leaves the loop by itself
  kAsksTables,      // milliseconds: it looks at all models, makes a long document or opens files
  kAsksPlugins,     // it calls plug-ins, which may answer after seconds
  kMovesSequences,  // it waits for requests of sequences, and requests of other replicas wait for
                    // it
  kLoads,           // minutes: it loads or unloads models
};

struct OperationFacts {
  Operation operation;
  std::string_view name;
  Category category;
  /// A caller needs one of these.
  RoleSet roles;
  Cost cost;
  /// Whether it is open to everyone, because probes of orchestrators and load balancers cannot
  /// authenticate; --auth-protect-health closes it.
  bool is_probe = false;
  /// Whether it is open to everyone in any case, because it tells nothing about this server: the
  /// files of the console's page, which has the form for the token.
  bool is_public = false;
};

namespace access_internal {

inline constexpr RoleSet kAnyone = kAllRoles;
inline constexpr RoleSet kCallers = {Role::kInfer, Role::kManage};
inline constexpr RoleSet kObservers = {Role::kObserve, Role::kManage};
inline constexpr RoleSet kManagers = {Role::kManage};

// In the order of Operation.
inline constexpr OperationFacts kOperations[] = {
    {Operation::kServerLive, "server-live", Category::kHealth, kAnyone, Cost::kRunsOnLoop,
     /*is_probe=*/true},
    {Operation::kServerReady, "server-ready", Category::kHealth, kAnyone, Cost::kAsksPlugins,
     /*is_probe=*/true},
    // No probe: its answers tell which models there are.
    {Operation::kModelReady, "model-ready", Category::kHealth, kAnyone, Cost::kAsksPlugins},
    // No probe either: reasons name models and contain the texts of failed loads.
    {Operation::kLivenessReasons, "liveness-reasons", Category::kHealth, kObservers,
     Cost::kAsksTables},
    {Operation::kHealthReasons, "health-reasons", Category::kHealth, kObservers,
     Cost::kAsksPlugins},
    {Operation::kServerMetadata, "server-metadata", Category::kMetadata, kAnyone,
     Cost::kRunsOnLoop},
    {Operation::kModelMetadata, "model-metadata", Category::kMetadata, kAnyone, Cost::kAsksTables},
    {Operation::kInfer, "infer", Category::kInference, kCallers, Cost::kRunsOnLoop},
    {Operation::kModelConfig, "model-config", Category::kModelConfig, kObservers,
     Cost::kAsksTables},
    {Operation::kStatistics, "statistics", Category::kStatistics, kObservers, Cost::kAsksTables},
    {Operation::kSequences, "sequences", Category::kStatistics, kObservers, Cost::kAsksTables},
    {Operation::kRepositoryIndex, "repository-index", Category::kModelRepository, kObservers,
     Cost::kAsksTables},
    {Operation::kModelLoad, "model-load", Category::kModelRepository, kManagers, Cost::kLoads},
    {Operation::kModelUnload, "model-unload", Category::kModelRepository, kManagers, Cost::kLoads},
    {Operation::kLoadRead, "load-read", Category::kModelRepository, kObservers, Cost::kAsksTables},
    {Operation::kLoadCancel, "load-cancel", Category::kModelRepository, kManagers,
     Cost::kAsksTables},
    // With the operations on models, so that restrictions that protect those protect the drain,
    // too.
    {Operation::kDrainRead, "drain-read", Category::kModelRepository, kObservers,
     Cost::kAsksTables},
    {Operation::kDrainChange, "drain-change", Category::kModelRepository, kManagers,
     Cost::kAsksTables},
    // Managers only: the states of sequences are what clients have sent.
    {Operation::kSequenceHandover, "sequence-handover", Category::kModelRepository, kManagers,
     Cost::kMovesSequences},
    {Operation::kRolloutRead, "rollout-read", Category::kModelRepository, kObservers,
     Cost::kAsksTables},
    {Operation::kRolloutChange, "rollout-change", Category::kModelRepository, kManagers,
     Cost::kAsksTables},
    {Operation::kSharedMemoryStatus, "shared-memory-status", Category::kSharedMemory, kObservers,
     Cost::kAsksTables},
    // Managers only: a caller names any object that the server's user may open, and can read it
    // through a model that returns its input.
    {Operation::kSharedMemoryRegister, "shared-memory-register", Category::kSharedMemory, kManagers,
     Cost::kAsksTables},
    {Operation::kSharedMemoryUnregister, "shared-memory-unregister", Category::kSharedMemory,
     kManagers, Cost::kAsksTables},
    // They ask whether the model that they name is ready.
    {Operation::kTraceRead, "trace-read", Category::kTrace, kObservers, Cost::kAsksPlugins},
    {Operation::kTraceChange, "trace-change", Category::kTrace, kManagers, Cost::kAsksPlugins},
    {Operation::kLogRead, "log-read", Category::kLogging, kObservers, Cost::kAsksTables},
    {Operation::kLogChange, "log-change", Category::kLogging, kManagers, Cost::kAsksTables},
    {Operation::kReflection, "reflection", Category::kNone, kAnyone, Cost::kRunsOnLoop},
    {Operation::kMetrics, "metrics", Category::kNone, kObservers, Cost::kAsksTables},
    {Operation::kConsolePage, "console-page", Category::kNone, kAnyone, Cost::kRunsOnLoop,
     /*is_probe=*/false,
     /*is_public=*/true},
};

consteval bool EveryOperationHasFacts() {
  if (std::size(kOperations) != static_cast<size_t>(kLastOperation) + 1) return false;
  for (size_t i = 0; i < std::size(kOperations); ++i) {
    const OperationFacts& facts = kOperations[i];
    // The role manage permits everything, so no other role may be alone.
    if (facts.operation != static_cast<Operation>(i) || facts.name.empty() ||
        !facts.roles.Has(Role::kManage) || facts.cost == Cost{}) {
      return false;
    }
  }
  return true;
}
static_assert(EveryOperationHasFacts(), "an operation lacks its category, roles or cost");

}  // namespace access_internal

constexpr const OperationFacts& FactsOf(Operation operation) {
  return access_internal::kOperations[static_cast<size_t>(operation)];
}

/// Returns whether an operation changes the server for everyone: only the role manage permits it.
constexpr bool IsManagement(Operation operation) {
  return FactsOf(operation).roles == access_internal::kManagers;
}

/// Returns the name of a category on the command line, such as "model-config"; "" for kNone.
std::string_view CategoryName(Category category);
/// Returns the category with this name; nothing for another word.
std::optional<Category> FindCategory(std::string_view name);

}  // namespace nereid::api
