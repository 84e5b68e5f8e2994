// SPDX-License-Identifier: Apache-2.0
#include "pytorch/pickle_check.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "pytorch/code_check.h"

namespace nereid::pytorch {
namespace {

/// The properties of an object that the checks need.
struct Node {
  enum Kind : uint8_t { kOther, kInteger, kText, kTuple };
  Kind kind = kOther;
  bool held = false;   // whether another object references it
  uint32_t depth = 0;  // nesting depth of its content
  // For kInteger: the value; for kTuple: the index of its first item in items_.
  int64_t integer = 0;
  std::string_view text = {};
  uint32_t count = 0;  // for kTuple: number of items
};

class Machine {
 public:
  Machine(std::string_view pickle, const StorageSeen& storage)
      : rest_(pickle), size_(pickle.size()), storage_(storage) {}

  Error Run() {
    while (!rest_.empty() && !stopped_) {
      const auto code = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      NEREID_BACKEND_TRY(Step(code));
      if (short_) {
        return {};  // the pickle is truncated; PyTorch reports that
      }
    }
    return {};
  }

 private:
  static constexpr uint32_t kMark = UINT32_MAX;

  static Error Bad(const std::string& text) { return Error::InvalidArgument(text); }

  Error Step(unsigned char code) {
    switch (code) {
      case 0x80:  // PROTO
        Take(1);
        return {};
      case '.':
        stopped_ = true;
        return {};
      case '(':
        stack_.push_back(kMark);
        return {};
      case 'N':
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
      case ']':
      case '}':
        Push({});
        return {};
      case 'G':
        Take(8);
        Push({});
        return {};
      case ')':
        return PushTuple({});
      case 'K':
        return PushInteger(1);
      case 'M':
        return PushInteger(2);
      case 'J':
        return PushInteger(4);
      case 0x8a:  // LONG1
        return PushInteger(Number(1));
      case 'X':
        return PushText(Number(4));
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':
        return PushText(Number(1));
      case 'T':
        return PushText(Number(4));
      case 0x8d:  // BINUNICODE8
        return PushText(Number(8));
      default:
        return StepOnStack(code);
    }
  }

  Error StepOnStack(unsigned char code) {
    switch (code) {
      case 'c': {
        Line();
        const std::string_view name = Line();
        Push({.kind = Node::kText, .text = name});
        return {};
      }
      case 'q':
        return Remember(Number(1));
      case 'r':
        return Remember(Number(4));
      case 'h':
        return Recall(Number(1));
      case 'j':
        return Recall(Number(4));
      case 't':
        return PushTuple(PopToMark());
      case 'l':
      case 'd':
        return PushHolder(PopToMark());
      case 0x85:  // TUPLE1, TUPLE2, TUPLE3
      case 0x86:
      case 0x87:
        return PushTuple(Pop(code - 0x84U));
      case 'a':
        return PutInto(Pop(1));
      case 's':
        return PutInto(Pop(2));
      case 'e':
      case 'u':
        return PutInto(PopToMark());
      case 'b':
        return PutInto(Pop(1));
      case 'R':
      case 0x81:  // NEWOBJ
        return PushHolder(Pop(2));
      case 'Q':
        return Persistent();
      case '0':
        Pop(1);
        return {};
      case '2':
        return Duplicate();
      default:
        return Bad("instruction " + std::to_string(code) +
                   " in a pickle, which TorchScript files do not have");
    }
  }

  /// Returns the next bytes; sets short_ if there are too few.
  std::string_view Take(uint64_t count) {
    if (count > rest_.size()) {
      short_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint64_t Number(size_t bytes) {
    uint64_t number = 0;
    Take(bytes).copy(reinterpret_cast<char*>(&number), sizeof(number));
    return number;
  }

  std::string_view Line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      short_ = true;
      return {};
    }
    const std::string_view line = Take(end);
    Take(1);
    return line;
  }

  void Push(Node node) {
    stack_.push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(node);
  }

  /// Pushes an integer. One and two bytes are unsigned, longer ones are signed. No valid size needs
  /// more than eight bytes.
  Error PushInteger(uint64_t bytes) {
    Node node{.kind = Node::kInteger, .integer = -1};
    if (bytes > 8) {
      Take(bytes);
    } else {
      node.integer = static_cast<int64_t>(Number(bytes));
      node.integer = bytes == 4 ? static_cast<int32_t>(node.integer) : node.integer;
    }
    Push(node);
    return {};
  }

  Error PushText(uint64_t length) {
    const std::string_view text = Take(length);
    // Types are stored as strings, which PyTorch's code parser reads.
    if (DeepestBracket(text) > kDeepestCode) {
      return Bad("a text in a pickle nests brackets more than " + std::to_string(kDeepestCode) +
                 " deep");
    }
    Push({.kind = Node::kText, .text = text});
    return {};
  }

  std::vector<uint32_t> Pop(size_t count) {
    count = std::min(count, stack_.size());
    std::vector<uint32_t> popped(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return popped;
  }

  std::vector<uint32_t> PopToMark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    std::vector<uint32_t> popped(mark.base(), stack_.end());
    stack_.resize(static_cast<size_t>(stack_.size() - popped.size()) -
                  (mark == stack_.rend() ? 0 : 1));
    return popped;
  }

  Error Hold(Node* holder, const std::vector<uint32_t>& items) {
    for (const uint32_t item : items) {
      if (item == kMark) {
        continue;
      }
      nodes_[item].held = true;
      holder->depth = std::max(holder->depth, nodes_[item].depth + 1);
    }
    if (holder->depth > kDeepestPickle) {
      return Bad("objects in a pickle lie in each other more than " +
                 std::to_string(kDeepestPickle) + " deep");
    }
    return {};
  }

  Error PushHolder(const std::vector<uint32_t>& items) {
    Node node;
    NEREID_BACKEND_TRY(Hold(&node, items));
    Push(node);
    return {};
  }

  Error PushTuple(const std::vector<uint32_t>& items) {
    Node node{.kind = Node::kTuple};
    NEREID_BACKEND_TRY(Hold(&node, items));
    // Only the tuple that describes a storage is read later, and it has five items.
    if (items.size() <= 8) {
      node.integer = static_cast<int64_t>(items_.size());
      node.count = static_cast<uint32_t>(items.size());
      items_.insert(items_.end(), items.begin(), items.end());
    }
    Push(node);
    return {};
  }

  Error PutInto(const std::vector<uint32_t>& items) {
    if (stack_.empty() || stack_.back() == kMark) {
      return {};
    }
    Node holder = nodes_[stack_.back()];
    if (holder.held) {
      return Bad("an object in a pickle is changed after another one holds it");
    }
    NEREID_BACKEND_TRY(Hold(&holder, items));
    // Hold() marks the items. If the object is now marked, it is one of its own items.
    if (nodes_[stack_.back()].held) {
      return Bad("an object in a pickle holds itself");
    }
    nodes_[stack_.back()] = holder;
    return {};
  }

  Error Remember(uint64_t place) {
    // PyTorch's memo is an array with this index, and a file cannot define more objects than it has
    // bytes.
    if (place > size_) {
      return Bad("a pickle asks for the place " + std::to_string(place) + " of its memo");
    }
    if (!stack_.empty() && stack_.back() != kMark) {
      memo_[place] = stack_.back();
    }
    return {};
  }

  Error Recall(uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      Push({});  // PyTorch reports the error
    } else {
      stack_.push_back(found->second);
    }
    return {};
  }

  Error Duplicate() {
    if (!stack_.empty()) {
      stack_.push_back(stack_.back());
    }
    return {};
  }

  /// Handles BINPERSID: the tuple ("storage", type, key, device, elements).
  Error Persistent() {
    const std::vector<uint32_t> popped = Pop(1);
    const bool whole = popped.size() == 1 && popped[0] != kMark &&
                       nodes_[popped[0]].kind == Node::kTuple && nodes_[popped[0]].count >= 5;
    if (whole) {
      const auto first = static_cast<size_t>(nodes_[popped[0]].integer);
      const auto item = [&](size_t i) {
        return items_[first + i] == kMark ? Node{} : nodes_[items_[first + i]];
      };
      if (item(1).kind != Node::kText || item(2).kind != Node::kText ||
          item(4).kind != Node::kInteger) {
        return Bad("a storage in a pickle is not described by a type, a key and a size");
      }
      NEREID_BACKEND_TRY(storage_(item(1).text, item(2).text, item(4).integer));
    }
    Push({});
    return {};
  }

  std::string_view rest_;
  const uint64_t size_;
  const StorageSeen& storage_;
  bool stopped_ = false;
  bool short_ = false;
  std::vector<Node> nodes_;
  std::vector<uint32_t> stack_;  // indices in nodes_, or kMark
  std::vector<uint32_t> items_;  // the items of tuples
  std::unordered_map<uint64_t, uint32_t> memo_;
};

}  // namespace

Error CheckPickle(std::string_view pickle, const StorageSeen& storage) {
  return Machine(pickle, storage).Run();
}

}  // namespace nereid::pytorch
