#include "attention/models/vision/vision_model.h"

#include <fmt/core.h>

#include "attention/formats/files/file_io.h"

namespace headscope::attention {
namespace {

/// Owns the token rows of a model on a picture, and the model that its other weights belong to.
struct PictureRows {
  std::shared_ptr<const Model> of;
  Matrix rows;
};

/// Each patch as a row, [rows · cols, 3 · patch²], one colour after another as in a convolution's weight.
Matrix patchesOf(const Matrix& colours, Index width, Index patch, Index rows, Index cols) {
  Matrix patches(rows * cols, 3 * patch * patch);
  for (Index i = 0; i < patches.rows(); ++i)
    for (Index c = 0; c < 3; ++c)
      for (Index y = 0; y < patch; ++y)
        patches.row(i).segment((c * patch + y) * patch, patch) =
            colours.row(c).segment((i / cols * patch + y) * width + i % cols * patch, patch);
  return patches;
}

Matrix matrixOf(const MappedRows& table) {
  Matrix rows(table.rows, table.cols);
  for (Index i = 0; i < table.rows; ++i) rows.row(i) = table.row(i);
  return rows;
}

/// The patches' positions [rows · cols, d], resampled if the grid has another size.
Matrix positionsOf(const VisionConfig& tokens, const Matrix& table, Index rows, Index cols) {
  const Index grid = tokens.grid();
  if (rows == grid && cols == grid) return table;
  const bool wide = tokens.otherSizes == VisionConfig::OtherSizes::antialiased;
  const auto sums = [&](Index to) {
    return wide ? resampleSums(grid, to, ResampleFilter::bicubic) : cubicSums(grid, to);
  };
  return resampledGrid(table, grid, grid, sums(rows), sums(cols));
}

Status checkSize(const VisionConfig& tokens, const RgbImage& seen) {
  const Index least = tokens.otherSizes == VisionConfig::OtherSizes::refused ? tokens.side : tokens.patch;
  if (least == tokens.patch ? seen.width >= least && seen.height >= least
                            : seen.width == least && seen.height == least)
    return success();
  return Error{
      fmt::format("preprocessor_config.json makes pictures {} × {} pixels, expected {}{} × {}, "
                  "config.json's {}",
                  seen.width, seen.height, least == tokens.patch ? "at least " : "", least, least,
                  least == tokens.patch ? "patch_size" : "image_size")};
}

}  // namespace

Result<VisionModel> modelOnPicture(std::shared_ptr<const Model> model, const ImageProcessor& processor,
                                   const RgbImage& picture) {
  const ModelConfig& config = model->config();
  if (!config.picture) return Error{"this model reads text, expected one that reads pictures"};
  const VisionConfig& tokens = *config.picture;
  auto seen = processor.fit(picture);
  if (!seen) return seen.error();
  if (const Status fits = checkSize(tokens, *seen); !fits) return fits.error();
  VisionModel made;
  made.rows = seen->height / tokens.patch;
  made.cols = seen->width / tokens.patch;
  made.before = tokens.leading + tokens.registers;
  if (made.rows * made.cols > VisionConfig::kMaxPatches)
    return Error{fmt::format("found {} × {} patches, expected at most {}", made.rows, made.cols,
                             VisionConfig::kMaxPatches)};

  const VisionWeights& weights = *model->weights().picture;
  auto parts = std::make_shared<PictureRows>(PictureRows{model, Matrix(made.tokens(), config.modelDim)});
  const Matrix positions = matrixOf(weights.positions);
  for (Index i = 0; i < tokens.leading; ++i)
    parts->rows.row(i) = weights.leading[asSize(i)].row(0) + positions.row(i);
  if (tokens.registers > 0)
    parts->rows.middleRows(tokens.leading, tokens.registers) = matrixOf(weights.registers);
  const Matrix patches = patchesOf(processor.colours(*seen), seen->width, tokens.patch, made.rows, made.cols);
  parts->rows.bottomRows(made.rows * made.cols) =
      weights.patches.apply(patches, {}) +
      positionsOf(tokens, positions.bottomRows(positions.rows() - tokens.leading), made.rows, made.cols);
  if (const Status status = model->checkpoint().intact(); !status) return status.error();

  ModelWeights own = model->weights();
  own.embedding = MappedRows::of(parts->rows);
  made.seen = *std::move(seen);
  made.model = std::make_shared<const Model>(Model::made(config, std::move(own), parts, model));
  return made;
}

Result<VisionModel> modelOnPictureFile(std::shared_ptr<const Model> model,
                                       const std::filesystem::path& picture, const std::stop_token& stop) {
  const std::string name = shownPath(picture);
  if (!model->config().picture)
    return Error{shownPath(model->checkpoint().folder()) +
                 " reads text, expected a model that reads pictures: "
                 "ViT, DeiT, DINOv2 or CLIP"};
  const auto processor =
      ImageProcessor::open(model->checkpoint().folder(), model->config().picture->processor);
  if (!processor) return processor.error();
  const auto bytes = readFile(picture, kMaxImageBytes);
  if (!bytes) return bytes.error();
  const auto decoded = decodeImage(*bytes, name, stop);
  if (!decoded) return decoded.error();
  auto made = modelOnPicture(std::move(model), *processor, *decoded);
  if (!made) return Error{name + ": " + made.error().message};
  return made;
}

std::vector<std::string> VisionModel::names() const {
  const VisionConfig& tokens = *model->config().picture;
  std::vector<std::string> names;
  for (Index i = 0; i < tokens.leading; ++i) names.emplace_back(i == 0 ? "[CLS]" : "[DIST]");
  for (Index i = 0; i < tokens.registers; ++i) names.push_back(fmt::format("[REG{}]", i));
  for (Index i = 0; i < rows * cols; ++i) names.push_back(fmt::format("r{} c{}", i / cols, i % cols));
  return names;
}

}  // namespace headscope::attention
