// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a pair of nets and their inputs, from bytes to the ONNX graph. Its own mutator
// knows what a net is: it begins with the cases of golden/ and changes operators, blobs and
// arguments as often as bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "caffe2/testing/mutate.h"
#include "caffe2/testing/net_text.h"

namespace {

using namespace nereid::caffe2;

struct FuzzCase {
  std::vector<NetInput> inputs;
  std::string init;
  std::string predict;
};

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

/// Reads from the front of what is left; zeros behind the end.
class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  template <typename T>
  T Number() {
    T value = 0;
    const std::string bytes = Bytes(sizeof(T));
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  std::string Bytes(size_t count) {
    count = std::min(count, size_);
    std::string bytes(reinterpret_cast<const char*>(data_), count);
    data_ += count;
    size_ -= count;
    return bytes;
  }

  std::string Rest() { return Bytes(size_); }

 private:
  const uint8_t* data_;
  size_t size_;
};

// count, { type, rank, dims (64 bits each), length of the name, name }, length of the init net
// (32 bits), init net, net
FuzzCase Unpack(const uint8_t* data, size_t size) {
  Reader reader(data, size);
  FuzzCase made;
  for (int count = reader.Number<uint8_t>() % 8; count > 0; --count) {
    NetInput& input = made.inputs.emplace_back();
    input.type = static_cast<Type>(1 + reader.Number<uint8_t>() % 11);
    for (int rank = reader.Number<uint8_t>() % 8; rank > 0; --rank) {
      input.shape.push_back(reader.Number<int64_t>());
    }
    input.name = reader.Bytes(reader.Number<uint8_t>());
  }
  made.init = reader.Bytes(reader.Number<uint32_t>());
  made.predict = reader.Rest();
  return made;
}

template <typename T>
void Append(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string Pack(const FuzzCase& made) {
  std::string bytes;
  Append(static_cast<uint8_t>(made.inputs.size()), &bytes);
  for (const NetInput& input : made.inputs) {
    Append(static_cast<uint8_t>(static_cast<int>(input.type) - 1), &bytes);
    Append(static_cast<uint8_t>(input.shape.size()), &bytes);
    for (const int64_t dim : input.shape) {
      Append(dim, &bytes);
    }
    Append(static_cast<uint8_t>(input.name.size()), &bytes);
    bytes += input.name;
  }
  Append(static_cast<uint32_t>(made.init.size()), &bytes);
  return bytes + made.init + made.predict;
}

const std::vector<testing::NetCase>& Cases() {
  static const std::vector<testing::NetCase> cases = [] {
    std::vector<testing::NetCase> all;
    for (const std::string& name : testing::GoldenNames()) {
      for (testing::NetCase& net : testing::ReadCases(testing::GoldenPath(name))) {
        all.push_back(std::move(net));
      }
    }
    return all;
  }();
  return cases;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzCase made = Unpack(data, size);
  NetPair nets;
  if (!ParseNet(made.init, "init", &nets.init).ok() ||
      !ParseNet(made.predict, "net", &nets.predict).ok()) {
    return 0;
  }
  constexpr int64_t kRoom = 1 << 20;
  Translation translation;
  const Error error = TranslateNets(nets, made.inputs, kRoom, &translation);
  Require(error.ok() != translation.model.empty());
  Require(error.ok() || (!error.message().empty() && error.message().size() < 10000));
  std::vector<NetInput> found;
  const Error completed = FindInputs(nets, {}, &found);
  Require(completed.ok() || completed.message().size() < 10000);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 3 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  FuzzCase made = Unpack(data, size);
  NetPair nets;
  const bool parsed = nets.init.ParseFromString(made.init) &&
                      nets.predict.ParseFromString(made.predict) && nets.predict.op_size() > 0;
  if (!parsed || random() % 16 == 0) {
    const testing::NetCase& net = Cases()[random() % Cases().size()];
    nets = net.nets;
    made.inputs = net.inputs;
  }
  for (unsigned changes = random() % 4; changes > 0; --changes) {
    testing::MutateNet(&random, &nets);
  }
  made.init = nets.init.SerializeAsString();
  made.predict = nets.predict.SerializeAsString();
  const std::string bytes = Pack(made);
  if (bytes.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
