// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/decode_picture.h"

#include <algorithm>

#include "app/tools/tensors/picture_libraries.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpegMagic = "\xff\xd8\xff";

bool IsPnm(std::string_view file) {
  return file.size() > 2 && file[0] == 'P' && (file[1] == '5' || file[1] == '6') &&
         (file[2] == '\n' || file[2] == ' ' || file[2] == '\r' || file[2] == '\t');
}

/// The reader of the numbers in the head of a PPM: separated by white space and by comments from
/// '#' to the end of the line.
class PnmHead {
 public:
  explicit PnmHead(std::string_view text) : text_(text) {}

  /// Returns the next number and the one character behind it is consumed; -1 for none.
  int64_t Take() {
    while (at_ < text_.size() && (IsBlank(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        ++at_;
      }
    }
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const auto number = base::ParseWhole<int32_t>(text_.substr(begin, at_ - begin));
    if (!number || at_ == text_.size() || !IsBlank(text_[at_])) return -1;
    return *number;
  }
  /// Returns what follows the number and the blank behind it.
  std::string_view rest() const { return text_.substr(std::min(at_ + 1, text_.size())); }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  const std::string_view text_;
  size_t at_ = 2;  // behind "P6"
};

base::Result<Picture> DecodePnm(std::string_view file) {
  PnmHead head(file);
  Picture picture;
  picture.channels = file[1] == '6' ? 3 : 1;
  picture.width = head.Take();
  picture.height = head.Take();
  const int64_t highest = head.Take();
  if (picture.width < 1 || picture.height < 1 || highest != 255) {
    return Status::InvalidArgument("the PPM or PGM picture is broken or does not have 8 bits");
  }
  const int64_t pixels = picture.width * picture.height;
  if (pixels > kMaxPixels || head.rest().size() < static_cast<size_t>(pixels * picture.channels)) {
    return Status::InvalidArgument("the PPM or PGM picture is cut off or has too many pixels");
  }
  picture.samples = head.rest().substr(0, static_cast<size_t>(pixels * picture.channels));
  return picture;
}

}  // namespace

bool IsPicture(std::string_view file) {
  return file.starts_with(kPngMagic) || file.starts_with(kJpegMagic) || IsPnm(file);
}

base::Result<Picture> DecodePicture(std::string_view file) {
  if (IsPnm(file)) return DecodePnm(file);
  if (file.starts_with(kPngMagic)) return DecodePng(file);
  if (file.starts_with(kJpegMagic)) return DecodeJpeg(file);
  return Status::InvalidArgument("the file is no PNG, JPEG, PPM or PGM picture");
}

}  // namespace nereid::app::tools
