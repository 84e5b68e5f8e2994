// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/wav_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "app/tools/tensors/input_argument.h"
#include "app/tools/tensors/tensor_text.h"
#include "base/temporary_directory.h"

namespace nereid::app::tools {
namespace {

using tensor::DataType;
using ::testing::HasSubstr;

std::string Little(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::string Chunk(const std::string& name, const std::string& content) {
  return name + Little(content.size(), 4) + content + (content.size() % 2 ? "x" : "");
}

std::string Format(uint64_t encoding, uint64_t channels, uint64_t bits, uint64_t rate = 16000) {
  return Little(encoding, 2) + Little(channels, 2) + Little(rate, 4) +
         Little(rate * channels * bits / 8, 4) + Little(channels * bits / 8, 2) + Little(bits, 2);
}

std::string Wav(const std::string& format, const std::string& samples) {
  const std::string chunks = Chunk("fmt ", format) + Chunk("LIST", "odd") + Chunk("data", samples);
  return "RIFF" + Little(4 + chunks.size(), 4) + "WAVE" + chunks;
}

std::string Made(DataType type, tensor::Shape dims, const std::string& file, uint32_t rate = 0) {
  const auto recording = ParseWav(file);
  if (!recording.ok()) return recording.status().message();
  const auto tensor = RecordingTensor({"in", type, std::move(dims)}, *recording, rate);
  return tensor.ok() ? TensorText(*tensor) : tensor.status().message();
}

TEST(WavFile, EveryEncodingIsRead) {
  const tensor::Shape any = {-1};
  EXPECT_EQ(Made(DataType::kFp32, any, Wav(Format(1, 1, 8), std::string("\x00\x80\xc0", 3))),
            "in  FP32  [3]\n  [ -1,   0, 0.5]\n");
  EXPECT_EQ(Made(DataType::kFp32, any, Wav(Format(1, 1, 16), std::string("\x00\x80\x00\x40", 4))),
            "in  FP32  [2]\n  [ -1, 0.5]\n");
  EXPECT_EQ(Made(DataType::kFp64, any, Wav(Format(1, 1, 24), std::string("\x00\x00\xc0", 3))),
            "in  FP64  [1]\n  [-0.5]\n");
  EXPECT_EQ(Made(DataType::kFp32, any, Wav(Format(1, 1, 32), std::string("\x00\x00\x00\x20", 4))),
            "in  FP32  [1]\n  [0.25]\n");
  const float sample = 0.125f;
  std::string bytes(sizeof(sample), '\0');
  std::memcpy(bytes.data(), &sample, sizeof(sample));
  EXPECT_EQ(Made(DataType::kFp32, any, Wav(Format(3, 1, 32), bytes)), "in  FP32  [1]\n  [0.125]\n");
  const std::string extensible =
      Format(0xfffe, 1, 32) + Little(22, 2) + Little(32, 2) + Little(4, 4) + Little(3, 2);
  EXPECT_EQ(Made(DataType::kFp32, any, Wav(extensible, bytes)), "in  FP32  [1]\n  [0.125]\n");
  EXPECT_EQ(Made(DataType::kInt16, any, Wav(Format(1, 1, 16), std::string("\x00\x80\x00\x40", 4))),
            "in  INT16  [2]\n  [-32768,  16384]\n");
}

TEST(WavFile, ChannelsStandWhereTheModelHasThem) {
  const std::string stereo = Wav(Format(1, 2, 8), "abcdef");
  EXPECT_EQ(Made(DataType::kUint8, {-1, 2}, stereo),
            "in  UINT8  [3,2]\n  [[ 97,  98],\n   [ 99, 100],\n   [101, 102]]\n");
  EXPECT_EQ(Made(DataType::kUint8, {2, -1}, stereo),
            "in  UINT8  [2,3]\n  [[ 97,  99, 101],\n   [ 98, 100, 102]]\n");
  EXPECT_THAT(Made(DataType::kUint8, {-1}, stereo), HasSubstr("has 2 channels, and the shape"));
}

TEST(WavFile, WhatDoesNotFitIsSaid) {
  const std::string file = Wav(Format(1, 1, 24, 44100), "abc");
  EXPECT_THAT(Made(DataType::kFp32, {-1}, file, 16000),
              HasSubstr("has 44100 frames in a second, and --audio-rate says 16000: convert it"));
  EXPECT_THAT(Made(DataType::kInt16, {-1}, file),
              HasSubstr("takes INT16, and the recording has 24 bits"));
  EXPECT_THAT(Made(DataType::kFp32, {-1}, Wav(Format(7, 1, 8), "a")),
              HasSubstr("has the encoding 7 with 8 bits; expected PCM"));
  EXPECT_THAT(Made(DataType::kFp32, {-1}, Wav(Format(1, 0, 16), "a")), HasSubstr("0 channels"));
}

TEST(WavFile, AVeryLongRecordingIsRefused) {
  Recording recording;
  recording.frames = (int64_t{1} << 27) + 1;
  const auto made = RecordingTensor({"in", DataType::kFp32, {-1}}, recording, 0);
  EXPECT_THAT(made.status().message(), HasSubstr("at most 2^27 samples"));
}

TEST(WavFile, AFileOfAnyBytesIsReadWithinItsBounds) {
  const std::string file = Wav(Format(1, 2, 16), "abcdefgh");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(ParseWav(file.substr(0, size)).ok()) << size;
  }
  for (size_t at = 0; at < file.size(); ++at) {
    for (const char wrong : {'\0', '\x7f', '\xff'}) {
      std::string changed = file;
      changed[at] = wrong;
      Made(DataType::kFp32, {-1, 2}, changed);
    }
  }
  // A program that wrote to a pipe did not know how many samples would follow.
  std::string piped = file;
  piped.replace(piped.find("data") + 4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(ParseWav(piped)->frames, 2);
}

TEST(WavFile, IsAFormOfInputs) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = (*directory)->path() + "/a.WAV";
  std::ofstream(path, std::ios::binary) << Wav(Format(1, 1, 16), "abcd");
  const TensorSpec spec{"in", DataType::kFp32, {-1, -1}};
  const auto made = MakeInput(spec, "@" + path, std::nullopt, {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->shape, (tensor::Shape{1, 2}));
  EXPECT_FALSE(MakeInput(spec, "audio:" + path, std::nullopt, {PictureScale::kUnit, 8000}).ok());
  const TensorSpec bytes{"in", DataType::kBytes, {1}};
  EXPECT_GT(MakeInput(bytes, "@" + path, std::nullopt, {})->bytes.size(), 40u);
}

}  // namespace
}  // namespace nereid::app::tools
