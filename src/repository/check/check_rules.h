// SPDX-License-Identifier: Apache-2.0
// The rules about what surrounds a configuration: its text, its files, the other models.
#pragma once

#include <array>

#include "config/rules/validate.h"

namespace nereid::repository::check {

using config::RuleInfo;
using config::Severity;
using config::Stage;

inline constexpr RuleInfo kRepeatedKey = {
    .id = "text.repeated_key",
    .field = "",
    .summary = "The entries of a map have different keys.",
    .expected = "a key that no other entry has",
    .remedy = "Remove one of the entries: the last one counts.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kConfigFile = {
    .id = "files.config",
    .field = "",
    .summary =
        "A model has a readable configuration file; it may be left out where the backend can tell.",
    .expected = "a file config.pbtxt",
    .remedy = "Write the file; nereid init makes one from a model file.",
    .severity = Severity::kError,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kBackendTold = {
    .id = "files.backend",
    .field = "backend",
    .summary = "The configuration or the files tell the backend.",
    .expected = "backend, platform, or a model file with a known name",
    .remedy = "Set backend.",
    .severity = Severity::kError,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kBackendLibrary = {
    .id = "files.backend_library",
    .field = "backend",
    .summary = "The library of the backend is there.",
    .expected = "the library of the backend",
    .remedy = "Correct the name of the backend, or install it in the backend directory.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kAgentLibrary = {
    .id = "files.agent_library",
    .field = "model_repository_agents.agents.name",
    .summary = "The libraries of the repository agents are there.",
    .expected = "the library of the agent",
    .remedy = "Correct the name of the agent, or install it in the directory of the agents.",
    .severity = Severity::kError,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kModelFile = {
    .id = "files.model",
    .field = "default_model_filename",
    .summary = "Every version that is served holds the model's file.",
    .expected = "the model's file in the version's directory",
    .remedy = "Put the file there, or name the one that is there in default_model_filename.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kModelContent = {
    .id = "files.content",
    .field = "",
    .summary = "The model's file is whole, and is what the backend reads, with the files it needs.",
    .expected = "a file that the backend can read",
    .remedy = "Copy or export the file again.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kConfigName = {
    .id = "files.config_name",
    .field = "",
    .summary = "A configuration has the name config.pbtxt and lies in the model's directory.",
    .expected = "no configuration with another name where config.pbtxt is missing",
    .remedy = "Rename or move the file.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kStrayFile = {
    .id = "repository.stray_file",
    .field = "",
    .summary =
        "Model files are in directories of models; those in the repository itself are not "
        "looked at.",
    .expected = "only directories of models",
    .remedy = "Move the file into the directory of a model and a version.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kExampleLeft = {
    .id = "text.example",
    .field = "",
    .summary =
        "The examples that nereid init writes are replaced by the model's names, types and "
        "dims.",
    .expected = "the model's own value",
    .remedy = "Correct the value, and remove the comment.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kExampleLeftWarning = {
    .id = "text.example_value",
    .field = "",
    .summary = "Data types and dims that nereid init could not read from the file are checked.",
    .expected = "the model's own value",
    .remedy = "Correct the value, and remove the comment.",
    .severity = Severity::kWarning,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kPlaceholderLeft = {
    .id = "text.placeholder_value",
    .field = "",
    .summary = "Texts in quotes have no placeholders of a template that was not filled in.",
    .expected = "the value itself",
    .remedy = "",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kModuleState = {
    .id = "files.module_state",
    .field = "sequence_batching",
    .summary = "A TorchScript module that changes its attributes serves one client, or sequences.",
    .expected = "sequence_batching with one instance, or a module without state",
    .remedy =
        "Set sequence_batching { } and instance_group { kind: KIND_CPU count: 1 }, or return "
        "the state as outputs and let sequence_batching.state keep it.",
    .severity = Severity::kWarning,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kLabelFile = {.id = "files.labels",
                                        .field = "output.label_filename",
                                        .summary = "Label files are in the model's directory.",
                                        .expected = "a file below the model's directory",
                                        .remedy = "Put the file there, or correct label_filename.",
                                        .severity = Severity::kError,
                                        .stage = Stage::kLoad};
inline constexpr RuleInfo kWarmupFile = {
    .id = "files.warmup",
    .field = "model_warmup.inputs.input_data_file",
    .summary =
        "The data files of warmup samples are in the directory warmup, and hold a whole tensor.",
    .expected = "a file in the directory warmup of the model",
    .remedy = "Put the data there, or use zero_data or random_data.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kInitialStateFile = {
    .id = "files.initial_state",
    .field = "sequence_batching.state.initial_state.data_file",
    .summary =
        "The data files of initial states are in the directory initial_state, and hold a whole "
        "tensor.",
    .expected = "a file in the directory initial_state of the model",
    .remedy = "Put the data there, or use zero_data.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kNoVersion = {
    .id = "versions.none",
    .field = "version_policy",
    .summary = "The version policy selects at least one version that is there.",
    .expected = "a directory with the number of a version",
    .remedy =
        "Make the directory of a version (an ensemble's may be empty), or change version_policy.",
    .severity = Severity::kError,
    .stage = Stage::kLoad};
inline constexpr RuleInfo kMissingVersion = {
    .id = "versions.missing",
    .field = "version_policy.specific.versions",
    .summary = "The versions that a policy lists are there.",
    .expected = "a version that has a directory",
    .remedy = "Make its directory, or remove it from the list.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kIgnoredDirectory = {
    .id = "versions.ignored",
    .field = "",
    .summary =
        "The directories in a model's directory are versions: numbers without leading zeros (or "
        "configs, warmup, initial_state).",
    .expected = "a number without leading zeros",
    .remedy = "Rename the directory, or move it out of the model's directory.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kNoModel = {
    .id = "repository.no_model",
    .field = "",
    .summary =
        "The directories of a repository are models: they have a configuration, a model file, or "
        "the name of an installed backend behind the dot of their name.",
    .expected = "a model",
    .remedy = "Move the directory out of the repository, or put a '.' before its name.",
    .severity = Severity::kWarning,
    .stage = Stage::kPoll};
inline constexpr RuleInfo kDuplicateModel = {
    .id = "repository.duplicate",
    .field = "",
    .summary = "A name stands for one model in all repositories.",
    .expected = "a name that no other repository has",
    .remedy = "Rename or remove all but one.",
    .severity = Severity::kError,
    .stage = Stage::kPoll};

inline constexpr std::array kCheckRules = {
    &kRepeatedKey,  &kExampleLeft,    &kExampleLeftWarning, &kPlaceholderLeft, &kConfigFile,
    &kConfigName,   &kBackendTold,    &kBackendLibrary,     &kAgentLibrary,    &kModelFile,
    &kModelContent, &kModuleState,    &kLabelFile,          &kWarmupFile,      &kInitialStateFile,
    &kNoVersion,    &kMissingVersion, &kIgnoredDirectory,   &kNoModel,         &kDuplicateModel,
    &kStrayFile};

}  // namespace nereid::repository::check
