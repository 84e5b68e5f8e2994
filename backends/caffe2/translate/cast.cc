// SPDX-License-Identifier: Apache-2.0
#include "caffe2/translate/cast.h"

#include <algorithm>
#include <cctype>

namespace nereid::caffe2 {
namespace {

struct TypeRow {
  int64_t number;  // caffe2.TensorProto.DataType
  const char* name;
  Type type;
};

constexpr TypeRow kTypes[] = {
    {1, "FLOAT", Type::kFloat},   {2, "INT32", Type::kInt32},   {3, "BYTE", Type::kUint8},
    {4, "STRING", Type::kString}, {5, "BOOL", Type::kBool},     {6, "UINT8", Type::kUint8},
    {7, "INT8", Type::kInt8},     {8, "UINT16", Type::kUint16}, {9, "INT16", Type::kInt16},
    {10, "INT64", Type::kInt64},  {12, "FLOAT16", Type::kHalf}, {13, "DOUBLE", Type::kDouble}};

Error Cast(Operator& op) {
  Type to = Type::kNone;
  NEREID_BACKEND_TRY(ReadType(op, "to", &to));
  if (to == Type::kNone || to == Type::kString) {
    return op.Bad("the argument 'to' is missing or STRING");
  }
  Value value = op.graph().Cast(op.in(0), to);
  op.Set(0, value.name == op.in(0).name ? op.graph().Unary("Identity", value) : value);
  return {};
}

Error ToFloat(Operator& op) {
  op.Set(0, op.graph().Cast(op.in(0), Type::kFloat));
  return {};
}

Error ToHalf(Operator& op) {
  op.Set(0, op.graph().Cast(op.in(0), Type::kHalf));
  return {};
}

}  // namespace

Error ReadType(const Operator& op, const char* name, Type* type) {
  const auto* argument = op.Find(name);
  if (argument == nullptr) {
    return {};
  }
  std::string text = argument->s();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const TypeRow& row : kTypes) {
    if (argument->has_s() ? text == row.name : argument->i() == row.number) {
      *type = row.type;
      return {};
    }
  }
  return op.Bad("the argument '" + std::string(name) + "' is no known data type: " +
                (argument->has_s() ? "'" + argument->s() + "'" : std::to_string(argument->i())));
}

const Rows& CastRows() {
  static const Rows rows = {{"Cast", Cast}, {"HalfToFloat", ToFloat}, {"FloatToHalf", ToHalf}};
  return rows;
}

}  // namespace nereid::caffe2
