// SPDX-License-Identifier: Apache-2.0
#include "caffe2/testing/mutate.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "caffe2/operator.h"

namespace nereid::caffe2::testing {
namespace {

class Mutator {
 public:
  Mutator(std::mt19937* random, NetPair* nets) : random_(*random), nets_(*nets) {}

  void Mutate() {
    caffe2_net::NetDef& net = nets_.init.op_size() > 0 && Chance(3) ? nets_.init : nets_.predict;
    if (net.op_size() == 0 || Chance(6)) {
      return MutateLists(&nets_.predict);
    }
    const int place = Pick(net.op_size());
    switch (Pick(8)) {
      case 0:
        return net.mutable_op()->DeleteSubrange(place, 1);
      case 1:
        *net.add_op() = caffe2_net::OperatorDef(net.op(place));
        return;
      case 2:  // what is read may be written later
        return net.mutable_op()->SwapElements(place, Pick(net.op_size()));
      case 3:
        return net.mutable_op(place)->set_type(AnyType());
      case 4:
        return MutateBlobs(net.mutable_op(place));
      default:
        return MutateArgument(net.mutable_op(place));
    }
  }

 private:
  int Pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  bool Chance(int in) { return Pick(in) == 0; }

  int64_t AnyNumber() {
    static constexpr int64_t kNumbers[] = {0,
                                           1,
                                           2,
                                           -1,
                                           -2,
                                           3,
                                           7,
                                           64,
                                           65535,
                                           INT_MAX,
                                           INT_MIN,
                                           INT64_MAX,
                                           INT64_MIN,
                                           int64_t{1} << 62,
                                           int64_t{1} << 32,
                                           int64_t{1} << 37,
                                           1 << 20,
                                           -(int64_t{1} << 62)};
    return kNumbers[Pick(static_cast<int>(std::size(kNumbers)))];
  }

  float AnyReal() {
    static constexpr float kNumbers[] = {0,
                                         -1,
                                         1e-30f,
                                         3e38f,
                                         -3e38f,
                                         0.5f,
                                         std::numeric_limits<float>::infinity(),
                                         std::numeric_limits<float>::quiet_NaN()};
    return kNumbers[Pick(static_cast<int>(std::size(kNumbers)))];
  }

  std::string AnyText() {
    static const std::string kTexts[] = {
        "", "NHWC", "x", "\xFF\xFE", "gr\xC3\xBCn", std::string("a\0b", 3), std::string(5000, 'n')};
    return kTexts[Pick(static_cast<int>(std::size(kTexts)))];
  }

  std::string AnyType() {
    if (Chance(8)) {
      return AnyText();
    }
    const std::vector<const Rows*> all = AllRows();
    const Rows& rows = *all[static_cast<size_t>(Pick(static_cast<int>(all.size())))];
    return rows[static_cast<size_t>(Pick(static_cast<int>(rows.size())))].type;
  }

  /// A blob that some operator has, or a name.
  std::string AnyBlob() {
    const caffe2_net::NetDef& net =
        nets_.init.op_size() > 0 && Chance(3) ? nets_.init : nets_.predict;
    if (net.op_size() == 0 || Chance(8)) {
      return AnyText();
    }
    const auto& op = net.op(Pick(net.op_size()));
    const auto& names = op.input_size() > 0 && Chance(2) ? op.input() : op.output();
    return names.empty() ? AnyText() : names[Pick(names.size())];
  }

  template <typename Names>
  void MutateNames(Names* names) {
    switch (names->empty() ? 0 : Pick(4)) {
      case 0:
        *names->Add() = AnyBlob();
        return;
      case 1:
        return names->DeleteSubrange(Pick(names->size()), 1);
      case 2:
        (*names)[Pick(names->size())] = AnyBlob();
        return;
      default:
        for (int i = 0; i < 300; ++i) {
          *names->Add() = (*names)[0];
        }
    }
  }

  void MutateBlobs(caffe2_net::OperatorDef* op) {
    MutateNames(Chance(2) ? op->mutable_input() : op->mutable_output());
  }

  void MutateLists(caffe2_net::NetDef* net) {
    MutateNames(Chance(2) ? net->mutable_external_input() : net->mutable_external_output());
  }

  void MutateArgument(caffe2_net::OperatorDef* op) {
    static const char* const kNames[] = {
        "axis",  "axes",  "shape",  "kernel",  "pads",     "strides",  "order", "group",
        "k",     "split", "starts", "ends",    "dims",     "to",       "dtype", "legacy_pad",
        "tiles", "value", "values", "divisor", "add_axis", "broadcast"};
    if (op->arg_size() == 0 || Chance(3)) {
      op->add_arg()->set_name(kNames[Pick(static_cast<int>(std::size(kNames)))]);
    }
    caffe2_net::Argument* argument = op->mutable_arg(Pick(op->arg_size()));
    switch (Pick(7)) {
      case 0:
        return argument->set_i(AnyNumber());
      case 1:
        return argument->set_f(AnyReal());
      case 2:
        return argument->set_s(AnyText());
      case 3:
        for (int i = Pick(Chance(10) ? 20000 : 6); i >= 0; --i) {
          argument->add_ints(AnyNumber());
        }
        return;
      case 4:
        for (int i = Pick(6); i >= 0; --i) {
          argument->add_floats(AnyReal());
        }
        return;
      case 5:
        if (argument->ints_size() > 0) {
          argument->set_ints(Pick(argument->ints_size()), AnyNumber());
        }
        return;
      default:
        op->mutable_arg()->DeleteSubrange(Pick(op->arg_size()), 1);
    }
  }

  std::mt19937& random_;
  NetPair& nets_;
};

}  // namespace

void MutateNet(std::mt19937* random, NetPair* nets) { Mutator(random, nets).Mutate(); }

void MutateBytes(std::mt19937* random, std::string* bytes) {
  const auto pick = [&](size_t count) { return count == 0 ? 0 : (*random)() % count; };
  const size_t place = pick(bytes->size());
  const size_t length = std::min<size_t>(1 + pick(8), bytes->size() - place);
  switch (pick(6)) {
    case 0:
      bytes->resize(place);
      return;
    case 1:
      bytes->erase(place, length);
      return;
    case 2:
      bytes->insert(place, std::string(1 + pick(8), static_cast<char>((*random)())));
      return;
    case 3:
      bytes->insert(place, bytes->substr(place, length));
      return;
    case 4:
      bytes->replace(place, length, std::string(length, '\xFF'));
      return;
    default:
      if (!bytes->empty()) {
        (*bytes)[place] = static_cast<char>((*bytes)[place] ^ (1 << pick(8)));
      }
  }
}

}  // namespace nereid::caffe2::testing
