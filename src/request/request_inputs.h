// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/name_index.h"
#include "base/result.h"
#include "memory/host_buffer.h"
#include "request/input.h"

namespace nereid::request {

/// What an input was before its pieces were replaced by copies, and the memory of the copies.
struct ReplacedInput {
  size_t index = 0;  // in the request's inputs
  std::vector<InputPiece> pieces;
  std::vector<std::unique_ptr<memory::BufferAttributes>> attributes;
  std::vector<memory::HostBuffer> copies;
};

/// The input tensors of a request, in this order: those that the client sent, in the order sent,
/// then those that the server added (controls and states of sequences). A range of Input. A pointer
/// to an input is valid until inputs are added or removed. Not thread-safe.
class RequestInputs {
 public:
  /// Adds an input of the client without data. Returns INVALID_ARGUMENT if the name exists already
  /// or the request is raw. Messages do not name the request; InferenceRequest::AddInput does.
  base::Result<Input*> Add(std::string_view name, tensor::DataType type, tensor::Shape shape);
  /// Adds the one input of a raw binary request, whose name, type and shape follow from the model's
  /// configuration (Normalize sets them). `name` is used in messages only. Returns INVALID_ARGUMENT
  /// if there is another input.
  base::Result<Input*> AddRaw(std::string_view name);
  bool is_raw() const { return is_raw_; }
  /// Ends the raw form. Returns the one input, whose name, type and shape the caller sets.
  Input& ResolveRaw();

  /// Returns the input with this name; null if there is none. An input of the server hides one of
  /// the client with the same name.
  Input* Find(std::string_view name);
  const Input* Find(std::string_view name) const;
  /// Returns INVALID_ARGUMENT if there is no input with this name.
  base::Status Remove(std::string_view name);
  void Clear();

  /// Adds an input that the client did not send.
  Input* AddByServer(std::string_view name, tensor::DataType type, tensor::Shape shape);
  /// Removes the inputs that AddByServer has added.
  void RemoveAddedByServer();
  /// Gives the input `replaced.index` other pieces with the same content, until Restore().
  void Replace(ReplacedInput replaced, std::vector<InputPiece> pieces);
  /// Gives the inputs their own pieces back and frees the copies.
  void Restore() {
    if (!replaced_.empty()) RestoreAll();
  }
  /// Returns the inputs that the client sent.
  std::span<const Input> client() const {
    return std::span(inputs_).first(inputs_.size() - added_by_server_);
  }

  /// Returns the sum of the byte sizes of all inputs.
  uint64_t ByteSize() const {
    uint64_t size = 0;
    for (const Input& input : inputs_) size += input.ByteSize();
    return size;
  }

  size_t size() const { return inputs_.size(); }
  bool empty() const { return inputs_.empty(); }
  void reserve(size_t count) { inputs_.reserve(count); }
  Input& operator[](size_t index) { return inputs_[index]; }
  const Input& operator[](size_t index) const { return inputs_[index]; }
  const Input& at(size_t index) const { return inputs_.at(index); }
  auto begin() { return inputs_.begin(); }
  auto begin() const { return inputs_.begin(); }
  auto end() { return inputs_.end(); }
  auto end() const { return inputs_.end(); }

 private:
  void RestoreAll();

  std::vector<Input> inputs_;
  std::vector<ReplacedInput> replaced_;
  base::NameIndex names_;       // of inputs_, for Add
  size_t added_by_server_ = 0;  // how many of inputs_, at its end, the server has added
  bool is_raw_ = false;
};

}  // namespace nereid::request
