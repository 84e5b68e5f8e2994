// SPDX-License-Identifier: Apache-2.0
#include "openvino/check_file.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace nereid::openvino {
namespace {

/// The deepest nesting of networks. OpenVINO's reader recurses for each level.
constexpr int kMaxNested = 16;
/// The largest number of elements of a tensor in the file.
constexpr int64_t kMaxElements = int64_t{1} << 40;

std::optional<int64_t> ToInt(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// Multiplies `*elements` by a fixed dimension. Returns false if the product is above the limit.
bool Multiply(std::string_view dim, int64_t* elements) {
  const std::optional<int64_t> number = ToInt(dim);
  if (!number || *number <= 0) {
    return true;  // variable, an interval, or refused by OpenVINO
  }
  return !__builtin_mul_overflow(*elements, *number, elements) && *elements <= kMaxElements;
}

/// Checks one list of layers and its edges.
class Network {
 public:
  Network(const std::string& what, uint64_t weights_size, int depth)
      : what_(what), weights_size_(weights_size), depth_(depth) {}

  Error Check(const pugi::xml_node& net) {
    for (const pugi::xml_node& layer : net.child("layers").children("layer")) {
      NEREID_BACKEND_TRY(AddLayer(layer));
    }
    for (const pugi::xml_node& edge : net.child("edges").children("edge")) {
      NEREID_BACKEND_TRY(AddEdge(edge));
    }
    for (const auto& [id, layer] : layers_) {
      if (layer.inputs.size() != layer.fed.size()) {
        return Bad("layer " + layer.title + " has " + std::to_string(layer.inputs.size()) +
                   " inputs, of which edges feed " + std::to_string(layer.fed.size()));
      }
    }
    return CheckOrder();
  }

 private:
  struct Layer {
    std::string title;
    std::set<int64_t> inputs;
    std::set<int64_t> outputs;
    /// The inputs that have an edge.
    std::set<int64_t> fed;
    std::vector<int64_t> next;
  };

  Error Bad(const std::string& text) const { return Error::InvalidArgument(what_ + ": " + text); }

  Error AddLayer(const pugi::xml_node& node) {
    const std::string title = std::string("'") + node.attribute("name").value() + "' (" +
                              node.attribute("type").value() + ", id '" +
                              node.attribute("id").value() + "')";
    const std::optional<int64_t> id = ToInt(node.attribute("id").value());
    if (!id || *id < 0) {
      return Bad("layer " + title + " has no number as its id");
    }
    Layer& layer = layers_[*id];
    if (!layer.title.empty()) {
      return Bad("layers " + layer.title + " and " + title + " have the same id");
    }
    layer.title = title;
    NEREID_BACKEND_TRY(AddPorts(node.child("input"), title, &layer.inputs));
    NEREID_BACKEND_TRY(AddPorts(node.child("output"), title, &layer.outputs));
    NEREID_BACKEND_TRY(CheckData(node, title));
    for (const char* name : {"body", "then_body", "else_body"}) {
      if (const pugi::xml_node body = node.child(name); body) {
        if (depth_ == kMaxNested) {
          return Bad("layer " + title + " is more than " + std::to_string(kMaxNested) +
                     " networks deep");
        }
        NEREID_BACKEND_TRY(Network(what_, weights_size_, depth_ + 1).Check(body));
      }
    }
    return {};
  }

  Error AddPorts(const pugi::xml_node& list, const std::string& title, std::set<int64_t>* ports) {
    for (const pugi::xml_node& port : list.children("port")) {
      const std::optional<int64_t> id = ToInt(port.attribute("id").value());
      if (!id || *id < 0 || !ports->insert(*id).second) {
        return Bad("layer " + title + " has a port with the id '" + port.attribute("id").value() +
                   "', which is no number or is there twice");
      }
      int64_t elements = 1;
      for (const pugi::xml_node& dim : port.children("dim")) {
        if (!Multiply(dim.child_value(), &elements)) {
          return Bad("layer " + title + " has a tensor of more than 2^40 elements");
        }
      }
    }
    return {};
  }

  Error CheckData(const pugi::xml_node& node, const std::string& title) {
    const pugi::xml_node data = node.child("data");
    const std::string_view type = node.attribute("type").value();
    if ((type == "ReadValue" || type == "Assign") && !*data.attribute("variable_id").value()) {
      return Bad("layer " + title + " has no variable_id");
    }
    std::string_view shape = data.attribute("shape").value();
    for (int64_t elements = 1; !shape.empty();) {
      const size_t comma = shape.find(',');
      if (!Multiply(shape.substr(0, comma), &elements)) {
        return Bad("layer " + title + " has the shape " + data.attribute("shape").value() +
                   ", more than 2^40 elements");
      }
      shape.remove_prefix(comma == std::string_view::npos ? shape.size() : comma + 1);
    }
    if (type != "Const") {
      return {};
    }
    const std::optional<int64_t> offset = ToInt(data.attribute("offset").value());
    const std::optional<int64_t> size = ToInt(data.attribute("size").value());
    if (!offset || !size || *offset < 0 || *size < 0) {
      return Bad("layer " + title + " lacks the offset or the size of its weights");
    }
    const auto begin = static_cast<uint64_t>(*offset);
    if (begin > weights_size_ || static_cast<uint64_t>(*size) > weights_size_ - begin) {
      return Bad("layer " + title + " takes the bytes from " + std::to_string(*offset) + " to " +
                 std::to_string(begin + static_cast<uint64_t>(*size)) +
                 " of the weights, which have " + std::to_string(weights_size_) +
                 " (is the .bin file beside it, and whole?)");
    }
    return {};
  }

  Error AddEdge(const pugi::xml_node& edge) {
    const auto number = [&](const char* name) {
      return ToInt(edge.attribute(name).value()).value_or(-1);
    };
    const auto from = layers_.find(number("from-layer"));
    const auto to = layers_.find(number("to-layer"));
    if (from == layers_.end() || to == layers_.end()) {
      return Bad(std::string("there is an edge from layer '") +
                 edge.attribute("from-layer").value() + "' to layer '" +
                 edge.attribute("to-layer").value() + "', one of which is not there");
    }
    const int64_t port = number("to-port");
    if (from->second.outputs.count(number("from-port")) == 0 ||
        to->second.inputs.count(port) == 0) {
      return Bad("the edge from layer " + from->second.title + " to layer " + to->second.title +
                 " names a port that is not there");
    }
    if (!to->second.fed.insert(port).second) {
      return Bad("two edges feed the input " + std::to_string(port) + " of layer " +
                 to->second.title);
    }
    from->second.next.push_back(to->first);
    return {};
  }

  /// Checks that the edges form no cycle: repeatedly removes a layer whose inputs are all known
  /// (Kahn's algorithm).
  Error CheckOrder() {
    std::map<int64_t, size_t> waiting;
    std::vector<int64_t> ready;
    for (const auto& [id, layer] : layers_) {
      waiting[id] = layer.fed.size();
      if (layer.fed.empty()) {
        ready.push_back(id);
      }
    }
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      const int64_t id = ready.back();
      ready.pop_back();
      for (const int64_t next : layers_[id].next) {
        if (--waiting[next] == 0) {
          ready.push_back(next);
        }
      }
    }
    return done == layers_.size() ? Error() : Bad("its edges form a circle");
  }

  const std::string& what_;
  const uint64_t weights_size_;
  const int depth_;
  std::map<int64_t, Layer> layers_;
};

Error ReadWhole(const std::string& what, const std::filesystem::path& path, std::string* content) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream whole;
  whole << stream.rdbuf();
  *content = std::move(whole).str();
  return stream.is_open() ? Error() : Error::InvalidArgument(what + ": it is not readable");
}

}  // namespace

Error CheckNetwork(const std::string& what, std::string_view xml, uint64_t weights_size) {
  if (xml.empty()) {
    return Error::InvalidArgument(what + ": it is empty");
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    return Error::InvalidArgument(what + ": it is no XML: " + parsed.description() + " at byte " +
                                  std::to_string(parsed.offset));
  }
  const pugi::xml_node net = document.child("net");
  if (!net || !net.child("layers").child("layer")) {
    return Error::InvalidArgument(what + ": it has no network of layers");
  }
  return Network(what, weights_size, 0).Check(net);
}

Error CheckModelFile(const std::string& what, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path file(path);
  std::error_code failure;
  if (file.extension() != ".xml" || fs::is_directory(file, failure)) {
    return {};
  }
  std::string content;
  NEREID_BACKEND_TRY(ReadWhole(what, file, &content));
  const uintmax_t weights = fs::file_size(fs::path(file).replace_extension(".bin"), failure);
  return CheckNetwork(what, content, failure ? 0 : weights);
}

}  // namespace nereid::openvino
