// SPDX-License-Identifier: Apache-2.0
#include "config/text/fields.h"

#include <google/protobuf/descriptor.h>

#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

// Receives every field and every list element of an outline.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void OnField(KnownField /*field*/) {}
  virtual void OnPlace(const std::string& /*path*/, TextPosition /*position*/) {}
  virtual void OnMapEntry(const std::string& /*path*/, TextPosition /*position*/) {}
};

const TextField* FieldNamed(const TextValue& value, std::string_view name) {
  for (const TextField& field : value.fields) {
    if (field.name == name && !field.values.empty()) return &field;
  }
  return nullptr;
}

std::string KeyText(const TextValue& entry, const pb::FieldDescriptor& map) {
  const TextField* key = FieldNamed(entry, "key");
  const std::string text = key == nullptr ? "" : key->values.front().scalar;
  const bool is_string =
      map.message_type()->map_key()->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING;
  return text.empty() && !is_string ? "0" : text;
}

class Walk {
 public:
  explicit Walk(Visitor* visitor) : visitor_(*visitor) {}

  // Visits the fields of a message. `prefix` ends with a dot unless it is empty. `type` is null
  // inside unknown fields.
  void Fields(const std::vector<TextField>& fields, const pb::Descriptor* type,
              const std::string& prefix) {
    std::map<std::string_view, int> counts;
    for (const TextField& text : fields) {
      const pb::FieldDescriptor* field =
          type == nullptr ? nullptr : type->FindFieldByName(text.name);
      const std::string path = prefix + text.name;
      visitor_.OnField({path, type, field, &text});
      visitor_.OnPlace(path, text.position);
      if (field == nullptr || !field->is_repeated()) {
        if (!text.values.empty()) Value(text.values.front(), field, path);
        continue;
      }
      int& count = counts[text.name];
      const bool list = text.values.size() > 1;
      // A message that is a field of its own is found at the field's name, and any other element of
      // a list at its value.
      for (const TextValue& value : text.values) {
        const TextPosition position = list || !value.is_message ? value.position : text.position;
        if (field->is_map()) {
          MapEntry(value, *field, path + "[" + KeyText(value, *field) + "]", position);
        } else {
          const std::string element = path + "[" + std::to_string(count++) + "]";
          visitor_.OnPlace(element, position);
          Value(value, field, element);
        }
      }
    }
  }

 private:
  void Value(const TextValue& value, const pb::FieldDescriptor* field, const std::string& path) {
    if (!value.is_message) return;
    Fields(value.fields, field == nullptr ? nullptr : field->message_type(), path + ".");
  }

  // Visits a map entry. The entry and its value have the same path; the fields of a message value
  // follow it directly.
  void MapEntry(const TextValue& value, const pb::FieldDescriptor& map, const std::string& path,
                TextPosition position) {
    visitor_.OnMapEntry(path, position);
    for (const TextField& part : value.fields) {
      const pb::FieldDescriptor* field = map.message_type()->FindFieldByName(part.name);
      visitor_.OnField({path, map.message_type(), field, &part});
      if (!part.values.empty()) Value(part.values.front(), field, path);
    }
  }

  Visitor& visitor_;
};

class Lister : public Visitor {
 public:
  void OnField(KnownField field) override { fields.push_back(std::move(field)); }
  std::vector<KnownField> fields;
};

class Placer : public Visitor {
 public:
  void OnPlace(const std::string& path, TextPosition position) override {
    places.try_emplace(path, position);
  }
  void OnMapEntry(const std::string& path, TextPosition position) override {
    const bool first = places.try_emplace(path, position).second;
    if (!first) repeated.emplace_back(path, position);
  }
  std::map<std::string, TextPosition, std::less<>> places;
  std::vector<std::pair<std::string, TextPosition>> repeated;
};

}  // namespace

Locations Locations::Of(const std::vector<TextField>& fields) {
  Placer placer;
  Walk(&placer).Fields(fields, inference::ModelConfig::descriptor(), "");
  Locations locations;
  locations.places_ = std::move(placer.places);
  locations.repeated_keys_ = std::move(placer.repeated);
  return locations;
}

const TextPosition* Locations::Find(std::string_view path) const {
  const auto found = places_.find(path);
  return found == places_.end() ? nullptr : &found->second;
}

TextPosition Locations::Nearest(std::string_view path) const {
  for (; !path.empty(); path = ParentPath(path)) {
    if (const TextPosition* position = Find(path)) return *position;
  }
  return {1, 1};
}

std::vector<KnownField> ListFields(const std::vector<TextField>& fields) {
  Lister lister;
  Walk(&lister).Fields(fields, inference::ModelConfig::descriptor(), "");
  return std::move(lister.fields);
}

std::string_view ParentPath(std::string_view path) {
  const size_t at = path.find_last_of(".[");
  return path.substr(0, at == std::string_view::npos ? 0 : at);
}

}  // namespace nereid::config
