// SPDX-License-Identifier: Apache-2.0
// OpenVINO's IR, an XML file, of which this file reads:
//   net > layers > layer (id, type, output_names)
//                    > data (shape; "..." for any rank)
//                    > output > port (id, precision, names) > dim
//                    > input > port (precision) > dim
//   net > edges > edge (from-layer, from-port, to-layer)
// An input of the model is a layer of the type Parameter, an output one of the type Result. Layers
// may contain further networks (the bodies of loops), which stand deeper and are passed over.
#include <algorithm>
#include <map>
#include <utility>

#include "app/tools/init/model_files.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using tensor::DataType;

constexpr size_t kMaxDepth = 1000;
constexpr size_t kMaxPortDims = 64;

/// A tag: an element that begins, ends, or does both.
struct Tag {
  std::string_view name;
  std::string_view attributes;  // the text behind the name
  bool begins = false;
  bool ends = false;
};

/// The tags of an XML text in order, and the text before each of them. Declarations and comments
/// are passed over; entities are not replaced.
class TagReader {
 public:
  explicit TagReader(std::string_view text) : rest_(text) {}

  /// Finds the next tag. Returns false at the end, and sets `broken` if the text ends in a tag.
  bool Next(Tag* tag, std::string_view* text_before, bool* broken) {
    while (true) {
      const size_t open = rest_.find('<');
      if (open == rest_.npos) return false;
      *text_before = rest_.substr(0, open);
      rest_.remove_prefix(open + 1);
      const bool is_comment = rest_.starts_with("!--");
      const size_t close = is_comment ? rest_.find("-->") : EndOfTag();
      if (close == rest_.npos) {
        *broken = true;
        return false;
      }
      std::string_view content = rest_.substr(0, close);
      rest_.remove_prefix(close + (is_comment ? 3 : 1));
      if (is_comment || content.starts_with('?') || content.starts_with('!')) continue;
      tag->ends = content.starts_with('/') || content.ends_with('/');
      tag->begins = !content.starts_with('/');
      if (content.starts_with('/')) content.remove_prefix(1);
      if (content.ends_with('/')) content.remove_suffix(1);
      tag->name = content.substr(0, content.find_first_of(" \t\r\n"));
      tag->attributes = content.substr(tag->name.size());
      return true;
    }
  }

 private:
  /// Returns where the ">" of the tag is, which is in no quotes.
  size_t EndOfTag() const {
    char quote = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        return i;
      }
    }
    return rest_.npos;
  }

  std::string_view rest_;
};

/// Returns a text with the five entities of XML replaced.
std::string WithoutEntities(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  std::string result;
  while (!text.empty()) {
    size_t taken = 1;
    char character = text.front();
    for (const auto& [entity, stands_for] : kEntities) {
      if (!text.starts_with(entity)) continue;
      taken = entity.size();
      character = stands_for;
    }
    result += character;
    text.remove_prefix(taken);
  }
  return result;
}

/// Returns the value of an attribute; "" if it is absent.
std::string Attribute(const Tag& tag, std::string_view name) {
  std::string_view rest = tag.attributes;
  while (true) {
    const size_t equals = rest.find('=');
    if (equals == rest.npos || equals + 1 >= rest.size()) return "";
    std::string_view key = rest.substr(0, equals);
    key.remove_prefix(std::min(key.find_first_not_of(" \t\r\n"), key.size()));
    const char quote = rest[equals + 1];
    const size_t end = rest.find(quote, equals + 2);
    if (end == rest.npos) return "";
    if (key != name) {
      rest.remove_prefix(end + 1);
      continue;
    }
    return WithoutEntities(rest.substr(equals + 2, end - equals - 2));
  }
}

DataType TypeOf(const std::string& precision) {
  static const std::map<std::string, DataType> kTypes = {
      {"BOOL", DataType::kBool},  {"U8", DataType::kUint8},    {"U16", DataType::kUint16},
      {"U32", DataType::kUint32}, {"U64", DataType::kUint64},  {"I8", DataType::kInt8},
      {"I16", DataType::kInt16},  {"I32", DataType::kInt32},   {"I64", DataType::kInt64},
      {"FP16", DataType::kFp16},  {"FP32", DataType::kFp32},   {"FP64", DataType::kFp64},
      {"BF16", DataType::kBf16},  {"STRING", DataType::kBytes}};
  const auto found = kTypes.find(precision);
  return found == kTypes.end() ? DataType::kInvalid : found->second;
}

/// Returns the first of names that are separated by commas; a comma in a name has a backslash.
std::string FirstName(const std::string& names) {
  std::string first;
  for (size_t i = 0; i < names.size() && names[i] != ','; ++i) {
    if (names[i] == '\\' && i + 1 < names.size() && names[i + 1] == ',') ++i;
    first += names[i];
  }
  return first;
}

/// A layer that is an input or an output of the model.
struct End {
  std::string layer;
  DraftTensor tensor;
  bool has_port = false;
  bool is_of_any_rank = false;
};

/// Collects the ends of the model while its tags go by.
class IrReader {
 public:
  void Take(const Tag& tag, std::string_view text_before) {
    if (tag.begins) {
      path_.push_back(tag.name);
      Begin(tag);
    }
    if (!tag.ends || path_.empty()) return;
    if (path_.size() == 6 && path_.back() == "dim" && end_ != nullptr) AddDim(text_before);
    if (path_.size() == 3) end_ = nullptr;
    path_.pop_back();
  }
  bool is_too_deep() const { return path_.size() > kMaxDepth; }
  bool is_network() const { return is_network_; }

  /// Names the outputs and moves the ends into the draft.
  void Finish(ConfigDraft* draft) {
    for (End& output : outputs_) {
      const auto edge = edges_.find(output.layer);
      if (edge == edges_.end() || !output.tensor.name.empty()) continue;
      const auto name = names_.find(edge->second);
      if (name != names_.end()) output.tensor.name = name->second;
    }
    // A port of any rank has no dims, like that of a scalar. Only an input says which it is.
    const bool any = std::any_of(inputs_.begin(), inputs_.end(),
                                 [](const End& input) { return input.is_of_any_rank; });
    for (End& output : outputs_) output.is_of_any_rank = any && output.tensor.dims.empty();
    Move(inputs_, "input_", &draft->inputs);
    Move(outputs_, "output_", &draft->outputs);
  }

 private:
  void Begin(const Tag& tag) {
    if (path_.size() == 1) is_network_ = tag.name == "net";
    if (path_.size() == 3 && path_[1] == "edges" && tag.name == "edge") {
      edges_[Attribute(tag, "to-layer")] = {Attribute(tag, "from-layer"),
                                            Attribute(tag, "from-port")};
    }
    if (path_.size() == 3 && path_[1] == "layers" && tag.name == "layer") BeginLayer(tag);
    if (path_.size() == 4 && tag.name == "data" && end_ != nullptr) {
      end_->is_of_any_rank = Attribute(tag, "shape") == "...";
    }
    if (path_.size() == 5 && path_[1] == "layers" && tag.name == "port") BeginPort(tag);
  }

  void BeginLayer(const Tag& tag) {
    layer_ = Attribute(tag, "id");
    const std::string type = Attribute(tag, "type");
    end_ = nullptr;
    if (type == "Parameter") end_ = &inputs_.emplace_back();
    if (type == "Result") end_ = &outputs_.emplace_back();
    if (end_ == nullptr) return;
    end_->layer = layer_;
    if (type == "Result") end_->tensor.name = FirstName(Attribute(tag, "output_names"));
  }

  void BeginPort(const Tag& tag) {
    const std::string name = FirstName(Attribute(tag, "names"));
    if (path_[3] == "output" && !name.empty()) names_[{layer_, Attribute(tag, "id")}] = name;
    if (end_ == nullptr || end_->has_port) return;
    end_->has_port = true;
    end_->tensor.data_type = TypeOf(Attribute(tag, "precision"));
    if (end_->tensor.name.empty() && path_[3] == "output") end_->tensor.name = name;
  }

  void AddDim(std::string_view text) {
    const auto size = base::ParseWhole<int64_t>(text);
    if (end_->tensor.dims.size() < kMaxPortDims) {
      end_->tensor.dims.push_back(size && *size > 0 ? *size : -1);
    }
  }

  /// A tensor without a name is called by its position, as in the backend.
  static void Move(std::vector<End>& ends, const char* prefix, std::vector<DraftTensor>* tensors) {
    for (End& end : ends) {
      if (end.tensor.name.empty()) end.tensor.name = prefix + std::to_string(tensors->size());
      end.tensor.has_dims = end.has_port && !end.is_of_any_rank;
      tensors->push_back(std::move(end.tensor));
    }
  }

  std::vector<std::string_view> path_;
  bool is_network_ = false;
  std::string layer_;
  End* end_ = nullptr;  // the end whose layer the reader is in
  std::vector<End> inputs_, outputs_;
  std::map<std::pair<std::string, std::string>, std::string> names_;  // by layer and port
  std::map<std::string, std::pair<std::string, std::string>> edges_;  // by the layer they lead to
};

}  // namespace

Status ReadOpenVino(std::string_view bytes, ConfigDraft* draft) {
  TagReader tags(bytes);
  IrReader reader;
  Tag tag;
  std::string_view text_before;
  bool broken = false;
  while (tags.Next(&tag, &text_before, &broken)) {
    reader.Take(tag, text_before);
    if (reader.is_too_deep()) {
      return Status::InvalidArgument("elements are nested in more than 1000 others");
    }
  }
  if (broken || !reader.is_network()) {
    return Status::InvalidArgument(
        "the file is not a model of OpenVINO (an XML with the root net)");
  }
  reader.Finish(draft);
  for (const std::vector<DraftTensor>* list : {&draft->inputs, &draft->outputs}) {
    for (const DraftTensor& tensor : *list) {
      if (tensor.data_type != DataType::kInvalid) continue;
      return Status::InvalidArgument("the tensor '" + tensor.name +
                                     "' has a type that the protocol does not have");
    }
  }
  if (draft->outputs.empty()) return Status::InvalidArgument("the model has no outputs");
  return {};
}

}  // namespace nereid::app::tools
