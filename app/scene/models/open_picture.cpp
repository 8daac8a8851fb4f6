// Puts a picture on what is open: a model that reads pictures, or recorded attention of one.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/scene/models/open_model.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::RgbImage;

namespace {

/// The grid of patches, and the number of tokens before it.
struct PatchGrid {
  Index rows, cols, before;
};

/// Parses "r13 c5" as row and column.
std::optional<std::pair<Index, Index>> patchOf(const std::string& name) {
  Index row = 0, col = 0;
  const char* const end = name.data() + name.size();
  if (!name.starts_with('r')) return std::nullopt;
  const auto first = std::from_chars(name.data() + 1, end, row);
  if (first.ec != std::errc() || end - first.ptr < 3 || first.ptr[0] != ' ' || first.ptr[1] != 'c')
    return std::nullopt;
  const auto second = std::from_chars(first.ptr + 2, end, col);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair(row, col);
}

/// The grid according to the tokens' names, else the first square after 1, 0, 2 or up to nine other tokens: a
/// class token, none, DeiT's two, and registers.
std::optional<PatchGrid> gridOf(const attention::RecordedAttention& file) {
  const Index keys = file.keys();
  if (file.queries() != keys) return std::nullopt;
  if (const auto last = patchOf(file.keyTokens().back())) {
    const PatchGrid named{last->first + 1, last->second + 1, keys - (last->first + 1) * (last->second + 1)};
    if (named.before >= 0) return named;
  }
  for (const Index before : {1, 0, 2, 5, 3, 4, 6, 7, 8, 9}) {
    const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(keys - before))));
    if (keys > before && side > 1 && side * side == keys - before) return PatchGrid{side, side, before};
  }
  return std::nullopt;
}

/// The largest centred part with the grid's proportions.
RgbImage middleOf(const RgbImage& picture, const PatchGrid& grid) {
  const Index height = std::min(picture.height, std::max<Index>(picture.width * grid.rows / grid.cols, 1));
  const Index width = std::min(picture.width, std::max<Index>(height * grid.cols / grid.rows, 1));
  RgbImage middle{width, height, {}};
  const Index top = (picture.height - height) / 2, left = (picture.width - width) / 2;
  for (Index y = 0; y < height; ++y) {
    const auto row = picture.rgb.begin() + 3 * ((top + y) * picture.width + left);
    middle.rgb.insert(middle.rgb.end(), row, row + 3 * width);
  }
  return middle;
}

Result<OpenPicture> besideRecording(const OpenModel& opened, const std::filesystem::path& path,
                                    const std::stop_token& stop) {
  const auto grid = gridOf(*opened.recorded);
  if (!grid)
    return Error{fmt::format(
        "{}: {} has {} queries and {} keys, which are no patches of a picture: expected "
        "a square number of patches after at most nine other tokens",
        attention::shownPath(path), opened.name, opened.recorded->queries(), opened.recorded->keys())};
  const auto bytes = attention::readFile(path, attention::kMaxImageBytes);
  if (!bytes) return bytes.error();
  const auto decoded = attention::decodeImage(*bytes, attention::shownPath(path), stop);
  if (!decoded) return decoded.error();
  return OpenPicture{"", middleOf(*decoded, *grid), grid->rows, grid->cols, grid->before, {}, nullptr};
}

}  // namespace

bool isPictureName(const std::filesystem::path& file) {
  const std::string ending = attention::lowerCase(file.extension().string());
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Error pictureWithoutModel(const std::filesystem::path& picture) {
  return {picture.filename().string() +
          " is a picture: open a model that reads pictures first (ViT, DeiT, DINOv2 or CLIP), or recorded "
          "attention of one"};
}

Result<std::shared_ptr<const OpenModel>> withPicture(const std::shared_ptr<const OpenModel>& opened,
                                                     const std::filesystem::path& path,
                                                     const std::stop_token& stop) {
  if (!opened->recorded && !opened->readsPictures()) return pictureWithoutModel(path);
  OpenModel made{opened->name, nullptr};
  auto picture = std::make_shared<OpenPicture>();
  if (opened->recorded) {
    auto beside = besideRecording(*opened, path, stop);
    if (!beside) return beside.error();
    *picture = *std::move(beside);
    made.recorded = opened->recorded;
    made.version = opened->version;
    made.isCrossAttention = opened->isCrossAttention;
    made.recordedShape = opened->recordedShape;
  } else {
    const auto base = opened->picture ? opened->picture->base : opened->model;
    auto on = attention::modelOnPictureFile(base, path, stop);
    if (!on) return on.error();
    *picture = {"", std::move(on->seen), on->rows, on->cols, on->before, on->names(), base};
    made.model = on->model;
  }
  picture->name = path.filename().string();
  made.picture = std::move(picture);
  return std::make_shared<const OpenModel>(std::move(made));
}

}  // namespace headscope::app
