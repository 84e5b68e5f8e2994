// SPDX-License-Identifier: Apache-2.0
#include "request/request_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

namespace nereid::request {
namespace {

using base::Status;

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// Searches from the end, where the inputs of the server are.
template <typename Inputs>
auto* FindByName(Inputs& inputs, std::string_view name) {
  const auto found = std::find_if(inputs.rbegin(), inputs.rend(),
                                  [name](const Input& input) { return input.name == name; });
  return found == inputs.rend() ? nullptr : &*found;
}

}  // namespace

base::Result<Input*> RequestInputs::Add(std::string_view name, tensor::DataType type,
                                        tensor::Shape shape) {
  if (is_raw_) {
    return Status::InvalidArgument(
        "input " + Quoted(name) +
        " cannot be added to a raw request, which has one nameless input");
  }
  const auto name_of = [](const Input& input) -> std::string_view { return input.name; };
  if (names_.Find(inputs_, name, name_of)) {
    return Status::InvalidArgument("input " + Quoted(name) + " already exists in request");
  }
  Input& input = inputs_.emplace_back();
  input.name = name;
  input.type = type;
  input.shape = std::move(shape);
  return &input;
}

base::Result<Input*> RequestInputs::AddRaw(std::string_view name) {
  if (!inputs_.empty()) {
    return Status::InvalidArgument("raw input " + Quoted(name) +
                                   " can't be added to request with other inputs");
  }
  is_raw_ = true;
  Input& input = inputs_.emplace_back();
  input.name = name;
  return &input;
}

Input& RequestInputs::ResolveRaw() {
  is_raw_ = false;
  return inputs_[0];
}

Input* RequestInputs::Find(std::string_view name) { return FindByName(inputs_, name); }

const Input* RequestInputs::Find(std::string_view name) const { return FindByName(inputs_, name); }

Status RequestInputs::Remove(std::string_view name) {
  Restore();
  names_.Clear();
  const auto erased =
      std::erase_if(inputs_, [name](const Input& input) { return input.name == name; });
  if (erased == 0) {
    return Status::InvalidArgument("input " + Quoted(name) + " does not exist in request");
  }
  if (inputs_.empty()) is_raw_ = false;
  return Status::Ok();
}

void RequestInputs::Clear() {
  replaced_.clear();
  names_.Clear();
  inputs_.clear();
  is_raw_ = false;
}

Input* RequestInputs::AddByServer(std::string_view name, tensor::DataType type,
                                  tensor::Shape shape) {
  ++added_by_server_;
  Input& input = inputs_.emplace_back();
  input.name = name;
  input.type = type;
  input.model_shape = shape;
  input.shape = std::move(shape);
  return &input;
}

void RequestInputs::Replace(ReplacedInput replaced, std::vector<InputPiece> pieces) {
  Input& input = inputs_[replaced.index];
  replaced.pieces = std::exchange(input.pieces, std::move(pieces));
  replaced.attributes = std::exchange(input.attributes, {});
  replaced_.push_back(std::move(replaced));
}

void RequestInputs::RestoreAll() {
  for (auto replaced = replaced_.rbegin(); replaced != replaced_.rend(); ++replaced) {
    if (replaced->index >= inputs_.size()) continue;  // the server's input is gone
    Input& input = inputs_[replaced->index];
    input.pieces = std::move(replaced->pieces);
    input.attributes = std::move(replaced->attributes);
  }
  replaced_.clear();
}

void RequestInputs::RemoveAddedByServer() {
  // The index may hold these names: Clear lets it begin anew.
  names_.Clear();
  inputs_.erase(inputs_.end() - static_cast<std::ptrdiff_t>(added_by_server_), inputs_.end());
  added_by_server_ = 0;
}

}  // namespace nereid::request
