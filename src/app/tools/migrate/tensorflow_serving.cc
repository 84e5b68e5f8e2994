// SPDX-License-Identifier: Apache-2.0
// The messages of TensorFlow Serving that are read here (their text format):
//   ModelServerConfig   model_config_list | custom_model_config
//   ModelConfigList     config (repeated)
//   ModelConfig         name, base_path, model_platform, model_version_policy, version_labels,
//                       logging_config, model_type
//   model_version_policy  latest { num_versions } | all { } | specific { versions }
//   BatchingParameters  max_batch_size, batch_timeout_micros, max_enqueued_batches,
//   num_batch_threads
//                       (each { value: N }), allowed_batch_sizes, pad_variable_length_inputs
#include <algorithm>
#include <string>

#include "app/tools/migrate/migration.h"
#include "base/parse_number.h"
#include "config/text/outline.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using config::TextField;
using config::TextValue;

Status ErrorAt(const config::TextPosition& position, const std::string& what) {
  return Status::InvalidArgument("line " + std::to_string(position.line) + ", column " +
                                 std::to_string(position.column) + ": " + what);
}

/// Returns the innermost field that the text breaks off in, or null.
const TextField* BrokenField(const std::vector<TextField>& fields) {
  for (const TextField& field : fields) {
    for (const TextValue& value : field.values) {
      if (const TextField* const broken = BrokenField(value.fields)) return broken;
    }
    if (field.end == 0) return &field;
  }
  return nullptr;
}

base::Result<std::vector<TextField>> ReadFields(std::string_view text) {
  std::vector<TextField> fields = config::ReadOutline(text, config::TextLines(text));
  if (const TextField* const broken = BrokenField(fields)) {
    return ErrorAt(broken->position, "the text is not in protobuf's text format from here on");
  }
  return fields;
}

Status Unknown(const TextField& field, const char* where, const char* expected) {
  return ErrorAt(field.position,
                 "'" + field.name + "' is not a field of " + where + "; expected " + expected);
}

base::Result<const TextValue*> OnlyValue(const TextField& field, bool is_message) {
  if (field.values.size() == 1 && field.values[0].is_message == is_message) {
    return &field.values[0];
  }
  return ErrorAt(field.position,
                 "'" + field.name + "' needs one " + (is_message ? "message in braces" : "value"));
}

base::Result<std::string> TextOf(const TextField& field) {
  NEREID_ASSIGN_OR_RETURN(const TextValue* const value, OnlyValue(field, false));
  return value->scalar;
}

base::Result<int64_t> NumberOf(const TextField& field, const TextValue& value, int64_t least) {
  const auto number = base::ParseWhole<int64_t>(value.scalar);
  if (!value.is_message && number && *number >= least) return *number;
  return ErrorAt(value.position, "'" + field.name + "' needs a whole number of at least " +
                                     std::to_string(least) + ". Got '" + value.scalar + "'");
}

base::Result<int64_t> NumberOf(const TextField& field, int64_t least) {
  NEREID_ASSIGN_OR_RETURN(const TextValue* const value, OnlyValue(field, false));
  return NumberOf(field, *value, least);
}

Status ReadPolicy(const TextField& policy, MigratedVersions* versions) {
  using Kind = MigratedVersions::Kind;
  NEREID_ASSIGN_OR_RETURN(const TextValue* const message, OnlyValue(policy, true));
  for (const TextField& choice : message->fields) {
    NEREID_ASSIGN_OR_RETURN(const TextValue* const chosen, OnlyValue(choice, true));
    if (choice.name == "latest") {
      versions->kind = Kind::kLatest;
    } else if (choice.name == "all") {
      versions->kind = Kind::kAll;
    } else if (choice.name == "specific") {
      versions->kind = Kind::kSpecific;
    } else {
      return Unknown(choice, "model_version_policy", "latest, all or specific");
    }
    for (const TextField& field : chosen->fields) {
      if (versions->kind == Kind::kLatest && field.name == "num_versions") {
        NEREID_ASSIGN_OR_RETURN(versions->count, NumberOf(field, 1));
      } else if (versions->kind == Kind::kSpecific && field.name == "versions") {
        for (const TextValue& value : field.values) {
          NEREID_ASSIGN_OR_RETURN(const int64_t version, NumberOf(field, value, 0));
          versions->versions.push_back(version);
        }
      } else {
        return Unknown(field, choice.name.c_str(), "num_versions or versions");
      }
    }
  }
  return {};
}

Status ReadLabel(const TextField& entry, MigratedModel* model) {
  for (const TextValue& value : entry.values) {
    std::string label;
    int64_t version = 0;
    if (!value.is_message) return ErrorAt(value.position, "version_labels needs { key value }");
    for (const TextField& field : value.fields) {
      if (field.name == "key") {
        NEREID_ASSIGN_OR_RETURN(label, TextOf(field));
      } else if (field.name == "value") {
        NEREID_ASSIGN_OR_RETURN(version, NumberOf(field, 0));
      } else {
        return Unknown(field, "version_labels", "key or value");
      }
    }
    model->labels[label] = version;
  }
  return {};
}

Status ReadPlatform(const TextField& field, MigratedModel* model) {
  NEREID_ASSIGN_OR_RETURN(const std::string platform, TextOf(field));
  if (platform == "tensorflow") return {};
  return ErrorAt(field.position, "model '" + model->name + "' has the model_platform '" + platform +
                                     "'; only 'tensorflow' can be converted");
}

Status ReadModelField(const TextField& field, MigratedModel* model) {
  if (field.name == "name") {
    NEREID_ASSIGN_OR_RETURN(model->name, TextOf(field));
  } else if (field.name == "base_path") {
    NEREID_ASSIGN_OR_RETURN(model->base_path, TextOf(field));
  } else if (field.name == "model_platform") {
    return ReadPlatform(field, model);
  } else if (field.name == "model_version_policy") {
    return ReadPolicy(field, &model->versions);
  } else if (field.name == "version_labels") {
    return ReadLabel(field, model);
  } else if (field.name == "logging_config") {
    model->notes.emplace_back("logging_config: requests are logged with --log-verbose or traced");
  } else if (field.name != "model_type") {
    return Unknown(field, "config",
                   "name, base_path, model_platform, model_version_policy or version_labels");
  }
  return {};
}

Status ReadModels(const TextField& list, Migration* migration) {
  for (const TextValue& value : list.values) {
    if (!value.is_message) return ErrorAt(value.position, "model_config_list needs { config }");
    for (const TextField& config : value.fields) {
      if (config.name != "config") return Unknown(config, "model_config_list", "config");
      for (const TextValue& entry : config.values) {
        if (!entry.is_message) return ErrorAt(entry.position, "config needs { name base_path }");
        MigratedModel& model = migration->models.emplace_back();
        for (const TextField& field : entry.fields) {
          NEREID_RETURN_IF_ERROR(ReadModelField(field, &model));
        }
        if (model.name.empty() || model.base_path.empty()) {
          return ErrorAt(entry.position, "a config needs name and base_path");
        }
      }
    }
  }
  return {};
}

/// Reads a field of the form { value: N }.
base::Result<int64_t> WrappedNumber(const TextField& field, int64_t most) {
  NEREID_ASSIGN_OR_RETURN(const TextValue* const message, OnlyValue(field, true));
  if (message->fields.size() != 1 || message->fields[0].name != "value") {
    return ErrorAt(field.position, "'" + field.name + "' needs { value: … }");
  }
  NEREID_ASSIGN_OR_RETURN(const int64_t number, NumberOf(message->fields[0], 0));
  if (number <= most) return number;
  return ErrorAt(field.position, "'" + field.name + "' is above " + std::to_string(most));
}

Status ReadBatching(const std::vector<TextField>& fields, Migration* migration) {
  constexpr int64_t kMaxInstances = 1024;
  constexpr int64_t kMaxDelayUs = 3'600'000'000;
  // TensorFlow Serving's defaults.
  int64_t batch = 1000, delay_us = 1000;
  std::optional<int64_t> threads;
  for (const TextField& field : fields) {
    if (field.name == "max_batch_size") {
      NEREID_ASSIGN_OR_RETURN(batch, WrappedNumber(field, INT32_MAX));
    } else if (field.name == "batch_timeout_micros") {
      NEREID_ASSIGN_OR_RETURN(delay_us, WrappedNumber(field, kMaxDelayUs));
    } else if (field.name == "num_batch_threads") {
      NEREID_ASSIGN_OR_RETURN(threads, WrappedNumber(field, kMaxInstances));
    } else if (field.name == "max_enqueued_batches") {
      migration->notes.emplace_back(
          "max_enqueued_batches: the length of queues is limited per model, by "
          "dynamic_batching.default_queue_policy.max_queue_size");
    } else {
      migration->notes.push_back(field.name + " of the batching parameters has no counterpart");
    }
  }
  for (MigratedModel& model : migration->models) {
    model.max_batch_size = static_cast<int32_t>(batch);
    model.queue_delay_us = delay_us;
    model.instances = threads;
  }
  return {};
}

}  // namespace

base::Result<Migration> ReadTensorFlowServing(std::string_view models, std::string_view batching) {
  Migration migration;
  NEREID_ASSIGN_OR_RETURN(const auto fields, ReadFields(models));
  for (const TextField& field : fields) {
    if (field.name == "custom_model_config") {
      return ErrorAt(field.position,
                     "custom_model_config is for servers with other sources; only "
                     "model_config_list can be converted");
    }
    if (field.name != "model_config_list") {
      return Unknown(field, "a models.config", "model_config_list");
    }
    NEREID_RETURN_IF_ERROR(ReadModels(field, &migration));
  }
  if (migration.models.empty()) {
    return Status::InvalidArgument("the text has no model_config_list { config { … } }");
  }
  if (!batching.empty()) {
    const auto parameters = ReadFields(batching);
    if (!parameters.ok()) return parameters.status().WithPrefix("--batching: ");
    NEREID_RETURN_IF_ERROR(ReadBatching(*parameters, &migration).WithPrefix("--batching: "));
  }
  return migration;
}

}  // namespace nereid::app::tools
