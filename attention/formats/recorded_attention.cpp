#include "attention/formats/recorded_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "attention/formats/file_io.h"
#include "attention/formats/quote.h"
#include "attention/formats/recorded_layers.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTokenBytes = std::uint64_t{64} << 20;

/// Where tokens are looked for beside a file, in turn.
std::vector<fs::path> tokenFiles(const fs::path& path) {
  std::vector<fs::path> files;
  for (const char* ending : {".tokens.json", ".json", ".tokens.txt", ".txt"}) {
    fs::path file = path;
    files.push_back(file.replace_extension(ending));
  }
  files.push_back(path.parent_path() / "tokens.json");
  files.push_back(path.parent_path() / "tokens.txt");
  return files;
}

std::vector<std::string> places(Index count) {
  std::vector<std::string> tokens;
  for (Index i = 0; i < count; ++i) tokens.push_back(std::to_string(i));
  return tokens;
}

std::string readableNumber(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  return fmt::format("{:.6g}", value);
}

}  // namespace

Result<RecordedAttention> RecordedAttention::open(const fs::path& path) {
  auto file = TensorSource::open(path);
  if (!file) return file.error();
  auto layers = findRecordedLayers(file->header(), shownPath(path));
  if (!layers) return layers.error();
  RecordedAttention recorded(path, *std::move(file));
  recorded.layers_ = *std::move(layers);
  if (const auto status = recorded.readTokens(); !status) return status.error();
  return recorded;
}

Status RecordedAttention::readTokens() {
  queryTokens_ = places(queries());
  keyTokens_ = places(keys());
  const auto take = [&](const std::string& text, const std::string& name) -> Status {
    auto tokens = parseTokens(text, keys(), "tokens", name);
    if (!tokens) return tokens.error();
    keyTokens_ = *std::move(tokens);
    hasTokens_ = true;
    // Fewer queries than keys are the last tokens: a cache's.
    if (queries() <= keys()) queryTokens_ = {keyTokens_.end() - queries(), keyTokens_.end()};
    return success();
  };
  const auto& metadata = file_.header().metadata;
  if (const auto said = metadata.find("tokens"); said != metadata.end()) {
    if (const auto status = take(said->second, shownPath(path_)); !status) return status;
  } else {
    std::error_code ignored;
    const auto files = tokenFiles(path_);
    const auto beside = std::find_if(
        files.begin(), files.end(), [&](const fs::path& file) { return fs::is_regular_file(file, ignored); });
    if (beside != files.end()) {
      const auto bytes = readFile(*beside, kMostTokenBytes);
      if (!bytes) return bytes.error();
      if (const auto status = take({bytes->begin(), bytes->end()}, shownPath(*beside)); !status)
        return status;
    }
  }
  if (const auto said = metadata.find("query_tokens"); said != metadata.end()) {
    auto tokens = parseTokens(said->second, queries(), "query_tokens", shownPath(path_));
    if (!tokens) return tokens.error();
    queryTokens_ = *std::move(tokens);
  }
  return success();
}

Result<Matrix> RecordedAttention::readArray(const RecordedArray& array, Index head) const {
  require(head >= 0 && head < array.heads, fmt::format("head {} of {}", head, array.heads));
  const std::string at = shownPath(path_) + ": tensor " + quotedText(array.tensor);
  try {
    Matrix values(array.rows, array.cols);
    const auto size = static_cast<std::size_t>(values.size());
    const std::uint64_t first = array.first + static_cast<std::uint64_t>(head) * size;
    if (const auto status = file_.readFloats(array.tensor, first, {values.data(), size}, at); !status)
      return status.error();
    const auto bad =
        std::find_if(values.data(), values.data() + size, [](float x) { return !std::isfinite(x); });
    if (bad == values.data() + size) return values;
    const Index place = bad - values.data();
    return Error{fmt::format("{} is {} at head {}, row {}, column {}, expected finite values", at,
                             readableNumber(*bad), head, place / array.cols, place % array.cols)};
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{} has heads of {} × {} numbers, more than there is memory for", at, array.rows,
                             array.cols)};
  }
}

Result<RecordedWeights> RecordedAttention::readWeights(Index layer, Index head) const {
  require(layer >= 0 && layer < std::ssize(layers_), fmt::format("layer {} of {}", layer, layers_.size()));
  const RecordedArray& array = layers_[static_cast<std::size_t>(layer)].attention;
  auto weights = readArray(array, head);
  if (!weights) return weights.error();
  // Half precision rounds 1 by 0.001 at most.
  constexpr float kSlack = 1e-2F;
  for (Index row = 0; row < weights->rows(); ++row)
    for (Index col = 0; col < weights->cols(); ++col)
      if (const float value = (*weights)(row, col); value < -kSlack || value > 1 + kSlack)
        return Error{
            fmt::format("{}: tensor {} is {} at head {}, row {}, column {}, expected 0 to 1: attention "
                        "after the softmax",
                        shownPath(path_), quotedText(array.tensor), readableNumber(value), head, row, col)};
  const Vector sums = weights->rowwise().sum();
  return RecordedWeights{*std::move(weights), sums.minCoeff(), sums.maxCoeff()};
}

}  // namespace headscope::attention
