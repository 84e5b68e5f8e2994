// SPDX-License-Identifier: Apache-2.0
#include "config/text/field_names.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <vector>

#include "base/ascii_case.h"
#include "base/near_name.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

constexpr size_t kMaxDepth = 8;
constexpr size_t kMaxPlaces = 3;

/// Names that other formats have for a field.
struct Alias {
  std::string_view type;
  std::string_view wrong;
  std::string_view name;
};
constexpr Alias kAliases[] = {
    {"ModelConfig", "model_name", "name"}, {"ModelInput", "shape", "dims"},
    {"ModelOutput", "shape", "dims"},      {"ModelInput", "dtype", "data_type"},
    {"ModelOutput", "dtype", "data_type"},
};

/// A field of the configuration, at any depth.
struct Place {
  const pb::FieldDescriptor* field = nullptr;
  std::vector<std::string> parents;  // the fields around it
};

void ListPlaces(const pb::Descriptor& type, const std::vector<std::string>& parents,
                std::vector<Place>* places) {
  if (parents.size() > kMaxDepth) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* const field = type.field(i);
    places->push_back({field, parents});
    const pb::Descriptor* inner = field->message_type();
    if (field->is_map()) inner = inner->map_value()->message_type();
    if (inner == nullptr) continue;
    std::vector<std::string> inside = parents;
    inside.push_back(field->name());
    ListPlaces(*inner, inside, places);
  }
}

/// Returns the fields in a message, those that are less deep first.
std::vector<Place> PlacesIn(const pb::Descriptor& type) {
  std::vector<Place> places;
  ListPlaces(type, {}, &places);
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.parents.size() < b.parents.size();
  });
  return places;
}

/// Returns the name without the differences of the usual spellings: "maxBatchSize" and
/// "max-batch-size" are the same.
std::string Plain(std::string_view name) {
  std::string plain = base::ToLower(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  return plain;
}

/// Returns the plain name without an 's' at its end: "inputs" means "input".
std::string WithoutPlural(std::string_view name) {
  std::string plain = Plain(name);
  if (plain.ends_with('s')) plain.pop_back();
  return plain;
}

/// Returns "sequence_batching { oldest { } }".
std::string PlaceText(const Place& place) {
  if (place.parents.empty()) return "the configuration itself, outside of other fields";
  std::string text, end;
  for (const std::string& parent : place.parents) {
    text += parent + " { ";
    end += end.empty() ? "}" : " }";
  }
  return text + end;
}

/// Returns the places of the name that are not deeper than others.
std::string PlacesOf(std::string_view name, const std::vector<Place>& places) {
  const std::string plain = Plain(name);
  std::vector<std::string> found;
  size_t depth = 0;
  for (const Place& place : places) {
    if (Plain(place.field->name()) != plain) continue;
    if (!found.empty() && place.parents.size() > depth) break;
    depth = place.parents.size();
    found.push_back(PlaceText(place));
  }
  if (found.size() > kMaxPlaces) return "";
  std::string text;
  for (size_t i = 0; i < found.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < found.size() ? ", " : " or ") + found[i];
  }
  return text;
}

}  // namespace

std::string MeantField::Remedy() const {
  if (!name.empty()) return "Write '" + name + "'.";
  return place.empty() ? "" : "Move it into " + place + ".";
}

std::string MeantField::Hint() const {
  if (!name.empty()) return " Did you mean '" + name + "'?";
  return place.empty() ? "" : " It belongs into " + place + ".";
}

MeantField FindMeantField(std::string_view name, const pb::Descriptor& type) {
  std::vector<std::string_view> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
    if (WithoutPlural(names.back()) == WithoutPlural(name)) {
      return {.name = std::string(names.back()), .place = ""};
    }
  }
  for (const Alias& alias : kAliases) {
    if (alias.type == type.name() && alias.wrong == name) {
      return {.name = std::string(alias.name), .place = ""};
    }
  }
  std::string places;
  // What is wrong in an entry of a map belongs into its value, or nowhere.
  if (!type.options().map_entry()) {
    places = PlacesOf(name, PlacesIn(type));
    if (places.empty()) places = PlacesOf(name, PlacesIn(*inference::ModelConfig::descriptor()));
  }
  if (!places.empty()) return {.name = "", .place = std::move(places)};
  return {.name = std::string(base::NearestName(name, names)), .place = ""};
}

}  // namespace nereid::config
