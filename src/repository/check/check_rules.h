// SPDX-License-Identifier: Apache-2.0
// The rules about what surrounds a configuration: its text, its files, the other models.
#pragma once

#include <array>

#include "config/rules/validate.h"

namespace nereid::repository::check {

using config::RuleInfo;
using config::Severity;
using config::Stage;

inline constexpr RuleInfo kRepeatedKey = {"text.repeated_key",
                                          "",
                                          "The entries of a map have different keys.",
                                          "a key that no other entry has",
                                          "Remove one of the entries: the last one counts.",
                                          Severity::kWarning,
                                          Stage::kPoll};
inline constexpr RuleInfo kConfigFile = {
    "files.config",
    "",
    "A model has a readable configuration file; it may be left out where the backend can tell.",
    "a file config.pbtxt",
    "Write the file; nereid init makes one from a model file.",
    Severity::kError,
    Stage::kPoll};
inline constexpr RuleInfo kBackendTold = {"files.backend",
                                          "backend",
                                          "The configuration or the files tell the backend.",
                                          "backend, platform, or a model file with a known name",
                                          "Set backend.",
                                          Severity::kError,
                                          Stage::kPoll};
inline constexpr RuleInfo kBackendLibrary = {
    "files.backend_library",
    "backend",
    "The library of the backend is there.",
    "the library of the backend",
    "Correct the name of the backend, or install it in the backend directory.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kModelFile = {
    "files.model",
    "default_model_filename",
    "Every version that is served holds the model's file.",
    "the model's file in the version's directory",
    "Put the file there, or name the one that is there in default_model_filename.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kLabelFile = {"files.labels",
                                        "output.label_filename",
                                        "Label files are in the model's directory.",
                                        "a file below the model's directory",
                                        "Put the file there, or correct label_filename.",
                                        Severity::kError,
                                        Stage::kLoad};
inline constexpr RuleInfo kWarmupFile = {
    "files.warmup",
    "model_warmup.inputs.input_data_file",
    "The data files of warmup samples are in the directory warmup, and hold a whole tensor.",
    "a file in the directory warmup of the model",
    "Put the data there, or use zero_data or random_data.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kInitialStateFile = {
    "files.initial_state",
    "sequence_batching.state.initial_state.data_file",
    "The data files of initial states are in the directory initial_state, and hold a whole tensor.",
    "a file in the directory initial_state of the model",
    "Put the data there, or use zero_data.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kNoVersion = {
    "versions.none",
    "version_policy",
    "The version policy selects at least one version that is there.",
    "a directory with the number of a version",
    "Make the directory of a version (an ensemble's may be empty), or change version_policy.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kMissingVersion = {"versions.missing",
                                             "version_policy.specific.versions",
                                             "The versions that a policy lists are there.",
                                             "a version that has a directory",
                                             "Make its directory, or remove it from the list.",
                                             Severity::kWarning,
                                             Stage::kPoll};
inline constexpr RuleInfo kIgnoredDirectory = {
    "versions.ignored",
    "",
    "The directories in a model's directory are versions: numbers without leading zeros (or "
    "configs, warmup, initial_state).",
    "a number without leading zeros",
    "Rename the directory, or move it out of the model's directory.",
    Severity::kWarning,
    Stage::kPoll};
inline constexpr RuleInfo kVersionName = {
    "versions.name",
    "",
    "The name of a version's directory is its number and nothing else.",
    "the number alone",
    "Rename the directory, or move it out of the model's directory.",
    Severity::kError,
    Stage::kLoad};
inline constexpr RuleInfo kDuplicateModel = {"repository.duplicate",
                                             "",
                                             "A name stands for one model in all repositories.",
                                             "a name that no other repository has",
                                             "Rename or remove all but one.",
                                             Severity::kError,
                                             Stage::kPoll};

inline constexpr std::array kCheckRules = {
    &kRepeatedKey,      &kConfigFile,  &kBackendTold,      &kBackendLibrary, &kModelFile,
    &kLabelFile,        &kWarmupFile,  &kInitialStateFile, &kNoVersion,      &kMissingVersion,
    &kIgnoredDirectory, &kVersionName, &kDuplicateModel};

}  // namespace nereid::repository::check
