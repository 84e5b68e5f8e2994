// SPDX-License-Identifier: Apache-2.0
#include "pytorch/naming.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace nereid::pytorch {
namespace {

/// The number after the last "__"; nothing for a name of another form.
std::optional<size_t> PlaceIn(const std::string& name) {
  const size_t at = name.rfind("__");
  if (at == std::string::npos || at == 0) {
    return std::nullopt;
  }
  size_t place = 0;
  const char* end = name.data() + name.size();
  const auto [rest, failure] = std::from_chars(name.data() + at + 2, end, place);
  return failure == std::errc() && rest == end && at + 2 < name.size() ? std::optional(place)
                                                                       : std::nullopt;
}

std::optional<size_t> ArgumentOf(const std::string& name,
                                 const std::vector<std::string>& arguments) {
  const auto found = std::find(arguments.begin(), arguments.end(), name);
  if (found != arguments.end()) {
    return static_cast<size_t>(found - arguments.begin());
  }
  return PlaceIn(name);
}

/// The places of all names, or their order where one has none.
template <typename Find>
std::vector<size_t> PlacesOf(const std::vector<std::string>& names, Find&& find) {
  std::vector<size_t> places(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::optional<size_t> place = find(names[i]);
    if (!place) {
      std::iota(places.begin(), places.end(), size_t{0});
      return places;
    }
    places[i] = *place;
  }
  return places;
}

std::string ListOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Error MakeNaming(const std::string& model, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::vector<std::string>& arguments,
                 bool takes_dictionary, Naming* naming) {
  naming->results = PlacesOf(outputs, PlaceIn);
  naming->dictionary = takes_dictionary;
  if (takes_dictionary) {
    naming->arguments.assign(inputs.size(), 0);
    return {};
  }
  naming->arguments =
      PlacesOf(inputs, [&](const std::string& name) { return ArgumentOf(name, arguments); });
  std::vector<const std::string*> taken(arguments.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t place = naming->arguments[i];
    if (place >= arguments.size()) {
      return Error::InvalidArgument("model '" + model + "': input '" + inputs[i] +
                                    "' would be argument " + std::to_string(place) +
                                    " of forward, whose arguments are: " + ListOf(arguments) +
                                    "; name the inputs after them, or <name>__<place>");
    }
    if (taken[place] != nullptr) {
      return Error::InvalidArgument("model '" + model + "': the inputs '" + *taken[place] +
                                    "' and '" + inputs[i] + "' are both argument '" +
                                    arguments[place] + "' of forward");
    }
    taken[place] = &inputs[i];
  }
  return {};
}

}  // namespace nereid::pytorch
