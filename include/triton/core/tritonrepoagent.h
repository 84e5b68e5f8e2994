// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of repository agents: a shared library libtritonrepoagent_<name>.so that can read and
// change a model's files before they are loaded. The agents of a model form a chain in the order of
// its configuration. The rules at the top of tritonserver.h apply here, too. Actions on different
// models may run in parallel.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks the functions that the server provides, ISPEC those that an
// agent implements. _COMPILING_TRITONREPOAGENT is defined only where the server library is
// compiled.
#if defined(_MSC_VER)
#ifdef _COMPILING_TRITONREPOAGENT
#define TRITONREPOAGENT_DECLSPEC __declspec(dllexport)
#define TRITONREPOAGENT_ISPEC __declspec(dllimport)
#else
#define TRITONREPOAGENT_DECLSPEC __declspec(dllimport)
#define TRITONREPOAGENT_ISPEC __declspec(dllexport)
#endif
#elif defined(__GNUC__) && defined(_COMPILING_TRITONREPOAGENT)
#define TRITONREPOAGENT_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONREPOAGENT_ISPEC
#elif defined(__GNUC__)
#define TRITONREPOAGENT_DECLSPEC
#define TRITONREPOAGENT_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONREPOAGENT_DECLSPEC
#define TRITONREPOAGENT_ISPEC
#endif

/// The version of this API that the header describes. See TRITONREPOAGENT_ApiVersion.
#define TRITONREPOAGENT_API_VERSION_MAJOR 0
#define TRITONREPOAGENT_API_VERSION_MINOR 1

/// A loaded agent.
typedef struct TRITONREPOAGENT_Agent TRITONREPOAGENT_Agent;
/// A model, for one agent.
typedef struct TRITONREPOAGENT_AgentModel TRITONREPOAGENT_AgentModel;

/// The kind of a repository location.
typedef enum TRITONREPOAGENT_artifacttype_enum {
  /// A directory, given by its path.
  TRITONREPOAGENT_ARTIFACT_FILESYSTEM = 0,
  /// A directory of an object store, given by its URL.
  TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM = 1
} TRITONREPOAGENT_ArtifactType;

/// The events of a model: it will be loaded, is loaded, failed to load, will be unloaded, is
/// unloaded.
typedef enum TRITONREPOAGENT_actiontype_enum {
  TRITONREPOAGENT_ACTION_LOAD = 0,
  TRITONREPOAGENT_ACTION_LOAD_COMPLETE = 1,
  TRITONREPOAGENT_ACTION_LOAD_FAIL = 2,
  TRITONREPOAGENT_ACTION_UNLOAD = 3,
  TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE = 4
} TRITONREPOAGENT_ActionType;

// ---- Implemented by the agent -------------------------------------------------------------------

/// Optional. Called once, before any other function of the agent.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent);

/// Optional. Called once, after the last model that uses the agent.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent);

/// Optional. Called once for each model, before its first action.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Optional. Called once for each model, after its last action.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Required. Performs an action on a model: LOAD, then LOAD_COMPLETE or LOAD_FAIL; after
/// LOAD_COMPLETE later UNLOAD and UNLOAD_COMPLETE. An error for LOAD fails the load; errors for the
/// other actions are logged.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ActionType action_type);

// ---- Provided by the server ---------------------------------------------------------------------

/// Returns the version of this API that the running server provides. Never fails. An agent that was
/// built for (major, minor) can be used if the major numbers are equal and the server's minor
/// number is not smaller.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major,
                                                                        uint32_t* minor);

/// Returns the current location of the model's files, as the previous agent in the chain left it.
/// The string belongs to the model.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location);

/// Returns an empty directory to which the agent may write. Only
/// TRITONREPOAGENT_ARTIFACT_FILESYSTEM is supported, which means a temporary directory. A second
/// call returns the same directory. The string belongs to the model.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char** location);

/// Deletes that directory with its content. UNAVAILABLE if none was acquired.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const char* location);

/// Sets the location of the model's files; the string is copied. INVALID_ARG outside of
/// TRITONREPOAGENT_ACTION_LOAD.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char* location);

/// Returns the number of the agent's parameters in the model's configuration.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t* count);

/// Returns a parameter by index. The strings belong to the model. INVALID_ARG for an index out of
/// bounds.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t index,
    const char** parameter_name, const char** parameter_value);

/// Returns the model's configuration as JSON, in configuration version 1, the only one. The caller
/// deletes the message.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t config_version,
    TRITONSERVER_Message** model_config);

/// Returns the pointer that TRITONREPOAGENT_ModelSetState stored, or NULL.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelState(
    TRITONREPOAGENT_AgentModel* model, void** state);

/// Stores a pointer of the agent for this model. The server never reads the object.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(
    TRITONREPOAGENT_AgentModel* model, void* state);

/// Returns the pointer that TRITONREPOAGENT_SetState stored, or NULL.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent,
                                                                   void** state);

/// Stores a pointer of the agent. The server never reads the object.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent,
                                                                      void* state);

#ifdef __cplusplus
}  // extern "C"
#endif
