// SPDX-License-Identifier: Apache-2.0
#include "python/worker_argument.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace nereid::python {

std::string WriteWorkerArgument(const WorkerArgument& argument) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> out(text);
  const auto member = [&](const char* name, const std::string& value) {
    out.Key(name);
    out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  const auto list = [&](const char* name, const std::vector<std::string>& values) {
    out.Key(name);
    out.StartArray();
    for (const std::string& value : values) {
      out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    }
    out.EndArray();
  };
  out.StartObject();
  out.Key("args");
  out.StartObject();
  for (const auto& [name, value] : argument.args) {
    member(name.c_str(), value);
  }
  out.EndObject();
  member("name", argument.name);
  member("model_file", argument.model_file);
  member("module", argument.module);
  member("version_directory", argument.version_directory);
  list("search_path", argument.search_path);
  list("states", argument.states);
  list("gpus", argument.gpus);
  out.Key("decoupled");
  out.Bool(argument.decoupled);
  out.Key("cpus");
  out.StartArray();
  for (const int cpu : argument.cpus) {
    out.Int(cpu);
  }
  out.EndArray();
  out.Key("memory_limit");
  out.Int64(argument.memory_limit);
  out.Key("shared_memory_limit");
  out.Uint64(argument.shared_memory_limit);
  out.EndObject();
  return {text.GetString(), text.GetSize()};
}

}  // namespace nereid::python
