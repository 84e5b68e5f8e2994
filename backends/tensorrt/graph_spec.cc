// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/graph_spec.h"

#include <algorithm>

#include "nereid/backend/data_type.h"

namespace nereid::tensorrt {
namespace {

using Numbers = std::vector<int64_t>;

bool Within(const Numbers& lower, const Numbers& numbers, const Numbers& upper) {
  const auto at_most = [](int64_t a, int64_t b) { return a <= b; };
  return lower.size() == numbers.size() && upper.size() == numbers.size() &&
         std::equal(lower.begin(), lower.end(), numbers.begin(), at_most) &&
         std::equal(numbers.begin(), numbers.end(), upper.begin(), at_most);
}

Error Bad(const std::string& text) {
  return Error::InvalidArgument("optimization.cuda.graph_spec " + text);
}

/// Sets the complete shape (or values) of an input from its entry, which lacks the batch size.
Error CompleteShape(const GraphShapes& shapes, const EngineTensor& input, bool batching,
                    Numbers* numbers) {
  const std::string& name = input.signature.name;
  const Numbers& dims = input.signature.dims;
  const size_t length = !input.shape_tensor ? dims.size() : dims.empty() ? 1 : size_t(dims[0]);
  numbers->clear();
  if (const auto found = shapes.inputs.find(name); found != shapes.inputs.end()) {
    *numbers = found->second;
  } else if (input.shape_tensor) {
    return Bad("lacks the values of the shape tensor '" + name + "'");
  } else {
    numbers->assign(dims.begin() + (batching && !dims.empty() ? 1 : 0), dims.end());
  }
  if (batching && numbers->size() + 1 == length) {
    numbers->insert(numbers->begin(), shapes.batch_size);
  }
  const bool open =
      std::any_of(numbers->begin(), numbers->end(), [](int64_t number) { return number < 0; });
  if (open || numbers->size() != length) {
    return Bad("has no complete shape of the input '" + name + "', which is " +
               backend::ShapeText(dims) + " in the engine");
  }
  return {};
}

Error CompleteAll(const GraphShapes& shapes, const std::vector<EngineTensor>& inputs, bool batching,
                  std::vector<Numbers>* all) {
  for (const auto& entry : shapes.inputs) {
    const std::string& name = entry.first;
    if (std::none_of(inputs.begin(), inputs.end(),
                     [&](const EngineTensor& input) { return input.signature.name == name; })) {
      return Bad("names the input '" + name + "', which the engine lacks");
    }
  }
  for (const EngineTensor& input : inputs) {
    NEREID_BACKEND_TRY(CompleteShape(shapes, input, batching, &all->emplace_back()));
  }
  return {};
}

Error CheckLower(const GraphRange& range, const std::vector<EngineTensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Numbers& lower = range.lower[i];
    const Numbers& upper = range.upper[i];
    const size_t same = inputs[i].shape_tensor ? 0 : 1;
    if (!Within(lower, lower, upper) ||
        !std::equal(lower.begin() + static_cast<int64_t>(std::min(same, lower.size())), lower.end(),
                    upper.begin() + static_cast<int64_t>(std::min(same, upper.size())),
                    upper.end())) {
      return Bad("has the graph_lower_bound " + backend::ShapeText(lower) + " for the input '" +
                 inputs[i].signature.name + "'; it may only be smaller than " +
                 backend::ShapeText(upper) + " in the first dimension");
    }
  }
  return {};
}

std::vector<GraphSpec> DefaultSpecs(const std::vector<EngineTensor>& inputs, int64_t max_batch_size,
                                    const Profile& profile) {
  GraphShapes shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Numbers& best = profile.inputs[i].best;
    const bool has_batch = max_batch_size > 0 && !best.empty();
    shapes.inputs[inputs[i].signature.name].assign(best.begin() + (has_batch ? 1 : 0), best.end());
  }
  std::vector<GraphSpec> specs;
  for (shapes.batch_size = 1; shapes.batch_size < max_batch_size; shapes.batch_size *= 2) {
    specs.push_back({shapes, std::nullopt});
  }
  shapes.batch_size = max_batch_size;
  specs.push_back({shapes, std::nullopt});
  return specs;
}

bool Accepts(const Profile& profile, const GraphRange& range) {
  for (size_t i = 0; i < profile.inputs.size(); ++i) {
    if (!Within(profile.inputs[i].least, range.upper[i], profile.inputs[i].most)) {
      return false;
    }
  }
  return true;
}

/// Compares two graphs by the sum of their sizes.
double SizeOf(const GraphRange& range) {
  double sum = 0;
  for (const Numbers& numbers : range.upper) {
    double product = 1;
    for (const int64_t number : numbers) {
      product *= static_cast<double>(number);
    }
    sum += product;
  }
  return sum;
}

}  // namespace

Error MakeGraphRanges(const std::vector<GraphSpec>& specs, const std::vector<EngineTensor>& inputs,
                      int64_t max_batch_size, const Profile& profile,
                      std::vector<GraphRange>* ranges) {
  const bool batching = max_batch_size > 0;
  for (const GraphSpec& spec :
       specs.empty() ? DefaultSpecs(inputs, max_batch_size, profile) : specs) {
    if (batching && (spec.shapes.batch_size < 1 || spec.shapes.batch_size > max_batch_size)) {
      return Bad("has the batch_size " + std::to_string(spec.shapes.batch_size) +
                 ", which must be from 1 to max_batch_size, " + std::to_string(max_batch_size));
    }
    GraphRange range;
    NEREID_BACKEND_TRY(CompleteAll(spec.shapes, inputs, batching, &range.upper));
    range.lower = range.upper;
    if (spec.lower) {
      range.lower.clear();
      NEREID_BACKEND_TRY(CompleteAll(*spec.lower, inputs, batching, &range.lower));
      NEREID_BACKEND_TRY(CheckLower(range, inputs));
    }
    if (Accepts(profile, range)) {
      ranges->push_back(std::move(range));
    }
  }
  return {};
}

int ChooseGraph(std::span<const GraphRange> ranges, std::span<const Numbers> inputs) {
  int chosen = -1;
  for (size_t i = 0; i < ranges.size(); ++i) {
    bool takes = true;
    for (size_t k = 0; k < inputs.size() && takes; ++k) {
      takes = Within(ranges[i].lower[k], inputs[k], ranges[i].upper[k]);
    }
    if (takes && (chosen < 0 || SizeOf(ranges[i]) < SizeOf(ranges[static_cast<size_t>(chosen)]))) {
      chosen = static_cast<int>(i);
    }
  }
  return chosen;
}

}  // namespace nereid::tensorrt
