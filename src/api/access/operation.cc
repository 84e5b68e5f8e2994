// SPDX-License-Identifier: Apache-2.0
#include "api/access/operation.h"

namespace nereid::api {
namespace {

// In the order of Category.
constexpr std::string_view kCategories[] = {"health",        "metadata",     "inference",
                                            "shared-memory", "model-config", "model-repository",
                                            "statistics",    "trace",        "logging"};

static_assert(std::size(kCategories) == static_cast<size_t>(Category::kNone));

}  // namespace

std::string_view CategoryName(Category category) {
  return category == Category::kNone ? "" : kCategories[static_cast<size_t>(category)];
}

std::optional<Category> FindCategory(std::string_view name) {
  for (size_t i = 0; i < std::size(kCategories); ++i) {
    if (kCategories[i] == name) return static_cast<Category>(i);
  }
  return std::nullopt;
}

}  // namespace nereid::api
