// SPDX-License-Identifier: Apache-2.0
#include "handover/messages.h"

#include <utility>

#include "base/little_endian.h"

namespace nereid::handover {
namespace {

using base::Status;
using request::SavedState;

constexpr std::string_view kMagic("NRDSEQ\x01", 7);

enum Kind : char { kClaim = 'C', kSequence = 'D', kSettlement = 'S', kOffer = 'O' };

/// The smallest size of a state and of a key, which bound the counts that a message may claim.
constexpr size_t kMinStateBytes = 2 + 1 + 1 + 8;
constexpr size_t kMinKeyBytes = 2 + 8 + 1 + 2;

class Writer {
 public:
  explicit Writer(Kind kind) : bytes_(kMagic) { bytes_ += kind; }

  template <typename T>
  void Number(T value) {
    const auto bytes = base::ToLittleEndian(value);
    bytes_.append(bytes.data(), bytes.size());
  }
  void Text(std::string_view text) {
    Number(static_cast<uint16_t>(text.size()));
    bytes_ += text;
  }
  void Bytes(std::string_view bytes) { bytes_ += bytes; }
  void Key(const SequenceKey& key) {
    Text(key.model);
    Number(key.version);
    const auto* const number = std::get_if<uint64_t>(&key.id);
    Number(static_cast<uint8_t>(number == nullptr));
    if (number != nullptr) {
      Number(*number);
    } else {
      Text(std::get<std::string>(key.id));
    }
  }
  void Reserve(size_t more) { bytes_.reserve(bytes_.size() + more); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads a message. The first fault stays; after it every value is zero or empty.
class Reader {
 public:
  Reader(std::string_view bytes, Kind kind) : rest_(bytes) {
    if (Bytes(kMagic.size()) != kMagic) {
      Fail("it does not begin with \"NRDSEQ\" and version 1");
    } else if (Number<char>() != kind) {
      Fail("it is another kind of message");
    }
  }

  bool ok() const { return status_.ok(); }
  size_t left() const { return rest_.size(); }
  void Fail(const char* what) {
    if (status_.ok()) {
      status_ = Status::InvalidArgument(std::string("the message is malformed: ") + what);
    }
    rest_ = {};
  }
  /// Returns the fault, also if something follows.
  Status End() {
    if (!rest_.empty()) Fail("something follows its end");
    return status_;
  }

  std::string_view Bytes(uint64_t size) {
    if (size > rest_.size()) {
      Fail("it ends early");
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <typename T>
  T Number() {
    return static_cast<T>(base::FromLittleEndian(Bytes(sizeof(T))));
  }
  std::string_view Text(size_t most = kMaxText) {
    const auto size = Number<uint16_t>();
    if (size > most) Fail("a text is too long");
    return Bytes(ok() ? size : 0);
  }
  /// Returns a number of things of at least `least` bytes each.
  size_t Count(size_t most, size_t least) {
    const auto count = Number<uint16_t>();
    if (count > most || count * least > left()) Fail("a count is too large");
    return ok() ? count : 0;
  }
  SequenceKey Key() {
    SequenceKey key;
    key.model = Text();
    key.version = Number<int64_t>();
    const auto kind = Number<uint8_t>();
    if (kind == 0) {
      key.id = Number<uint64_t>();
    } else {
      key.id = std::string(Text(request::kMaxCorrelationIdSize));
    }
    if (kind > 1 || (ok() && request::IsNone(key.id))) Fail("a sequence has no id");
    if (key.model.empty() || key.version < 0) Fail("a sequence has no model");
    return key;
  }

 private:
  std::string_view rest_;
  Status status_;
};

void WriteState(const SavedState& state, Writer& writer) {
  writer.Text(state.name);
  writer.Number(static_cast<uint8_t>(state.data_type));
  writer.Number(static_cast<uint8_t>(state.shape.size()));
  for (const int64_t dim : state.shape) writer.Number(dim);
  writer.Number(static_cast<uint64_t>(state.bytes.size()));
  writer.Bytes(state.bytes);
}

SavedState ReadState(Reader& reader) {
  SavedState state;
  state.name = reader.Text();
  const auto type = reader.Number<uint8_t>();
  if (type == 0 || type > static_cast<uint8_t>(tensor::DataType::kBf16)) {
    reader.Fail("a data type is unknown");
  }
  state.data_type = static_cast<tensor::DataType>(type);
  const auto rank = reader.Number<uint8_t>();
  if (rank > kMaxRank) reader.Fail("a state has too many dimensions");
  for (size_t i = 0; i < rank && reader.ok(); ++i) {
    state.shape.push_back(reader.Number<int64_t>());
    if (state.shape.back() < 0) reader.Fail("a dimension is negative");
  }
  state.bytes = reader.Bytes(reader.Number<uint64_t>());
  return state;
}

/// Returns `value`, or the reader's fault.
template <typename T>
base::Result<T> Finish(Reader& reader, T value) {
  NEREID_RETURN_IF_ERROR(reader.End());
  return value;
}

}  // namespace

std::string Encode(const Claim& claim) {
  Writer writer(kClaim);
  writer.Text(claim.secret);
  writer.Text(claim.replica);
  writer.Key(claim.key);
  return writer.Take();
}

std::string Encode(const Settlement& settlement) {
  Writer writer(kSettlement);
  writer.Text(settlement.secret);
  writer.Text(settlement.hold);
  writer.Number(static_cast<uint8_t>(settlement.takes));
  return writer.Take();
}

std::string Encode(const Offer& offer) {
  Writer writer(kOffer);
  writer.Text(offer.secret);
  writer.Text(offer.replica);
  writer.Number(static_cast<uint16_t>(offer.keys.size()));
  for (const SequenceKey& key : offer.keys) writer.Key(key);
  return writer.Take();
}

base::Result<std::string> Encode(const SequenceMessage& sequence) {
  size_t size = 0;
  bool fits = sequence.states.size() <= kMaxStates;
  for (const SavedState& state : sequence.states) {
    fits = fits && state.name.size() <= kMaxText && state.shape.size() <= kMaxRank &&
           state.bytes.size() <= kMaxSequenceBytes - size;
    if (!fits) break;
    size += state.bytes.size();
  }
  // The heads are small: that they are not counted exactly matters for the limit alone.
  if (!fits || size > kMaxSequenceBytes - (size_t{4} << 20)) {
    return Status::Unsupported(Named(sequence.key) +
                               " is too large to be handed over: its states have more than " +
                               std::to_string((kMaxSequenceBytes >> 20) - 4) + " MiB");
  }
  Writer writer(kSequence);
  writer.Reserve(size + 4096);
  writer.Text(sequence.hold);
  writer.Key(sequence.key);
  writer.Number(sequence.idle_ns);
  writer.Number(static_cast<uint16_t>(sequence.states.size()));
  for (const SavedState& state : sequence.states) WriteState(state, writer);
  return writer.Take();
}

base::Result<Claim> DecodeClaim(std::string_view bytes) {
  Reader reader(bytes, kClaim);
  Claim claim;
  claim.secret = reader.Text();
  claim.replica = reader.Text();
  claim.key = reader.Key();
  return Finish(reader, std::move(claim));
}

base::Result<Settlement> DecodeSettlement(std::string_view bytes) {
  Reader reader(bytes, kSettlement);
  Settlement settlement;
  settlement.secret = reader.Text();
  settlement.hold = reader.Text();
  const auto takes = reader.Number<uint8_t>();
  if (takes > 1) reader.Fail("the end of the hold is neither 0 nor 1");
  settlement.takes = takes == 1;
  return Finish(reader, std::move(settlement));
}

base::Result<Offer> DecodeOffer(std::string_view bytes) {
  Reader reader(bytes, kOffer);
  Offer offer;
  offer.secret = reader.Text();
  offer.replica = reader.Text();
  const size_t count = reader.Count(kMaxOffered, kMinKeyBytes);
  for (size_t i = 0; i < count && reader.ok(); ++i) offer.keys.push_back(reader.Key());
  return Finish(reader, std::move(offer));
}

base::Result<SequenceMessage> DecodeSequence(std::string_view bytes) {
  Reader reader(bytes, kSequence);
  SequenceMessage sequence;
  sequence.hold = reader.Text();
  sequence.key = reader.Key();
  sequence.idle_ns = reader.Number<uint64_t>();
  const size_t count = reader.Count(kMaxStates, kMinStateBytes);
  for (size_t i = 0; i < count && reader.ok(); ++i) sequence.states.push_back(ReadState(reader));
  return Finish(reader, std::move(sequence));
}

std::string_view SecretOf(std::string_view bytes) {
  for (const Kind kind : {kClaim, kSettlement, kOffer}) {
    Reader reader(bytes, kind);
    const std::string_view secret = reader.Text();
    if (reader.ok()) return secret;
  }
  return {};
}

std::string Named(const SequenceKey& key) {
  return "sequence " + request::CorrelationIdText(key.id) + " of model '" + key.model + "'";
}

}  // namespace nereid::handover
