#include "attention/formats/recorded/recorded_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/formats/recorded/recorded_layers.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTokenBytes = std::uint64_t{64} << 20;

/// Returns where to look for tokens next to a file, in order.
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

Result<RecordedAttention> RecordedAttention::open(const fs::path& path, const std::string& group) {
  auto file = TensorSource::open(path);
  if (!file) return file.error();
  auto groups = findRecordedLayers(file->header(), shownPath(path));
  if (!groups) return groups.error();
  RecordedAttention recorded(path, *std::move(file));
  for (const RecordedLayers& one : *groups) recorded.groups_.push_back(one.group);
  const auto found =
      group.empty() ? groups->begin() : std::ranges::find(*groups, group, &RecordedLayers::group);
  if (found == groups->end())
    return Error{fmt::format("{}: has no attention called {}, expected {}", shownPath(path),
                             quotedText(group), fmt::join(recorded.groups_, ", "))};
  recorded.group_ = found->group;
  recorded.layers_ = std::move(found->layers);
  if (const auto status = recorded.readTokens(); !status) return status.error();
  return recorded;
}

const std::pair<const std::string, std::string>* RecordedAttention::said(
    std::initializer_list<const char*> names) const {
  const auto& metadata = file_.header().metadata;
  for (const char* name : names)
    if (const auto found = metadata.find(name); found != metadata.end()) return &*found;
  return nullptr;
}

Status RecordedAttention::takeTokens(const std::string& text, const std::string& file,
                                     const std::string& list) {
  const bool several = groups_.size() > 1;  // the list may be another group's
  auto tokens = parseTokens(text, keys(), "tokens", several ? list : file);
  if (!tokens && several) unfitTokens_ = tokens.error().message;
  if (!tokens) return several ? success() : Status(tokens.error());
  keyTokens_ = *std::move(tokens);
  hasTokens_ = true;
  // Fewer queries than keys are the last tokens, after those in a cache.
  if (queries() <= keys()) queryTokens_ = {keyTokens_.end() - queries(), keyTokens_.end()};
  return success();
}

Status RecordedAttention::readTokensBeside() {
  std::error_code ignored;
  const auto files = tokenFiles(path_);
  const auto beside = std::find_if(files.begin(), files.end(),
                                   [&](const fs::path& file) { return fs::is_regular_file(file, ignored); });
  if (beside == files.end()) return success();
  const auto bytes = readFile(*beside, kMostTokenBytes);
  if (!bytes) return bytes.error();
  return takeTokens({bytes->begin(), bytes->end()}, shownPath(*beside), shownPath(beside->filename()));
}

/// Names tokens after image patches. Texts of square length are common, so a name must also mention an image;
/// one token more than a large square is unlikely to be a text.
void RecordedAttention::namePatches() {
  constexpr Index kSmallest = 7;  // 224 pixels in patches of 32
  const auto side = static_cast<Index>(std::sqrt(static_cast<double>(keys())));
  const bool square = side * side == keys(), withClass = side * side + 1 == keys();
  if (queries() != keys() || side < 2 || !(square || withClass)) return;
  bool image = false;
  std::string all = path_.filename().string();
  for (const auto& [name, tensor] : file_.header().tensors) all += " " + name;
  all = lowerCase(all);
  for (const char* word : {"vit", "vision", "visual", "image", "patch", "pixel", "dino"})
    image = image || all.find(word) != std::string::npos;
  if (!image && !(withClass && side >= kSmallest)) return;
  patchSide_ = side;
  keyTokens_.clear();
  if (withClass) keyTokens_.push_back("[CLS]");
  for (Index row = 0; row < side; ++row)
    for (Index col = 0; col < side; ++col) keyTokens_.push_back(fmt::format("r{} c{}", row, col));
  queryTokens_ = keyTokens_;
}

Status RecordedAttention::readTokens() {
  queryTokens_ = places(queries());
  keyTokens_ = places(keys());
  const bool decoder = group_ == "decoder", cross = group_ == "cross";
  const auto* keyText = decoder ? said({"decoder_tokens", "tokens"}) : said({"encoder_tokens", "tokens"});
  if (const auto status =
          keyText ? takeTokens(keyText->second, shownPath(path_), keyText->first) : readTokensBeside();
      !status)
    return status.error();
  const auto* queryText = cross                ? said({"query_tokens", "decoder_tokens"})
                          : groups_.size() > 1 ? nullptr
                                               : said({"query_tokens"});
  if (queryText) {
    auto tokens = parseTokens(queryText->second, queries(), "query_tokens", shownPath(path_));
    if (!tokens) return tokens.error();
    queryTokens_ = *std::move(tokens);
  } else if (cross && queries() <= keys()) {
    queryTokens_ = places(queries());  // of another text, whose words are unknown
  }
  if (!hasTokens_ && !queryText) namePatches();
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
  // Half precision rounds values near 1 by at most 0.001.
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
