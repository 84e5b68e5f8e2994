// SPDX-License-Identifier: Apache-2.0
// From values and files to tensors and back to text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "app/tools/tensors/decode_picture.h"
#include "app/tools/tensors/exif.h"
#include "app/tools/tensors/fit_shape.h"
#include "app/tools/tensors/input_argument.h"
#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/npy_file.h"
#include "app/tools/tensors/number_cells.h"
#include "app/tools/tensors/picture_tensor.h"
#include "app/tools/tensors/tensor_text.h"
#include "base/files.h"
#include "base/temporary_directory.h"
#include "tensor/bytes.h"

namespace nereid::app::tools {
namespace {

using tensor::DataType;
using tensor::Shape;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
Tensor Of(DataType type, Shape shape, const std::vector<T>& values) {
  return {"OUT", type, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

Tensor Texts(Shape shape, const std::vector<std::string>& texts) {
  Tensor tensor{"OUT", DataType::kBytes, std::move(shape), ""};
  for (const std::string& text : texts) tensor::AppendBytesElement(text, &tensor.bytes);
  return tensor;
}

TEST(NumberCells, EveryHalfSurvivesTheWayThroughAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = FloatFromHalf(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FloatFromHalf(HalfFromFloat(value))));
    } else {
      ASSERT_EQ(HalfFromFloat(value), half) << bits;
    }
    const float wide = FloatFromBfloat(half);
    ASSERT_TRUE(std::isnan(wide) || BfloatFromFloat(wide) == half) << bits;
  }
}

TEST(NumberCells, HalvesAreRoundedToTheNearestEvenOne) {
  EXPECT_EQ(HalfFromFloat(1.0f), 0x3c00);
  EXPECT_EQ(HalfFromFloat(1.0f + 0x1p-11f), 0x3c00);  // between two: the even one
  EXPECT_EQ(HalfFromFloat(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(HalfFromFloat(65504.0f), 0x7bff);
  EXPECT_EQ(HalfFromFloat(65519.9f), 0x7bff);
  EXPECT_EQ(HalfFromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(HalfFromFloat(0x1p-25f), 0);
  EXPECT_EQ(HalfFromFloat(-0x1p-24f), 0x8001);
  EXPECT_EQ(BfloatFromFloat(1.00390625f), 0x3f80);
}

TEST(NestedValues, ListsGiveTheShape) {
  const auto matrix = ReadNestedValues("[[1, 2, 3],\n [4, 5, 6]]", DataType::kInt32);
  ASSERT_TRUE(matrix.ok()) << matrix.status().message();
  EXPECT_EQ(matrix->shape, (Shape{2, 3}));
  EXPECT_EQ(Values<int32_t>(*matrix), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ReadNestedValues("[]", DataType::kFp32)->shape, Shape{0});
  EXPECT_EQ(ReadNestedValues("7", DataType::kFp32)->shape, Shape{});
  EXPECT_EQ(Values<uint8_t>(*ReadNestedValues("[true,false,1]", DataType::kBool)),
            (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(Values<uint16_t>(*ReadNestedValues("[1, -2]", DataType::kFp16)),
            (std::vector<uint16_t>{0x3c00, 0xc000}));
  const auto texts = ReadNestedValues(R"(["a","bc"])", DataType::kBytes);
  EXPECT_EQ(texts->bytes, std::string("\1\0\0\0a\2\0\0\0bc", 11));
}

TEST(NestedValues, WrongOnesSayWhy) {
  const auto why = [](const char* text, DataType type) {
    const auto read = ReadNestedValues(text, type);
    return read.ok() ? "read" : read.status().message();
  };
  EXPECT_THAT(why("[[1,2],[3]]", DataType::kInt32), HasSubstr("different lengths"));
  EXPECT_THAT(why("[1,[2]]", DataType::kInt32), HasSubstr("different lengths"));
  EXPECT_THAT(why("[[1],2]", DataType::kInt32), HasSubstr("different lengths"));
  EXPECT_THAT(why("[[],[1]]", DataType::kInt32), HasSubstr("different lengths"));
  EXPECT_THAT(why("[300]", DataType::kUint8), HasSubstr("300 is no value of the type UINT8"));
  EXPECT_THAT(why("[-1]", DataType::kUint64), HasSubstr("-1 is no value of the type UINT64"));
  EXPECT_THAT(why("[1.5]", DataType::kInt8), HasSubstr("1.5 is no value of the type INT8"));
  EXPECT_THAT(why("[1e39]", DataType::kFp32), HasSubstr("no value of the type FP32"));
  EXPECT_THAT(why("[70000]", DataType::kFp16), HasSubstr("no value of the type FP16"));
  EXPECT_THAT(why("[3.4e38]", DataType::kBf16), HasSubstr("no value of the type BF16"));
  EXPECT_THAT(why("[2]", DataType::kBool), HasSubstr("2 is no value of the type BOOL"));
  EXPECT_THAT(why("[true]", DataType::kInt8), HasSubstr("values of BOOL alone"));
  EXPECT_THAT(why("[\"a\"]", DataType::kInt8), HasSubstr("expected numbers of the type INT8"));
  EXPECT_THAT(why("[1]", DataType::kBytes), HasSubstr("string in quotes"));
  EXPECT_THAT(why("[1,", DataType::kInt8), HasSubstr("expected numbers"));
  EXPECT_THAT(why("[1 2]", DataType::kInt8), HasSubstr("not JSON"));
  EXPECT_FALSE(ReadNestedValues(std::string(100'000, '['), DataType::kInt8).ok());
}

TEST(FitShape, WhatFollowsFromTheModel) {
  const auto fit = [](Shape dims, bool has_shape, Shape shape, size_t count) {
    Tensor tensor = Of(DataType::kUint8, std::move(shape), std::vector<uint8_t>(count));
    const auto status = FitShape({"in", DataType::kUint8, std::move(dims)}, has_shape, &tensor);
    return status.ok() ? tensor::ShapeText(tensor.shape) : status.message();
  };
  EXPECT_EQ(fit({-1, 3}, true, {2, 3}, 6), "[2,3]");
  EXPECT_EQ(fit({-1, 3}, true, {3}, 3), "[1,3]");
  EXPECT_EQ(fit({-1, 3}, false, {}, 6), "[2,3]");
  EXPECT_EQ(fit({-1, -1}, false, {}, 6), "[1,6]");
  EXPECT_EQ(fit({2, 3}, true, {6}, 6), "[2,3]");
  EXPECT_EQ(fit({}, false, {}, 1), "[]");
  EXPECT_EQ(fit({-1, 3}, true, {2, 2}, 4),
            "the input 'in' of the model has the shape [-1,3], the values have the shape [2,2]");
  EXPECT_EQ(fit({4}, false, {}, 5),
            "the input 'in' of the model has the shape [4], the values have 5 elements");
  EXPECT_EQ(fit({-1, 0}, false, {}, 5),
            "the input 'in' of the model has the shape [-1,0], the values have 5 elements");
  EXPECT_TRUE(ParseShapeText("1,3,224").ok());
  for (const char* wrong : {"1,,2", "-1", "a", "9999999999999,9999999999999"}) {
    EXPECT_FALSE(ParseShapeText(wrong).ok()) << wrong;
  }
}

TEST(Npy, WhatIsWrittenIsRead) {
  for (const Tensor& tensor :
       {Of<float>(DataType::kFp32, {2, 2}, {1, 2, 3, 4}), Of<int64_t>(DataType::kInt64, {}, {7}),
        Of<uint8_t>(DataType::kBool, {3}, {1, 0, 1}), Of<uint16_t>(DataType::kFp16, {1}, {0x3c00}),
        Texts({2}, {"a", "longer"})}) {
    const auto content = NpyContent(tensor);
    ASSERT_TRUE(content.ok());
    const auto read = ParseNpy(*content);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->type, tensor.type);
    EXPECT_EQ(read->shape, tensor.shape);
    EXPECT_EQ(read->bytes, tensor.bytes);
  }
  EXPECT_EQ(NpyContent(Of<float>(DataType::kFp32, {1}, {1}))->size() % 64, 4u);
  EXPECT_FALSE(NpyContent(Texts({1}, {std::string("a\0", 2)})).ok());
}

std::string Npy(const std::string& header, const std::string& data) {
  std::string content("\x93NUMPY\1\0", 8);
  content += static_cast<char>(header.size());
  content += '\0';
  return content + header + data;
}

TEST(Npy, OtherFilesAreRefused) {
  const auto why = [](const std::string& content) {
    const auto read = ParseNpy(content);
    return read.ok() ? "read" : read.status().message();
  };
  const std::string rest = "'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(why(Npy("{'descr': '|u1', " + rest, "ab")), "read");
  EXPECT_THAT(why(Npy("{'descr': '|u1', " + rest, "a")), HasSubstr("size does not fit"));
  EXPECT_THAT(why(Npy("{'descr': '>f4', " + rest, "12345678")), HasSubstr("big-endian"));
  EXPECT_THAT(why(Npy("{'descr': '|O', " + rest, "")), HasSubstr("no"));
  EXPECT_THAT(why(Npy("{'descr': '<c8', " + rest, "")), HasSubstr("type c8"));
  EXPECT_THAT(why(Npy("{'descr': [('a', '<f4')], " + rest, "")), HasSubstr("fields"));
  EXPECT_THAT(why(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "")),
              HasSubstr("Fortran"));
  EXPECT_THAT(why(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,"
                      "9999999999999), }",
                      "")),
              HasSubstr("size does not fit"));
  EXPECT_THAT(why(Npy("{'descr': '|S0', 'fortran_order': False, 'shape': (9999999999,), }", "")),
              HasSubstr("size does not fit"));
  EXPECT_THAT(why("PK"), HasSubstr("does not begin"));
  EXPECT_THAT(why(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)), HasSubstr("cut off"));
}

TEST(Npy, ElementsAreConverted) {
  const auto narrow = ConvertTensor(Of<double>(DataType::kFp64, {2}, {1, 0.5}), DataType::kFp32);
  EXPECT_EQ(Values<float>(*narrow), (std::vector<float>{1, 0.5}));
  EXPECT_FALSE(ConvertTensor(Of<double>(DataType::kFp64, {1}, {0.5}), DataType::kInt32).ok());
  EXPECT_FALSE(ConvertTensor(Of<int32_t>(DataType::kInt32, {1}, {300}), DataType::kUint8).ok());
  EXPECT_FALSE(ConvertTensor(Texts({1}, {"a"}), DataType::kFp32).ok());
}

TEST(Picture, PpmIsDecoded) {
  const auto picture = DecodePicture(std::string("P6 # comment\n2 1\n255\n") + "abcdef");
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  EXPECT_EQ(picture->width, 2);
  EXPECT_EQ(picture->samples, "abcdef");
  EXPECT_EQ(WithChannels(*picture, 1).samples.size(), 2u);
  EXPECT_EQ(DecodePicture("P5\n1 2\n255\nab")->channels, 1);
  for (const char* broken : {"P6\n2 2\n255\nabc", "P6\n0 1\n255\n", "P6\n99999999 99999999\n255\n",
                             "P6\n1 1\n65535\nabcdef", "P6\n", "hello"}) {
    EXPECT_FALSE(DecodePicture(broken).ok()) << broken;
  }
}

TEST(Picture, ScalesWithTheCentersOfPixels) {
  const Picture gray{2, 1, 1, std::string("\x00\x64", 2)};
  EXPECT_EQ(Resized(gray, 4, 1).samples, std::string("\x00\x19\x4b\x64", 4));
  EXPECT_EQ(Resized(gray, 1, 2).samples, std::string("\x32\x32", 2));
}

TEST(Picture, ASmallerPictureIsMadeOfAllSamples) {
  const Picture striped{8, 1, 1, std::string("\x00\xf0\x00\xf0\x00\xf0\x00\xf0", 8)};
  const Picture small = Resized(striped, 2, 1);
  ASSERT_EQ(small.samples.size(), 2u);
  for (const char sample : small.samples) {
    EXPECT_NEAR(static_cast<unsigned char>(sample), 0x78, 0x10);
  }
}

// The letters of the picture
//   ab
//   cd
// are the result of a camera that was held as Exif describes; "abcd" of orientation 1.
TEST(Picture, IsTurnedUpright) {
  const char* const expected[] = {"abcd", "abcd", "badc", "dcba", "cdab",
                                  "acbd", "cadb", "dbca", "bdac", "abcd"};
  for (int orientation = 0; orientation <= 9; ++orientation) {
    EXPECT_EQ(Upright(Picture{2, 2, 1, "abcd"}, orientation).samples,
              expected[static_cast<size_t>(orientation)])
        << orientation;
  }
  const Picture turned = Upright(Picture{3, 1, 1, "abc"}, 6);
  EXPECT_EQ(turned.width, 1);
  EXPECT_EQ(turned.height, 3);
}

std::string JpegHead(const std::string& tiff) {
  const std::string content = std::string("Exif\0\0", 6) + tiff;
  std::string file = "\xff\xd8\xff\xe0";
  file += std::string("\x00\x04JF", 4) + "\xff\xe1" + std::string(1, '\0');
  return file + static_cast<char>(content.size() + 2) + content + "\xff\xda";
}

TEST(Picture, TheOrientationOfAJpegIsFound) {
  const std::string big("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 22);
  const std::string little(
      "II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x01\0\0\0\0\0\0\0"
      "\x12\x01\x03\0\x01\0\0\0\x08\0\0\0",
      34);
  EXPECT_EQ(ExifOrientation(JpegHead(big)), 6);
  EXPECT_EQ(ExifOrientation(JpegHead(little)), 8);
  EXPECT_EQ(ExifOrientation(JpegHead("")), 1);
  EXPECT_EQ(ExifOrientation(""), 1);
  // Cut anywhere, and with any byte changed, the file is read within its bounds.
  const std::string file = JpegHead(little);
  for (size_t size = 0; size < file.size(); ++size) ExifOrientation(file.substr(0, size));
  for (size_t at = 0; at < file.size(); ++at) {
    for (const char wrong : {'\0', '\x7f', '\xff'}) {
      std::string changed = file;
      changed[at] = wrong;
      const int found = ExifOrientation(changed);
      EXPECT_TRUE(found >= 1 && found <= 8);
    }
  }
}

TEST(PictureTensor, FindsTheLayout) {
  const Picture picture{2, 2, 3,
                        std::string("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b", 12)};
  const auto shape = [&](Shape dims, DataType type = DataType::kUint8) {
    const auto made = PictureTensor({"in", type, std::move(dims)}, picture, PictureScale::kUnit);
    return made.ok() ? tensor::ShapeText(made->shape) : made.status().message();
  };
  EXPECT_EQ(shape({3, 2, 2}), "[3,2,2]");
  EXPECT_EQ(shape({-1, 3, -1, -1}), "[1,3,2,2]");
  EXPECT_EQ(shape({-1, 4, 4, 3}), "[1,4,4,3]");
  EXPECT_EQ(shape({-1, -1, -1, -1}), "[1,2,2,3]");
  EXPECT_EQ(shape({5, 6}), "[5,6]");
  EXPECT_THAT(shape({16}), HasSubstr("not that of a picture"));
  EXPECT_THAT(shape({2, 3, 4, 4}), HasSubstr("not that of a picture"));
  EXPECT_THAT(shape({3, 1 << 20, 1 << 20}), HasSubstr("too large"));
  const auto planes =
      PictureTensor({"in", DataType::kUint8, {3, 2, 2}}, picture, PictureScale::kUnit);
  EXPECT_EQ(planes->bytes, std::string("\x00\x03\x06\x09\x01\x04\x07\x0a\x02\x05\x08\x0b", 12));
  const auto unit = PictureTensor({"in", DataType::kFp32, {2, 2, 3}}, picture, PictureScale::kUnit);
  EXPECT_FLOAT_EQ(Values<float>(*unit)[11], 11.0f / 255);
  const auto inception =
      PictureTensor({"in", DataType::kFp32, {2, 2, 3}}, picture, PictureScale::kInception);
  EXPECT_FLOAT_EQ(Values<float>(*inception)[0], -1);
}

class InputArgumentTest : public ::testing::Test {
 protected:
  std::string Made(const TensorSpec& spec, const std::string& value) {
    const auto made = MakeInput(spec, value, std::nullopt, {});
    return made.ok() ? TensorText(*made) : made.status().message() + "\n";
  }
  std::string File(const std::string& name, const std::string& content) {
    const std::string path = directory_->path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::unique_ptr<base::TemporaryDirectory> directory_ =
      std::move(base::TemporaryDirectory::Create().value());
};

TEST_F(InputArgumentTest, ValuesInAllForms) {
  const TensorSpec numbers{"in", DataType::kInt32, {-1, 2}};
  EXPECT_EQ(Made(numbers, "1,2"), "in  INT32  [1,2]\n  [[1, 2]]\n");
  EXPECT_EQ(Made(numbers, "1 2 3 4"), "in  INT32  [2,2]\n  [[1, 2],\n   [3, 4]]\n");
  EXPECT_EQ(Made(numbers, "[[1,2]]"), Made(numbers, "1,2"));
  EXPECT_EQ(Made(numbers, "zeros"), "in  INT32  [1,2]\n  [[0, 0]]\n");
  EXPECT_EQ(Made(numbers, "random"), Made(numbers, "random"));
  EXPECT_EQ(Made(numbers, "@" + File("a.json", "[[1,2]]\n")), Made(numbers, "1,2"));
  EXPECT_EQ(Made(numbers, "@" + File("a.txt", "1 2\n3 4\n")), Made(numbers, "1,2,3,4"));
  EXPECT_EQ(Made(numbers, "@" + File("a.bin", std::string("\1\0\0\0\2\0\0\0", 8))),
            Made(numbers, "1,2"));
  EXPECT_EQ(Made(numbers, "raw:" + File("a.json", std::string("\1\0\0\0\2\0\0\0", 8))),
            Made(numbers, "1,2"));
  EXPECT_EQ(Made(numbers,
                 "@" + File("a.npy", *NpyContent(Of<int64_t>(DataType::kInt64, {1, 2}, {1, 2})))),
            Made(numbers, "1,2"));
  const TensorSpec texts{"in", DataType::kBytes, {1}};
  EXPECT_EQ(Made(texts, "hello, you"), "in  BYTES  [1]\n  [\"hello, you\"]\n");
  EXPECT_EQ(Made(texts, "text:@x"), "in  BYTES  [1]\n  [\"@x\"]\n");
  EXPECT_EQ(Made(texts, R"(["a"])"), "in  BYTES  [1]\n  [\"a\"]\n");
  EXPECT_EQ(Made(texts, "@" + File("t.txt", "line\n")), "in  BYTES  [1]\n  [\"line\\n\"]\n");
  const TensorSpec picture{"in", DataType::kUint8, {-1, -1, 3}};
  EXPECT_EQ(Made(picture, "@" + File("p.ppm", "P6 1 1 255\nabc")),
            "in  UINT8  [1,1,3]\n  [[[97, 98, 99]]]\n");
  EXPECT_EQ(Made(picture, "@" + File("unknown", "P6 1 1 255\nabc")),
            Made(picture, "image:" + File("unknown", "P6 1 1 255\nabc")));
}

TEST_F(InputArgumentTest, ErrorsNameTheInput) {
  const TensorSpec numbers{"in", DataType::kInt32, {-1, 2}};
  EXPECT_EQ(Made(numbers, "1,2,3"),
            "input 'in': the input 'in' of the model has the shape [-1,2], the values have 3 "
            "elements\n");
  EXPECT_EQ(Made(numbers, "a"), "input 'in': expected numbers of the type INT32\n");
  EXPECT_EQ(Made(numbers, "@" + File("b.bin", "abc")),
            "input 'in': the file has 3 bytes, which is no multiple of 4, the size of INT32\n");
  EXPECT_THAT(Made(numbers, "@/nowhere"), HasSubstr("input 'in': "));
  EXPECT_THAT(Made({"in", DataType::kFp32, {1 << 30, 1 << 30}}, "zeros"), HasSubstr("too large"));
  InputArguments arguments;
  arguments.values["other"] = "1";
  const std::vector<TensorSpec> specs = {numbers};
  EXPECT_EQ(MakeInputs(specs, {}, arguments, "").status().message(),
            "the model has no input 'other', its inputs are in");
  EXPECT_EQ(MakeInputs(specs, {}, {}, "").status().message(),
            "the input 'in' has no value; it is INT32 [-1,2], for example --input in=zeros");
  const std::vector<std::string> optional = {"in"};
  EXPECT_TRUE(MakeInputs(specs, optional, {}, "")->empty());
  EXPECT_EQ(MakeInputs(specs, optional, {}, "zeros")->size(), 1u);
}

TEST(TensorText, SmallAndLargeOnes) {
  EXPECT_EQ(TensorText(Of<float>(DataType::kFp32, {2, 2}, {0.5, -1, 100, 2})),
            "OUT  FP32  [2,2]\n  [[0.5,  -1],\n   [100,   2]]\n");
  EXPECT_EQ(TensorText(Of<float>(DataType::kFp32, {}, {0.1f})), "OUT  FP32  []\n  0.1\n");
  EXPECT_EQ(TensorText(Of<float>(DataType::kFp32, {int64_t{1} << 40, 0}, {})),
            "OUT  FP32  [1099511627776,0]\n  []\n");
  std::vector<int32_t> many(1000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>(i);
  EXPECT_EQ(TensorText(Of<int32_t>(DataType::kInt32, {10, 100}, many)),
            "OUT  INT32  [10,100]  1000 elements: min 0, max 999, mean 499.5\n"
            "  [[0, 1, 2, ..., 97, 98, 99],\n"
            "   [100, 101, 102, ..., 197, 198, 199],\n"
            "   [200, 201, 202, ..., 297, 298, 299],\n"
            "   ...,\n"
            "   [700, 701, 702, ..., 797, 798, 799],\n"
            "   [800, 801, 802, ..., 897, 898, 899],\n"
            "   [900, 901, 902, ..., 997, 998, 999]]\n");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(TensorText(Of<float>(DataType::kFp32, {2}, {nan, 1}), 1),
              HasSubstr("2 elements: min 1, max 1, mean 1, 1 not finite"));
  EXPECT_EQ(TensorText(Texts({2}, {"a\x1b[2J\"", "b"})),
            "OUT  BYTES  [2]\n  [\"a\\x1b[2J\\\"\", \"b\"]\n");
}

TEST(TensorText, Classes) {
  const Tensor classes = Texts({1, 2}, {"0.900000:281:tabby: cat", "0.050000:7:\x1b[2J"});
  EXPECT_TRUE(AreClasses(classes));
  EXPECT_EQ(ClassesText(classes),
            "OUT  BYTES  [1,2]\n"
            "  ITEM  SCORE     CLASS  LABEL\n"
            "  0     0.900000  281    tabby: cat\n"
            "  0     0.050000  7      \\x1b[2J\n");
  EXPECT_EQ(ClassesText(Texts({1}, {"1:0"})),
            "OUT  BYTES  [1]\n  SCORE  CLASS  LABEL\n  1      0\n");
  EXPECT_FALSE(AreClasses(Texts({1}, {"hello"})));
  EXPECT_FALSE(AreClasses(Texts({1}, {"x:1"})));
}

TEST(CheckTensor, BrokenOnes) {
  EXPECT_TRUE(CheckTensor(Of<float>(DataType::kFp32, {2}, {1, 2})).ok());
  EXPECT_FALSE(CheckTensor(Of<float>(DataType::kFp32, {3}, {1, 2})).ok());
  EXPECT_FALSE(CheckTensor(Of<float>(DataType::kFp32, {-1}, {})).ok());
  EXPECT_FALSE(CheckTensor({"x", DataType::kInvalid, {1}, "a"}).ok());
  EXPECT_FALSE(CheckTensor({"x", DataType::kBytes, {1}, "abc"}).ok());
  EXPECT_FALSE(CheckTensor({"x", DataType::kBytes, {int64_t{1} << 62}, ""}).ok());
}

}  // namespace
}  // namespace nereid::app::tools
