// SPDX-License-Identifier: Apache-2.0
#include "caffe2/translate/window.h"

namespace nereid::caffe2 {
namespace {

/// The input and the filter of a convolution with the channels in dimension 1.
struct Operands {
  bool channels_last = false;
  Value x;
  Value filter;
  const Value* bias = nullptr;
};

Error ReadOperands(const Operator& op, Operands* operands) {
  NEREID_BACKEND_TRY(op.ReadOrder(&operands->channels_last));
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  if (op.in(1).rank() != op.in(0).rank()) {
    return op.Bad("the filter has the shape " + ShapeText(op.in(1).shape) + ", the input " +
                  ShapeText(op.in(0).shape) + "; they need as many dimensions");
  }
  const bool last = operands->channels_last;
  operands->x = last ? op.graph().ToChannelsFirst(op.in(0)) : op.in(0);
  operands->filter = last ? op.graph().ToChannelsFirst(op.in(1)) : op.in(1);
  operands->bias = op.inputs() > 2 && !op.Flag("no_bias") ? &op.in(2) : nullptr;
  return {};
}

std::vector<int64_t> FilterKernels(const Value& filter) {
  const std::vector<int64_t> kernels(filter.shape.begin() + 2, filter.shape.end());
  for (const int64_t size : kernels) {
    if (size < 0) {
      return {};
    }
  }
  return kernels;
}

Error ReadGroup(const Operator& op, int64_t* group) {
  *group = op.Int("group", 1);
  if (*group < 1 || *group > INT32_MAX) {
    return op.Bad("the argument 'group' is " + std::to_string(*group));
  }
  return {};
}

void Finish(Operator& op, const Operands& operands, const char* name, Shape shape,
            const Attributes& attributes) {
  std::vector<const Value*> inputs = {&operands.x, &operands.filter};
  if (operands.bias != nullptr) {
    inputs.push_back(operands.bias);
  }
  const Value y = op.graph().Node(name, inputs, operands.x.type, std::move(shape), attributes);
  op.Set(0, operands.channels_last ? op.graph().ToChannelsLast(y) : y);
}

/// Reads the operands, the window and the group of Conv and ConvTranspose.
Error ReadConvolution(Operator& op, Operands* operands, Window* window, int64_t* group) {
  NEREID_BACKEND_TRY(ReadOperands(op, operands));
  NEREID_BACKEND_TRY(
      ReadWindow(op, operands->x.rank() - 2, FilterKernels(operands->filter), window));
  return ReadGroup(op, group);
}

Error Conv(Operator& op) {
  Operands operands;
  Window window;
  int64_t group = 1;
  NEREID_BACKEND_TRY(ReadConvolution(op, &operands, &window, &group));
  const ResolvedWindow resolved =
      Resolve(window, Shape(operands.x.shape.begin() + 2, operands.x.shape.end()));
  Attributes attributes = {{"kernel_shape", window.kernels},
                           {"strides", window.strides},
                           {"dilations", window.dilations},
                           {"group", group}};
  resolved.AddPads(&attributes);
  Shape shape = {operands.x.shape[0], operands.filter.shape[0]};
  shape.insert(shape.end(), resolved.out.begin(), resolved.out.end());
  Finish(op, operands, "Conv", std::move(shape), attributes);
  return {};
}

Error ConvTranspose(Operator& op) {
  Operands operands;
  Window window;
  int64_t group = 1;
  NEREID_BACKEND_TRY(ReadConvolution(op, &operands, &window, &group));
  const size_t dims = operands.x.rank() - 2;
  if (window.legacy == Window::LegacyPad::kSame || window.legacy == Window::LegacyPad::kCaffe) {
    return op.Bad("the argument 'legacy_pad' must be 0 or 1 here");
  }
  const int64_t channels = operands.filter.shape[1];
  Shape shape = {operands.x.shape[0], channels < 0 ? -1 : channels * group};
  for (size_t i = 0; i < dims; ++i) {
    const int64_t in = operands.x.shape[2 + i];
    const int64_t dilated = window.dilations[i] * (window.kernels[i] - 1) + 1;
    shape.push_back(in < 0 || in > INT32_MAX
                        ? -1
                        : (in - 1) * window.strides[i] + dilated + window.adjs[i] - window.pads[i] -
                              window.pads[dims + i]);
  }
  Finish(op, operands, "ConvTranspose", std::move(shape),
         {{"kernel_shape", window.kernels},
          {"strides", window.strides},
          {"dilations", window.dilations},
          {"pads", window.pads},
          {"output_padding", window.adjs},
          {"group", group}});
  return {};
}

}  // namespace

const Rows& ConvolutionRows() {
  static const Rows rows = {{"Conv", Conv, 2, 3},
                            {"Conv1D", Conv, 2, 3},
                            {"Conv2D", Conv, 2, 3},
                            {"Conv3D", Conv, 2, 3},
                            {"ConvTranspose", ConvTranspose, 2, 3},
                            {"ConvTranspose1D", ConvTranspose, 2, 3},
                            {"ConvTranspose2D", ConvTranspose, 2, 3},
                            {"ConvTranspose3D", ConvTranspose, 2, 3}};
  return rows;
}

}  // namespace nereid::caffe2
