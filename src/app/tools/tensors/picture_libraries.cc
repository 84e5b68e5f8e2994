// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/picture_libraries.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "app/tools/tensors/exif.h"
#include "base/shared_library.h"

namespace nereid::app::tools {
namespace {

using base::Status;

base::Result<std::unique_ptr<base::SharedLibrary>> Open(const char* library, const char* package) {
  auto opened = base::SharedLibrary::Open(library);
  if (opened.ok()) return opened;
  return Status::Unavailable(std::string("the library ") + library +
                             " is needed for this picture; on Debian: apt install " + package);
}

Status Broken(const std::string& format, const std::string& why) {
  return Status::InvalidArgument("the " + format + " picture cannot be read: " + why);
}

base::Result<Picture> EmptyPicture(const std::string& format, int64_t width, int64_t height) {
  if (width < 1 || height < 1 || width > kMaxPixels / height) {
    return Broken(format, std::to_string(width) + " x " + std::to_string(height) + " pixels");
  }
  Picture picture{width, height, 3, ""};
  picture.samples.resize(static_cast<size_t>(width * height * 3));
  return picture;
}

// The simplified API of libpng 1.6, whose layout is fixed by PNG_IMAGE_VERSION 1: png_image,
// png_color, PNG_FORMAT_RGB.
struct PngImage {
  void* opaque;
  uint32_t version;
  uint32_t width;
  uint32_t height;
  uint32_t format;
  uint32_t flags;
  uint32_t colormap_entries;
  uint32_t warning_or_error;
  char message[64];
};
struct PngColor {
  uint8_t red, green, blue;
};
constexpr uint32_t kPngVersion = 1;
constexpr uint32_t kPngFormatRgb = 2;

// TurboJPEG's values.
constexpr int kTurboPixelRgb = 0;

}  // namespace

base::Result<Picture> DecodePng(std::string_view file) {
  NEREID_ASSIGN_OR_RETURN(const auto library, Open("libpng16.so.16", "libpng16-16"));
  int (*begin)(PngImage*, const void*, size_t) = nullptr;
  int (*finish)(PngImage*, const PngColor*, void*, int32_t, void*) = nullptr;
  void (*release)(PngImage*) = nullptr;
  library->Find("png_image_begin_read_from_memory", &begin);
  library->Find("png_image_finish_read", &finish);
  library->Find("png_image_free", &release);
  if (begin == nullptr || finish == nullptr || release == nullptr) {
    return Status::Unavailable("libpng16.so.16 lacks the functions of version 1.6");
  }
  PngImage image{};
  image.version = kPngVersion;
  if (begin(&image, file.data(), file.size()) == 0) return Broken("PNG", image.message);
  auto picture = EmptyPicture("PNG", image.width, image.height);
  if (!picture.ok()) {
    release(&image);
    return picture;
  }
  image.format = kPngFormatRgb;
  const PngColor white{255, 255, 255};
  if (finish(&image, &white, picture->samples.data(), 0, nullptr) == 0) {
    return Broken("PNG", image.message);
  }
  return picture;
}

base::Result<Picture> DecodeJpeg(std::string_view file) {
  NEREID_ASSIGN_OR_RETURN(const auto library, Open("libturbojpeg.so.0", "libturbojpeg0"));
  void* (*make)() = nullptr;
  int (*read_head)(void*, const unsigned char*, unsigned long, int*, int*, int*, int*) = nullptr;
  int (*decode)(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int,
                int) = nullptr;
  int (*destroy)(void*) = nullptr;
  char* (*error)(void*) = nullptr;
  library->Find("tjInitDecompress", &make);
  library->Find("tjDecompressHeader3", &read_head);
  library->Find("tjDecompress2", &decode);
  library->Find("tjDestroy", &destroy);
  library->Find("tjGetErrorStr2", &error);
  if (make == nullptr || read_head == nullptr || decode == nullptr || destroy == nullptr ||
      error == nullptr) {
    return Status::Unavailable("libturbojpeg.so.0 lacks the functions of version 2.0");
  }
  const std::unique_ptr<void, int (*)(void*)> decoder(make(), destroy);
  if (decoder == nullptr) return Status::Unavailable("libturbojpeg has no memory");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, subsampling = 0, colors = 0;
  if (read_head(decoder.get(), bytes, file.size(), &width, &height, &subsampling, &colors) != 0) {
    return Broken("JPEG", error(decoder.get()));
  }
  NEREID_ASSIGN_OR_RETURN(Picture picture, EmptyPicture("JPEG", width, height));
  auto* const samples = reinterpret_cast<unsigned char*>(picture.samples.data());
  if (decode(decoder.get(), bytes, file.size(), samples, width, 0, height, kTurboPixelRgb, 0) !=
      0) {
    return Broken("JPEG", error(decoder.get()));
  }
  return Upright(std::move(picture), ExifOrientation(file));
}

}  // namespace nereid::app::tools
