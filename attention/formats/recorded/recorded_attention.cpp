#include "attention/formats/recorded/recorded_attention.h"

#include <fmt/format.h>

#include <new>

#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTokenBytes = std::uint64_t{64} << 20;
constexpr Index kMostExamined = Index{1} << 26;  // weights of a head that are looked at when a file opens

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

/// Returns the largest |softmax(scale · q · k over the keys with weight) − weight| of one head's first rows,
/// for the usual scale or none, whichever explains the weights better. Rows may sum to less than 1: a sink
/// takes the rest.
double unexplained(const Matrix& q, const Matrix& k, const Matrix& weights) {
  constexpr Index kRows = 64;
  double best = 1;
  for (const double scale : {1 / std::sqrt(static_cast<double>(q.cols())), 1.0}) {
    double apart = 0;
    for (Index row = 0; row < std::min(kRows, weights.rows()); ++row) {
      const Eigen::ArrayXd seen = (weights.row(row).array() > 0).cast<double>().transpose();
      if (seen.sum() == 0) continue;
      const Eigen::ArrayXd scores = scale * (k * q.row(row).transpose()).cast<double>().array();
      const Eigen::ArrayXd powers = seen * (scores - scores.maxCoeff()).exp();
      const Eigen::ArrayXd given = weights.row(row).transpose().cast<double>().array();
      const double share = std::min(1.0, given.sum());
      apart = std::max(apart, (share * powers / powers.sum() - given).abs().maxCoeff<Eigen::PropagateNaN>());
    }
    if (apart < best) best = apart;
  }
  return best;
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
  recorded.notes_ = std::move(found->notes);
  if (const auto status = recorded.leaveOutPadding(); !status) return status.error();
  recorded.checkLayouts();
  recorded.noteSinks();
  recorded.readTokens();
  return recorded;
}

const std::pair<const std::string, std::string>* RecordedAttention::said(
    std::initializer_list<const char*> names) const {
  const auto& metadata = file_.header().metadata;
  for (const char* name : names)
    if (const auto found = metadata.find(name); found != metadata.end()) return &*found;
  return nullptr;
}

void RecordedAttention::takeTokens(const std::string& text, const std::string& list) {
  auto tokens = parseTokens(text, keys(), "tokens", list);
  if (!tokens) {
    unfitTokens_ = tokens.error().message;
    return;
  }
  keyTokens_ = *std::move(tokens);
  hasTokens_ = true;
  // A list of numbers, not of texts that are numbers.
  hasIds_ = std::ranges::all_of(keyTokens_, [&](const std::string& token) {
    return numberInName(token) && text.find('"' + token + '"') == text.npos;
  });
  // Fewer queries than keys are the last tokens, after those in a cache.
  if (queries() <= keys()) queryTokens_ = {keyTokens_.end() - queries(), keyTokens_.end()};
}

void RecordedAttention::nameIds(const std::function<std::optional<std::string>(Index)>& text) {
  constexpr std::string_view kSpace = "␣";
  for (auto* tokens : {&queryTokens_, &keyTokens_}) {
    if (group_ == "cross" && tokens == &queryTokens_) continue;  // of another text
    for (std::string& token : *tokens)
      if (const auto id = numberInName(token))
        if (const auto named = text(*id))
          token = named->starts_with(kSpace) && named->size() > kSpace.size() ? named->substr(kSpace.size())
                                                                              : *named;
  }
}

void RecordedAttention::readTokensBeside() {
  std::error_code ignored;
  const auto files = tokenFiles(path_);
  const auto beside = std::find_if(files.begin(), files.end(),
                                   [&](const fs::path& file) { return fs::is_regular_file(file, ignored); });
  if (beside == files.end()) return;
  const auto bytes = readFile(*beside, kMostTokenBytes);
  if (!bytes)
    unfitTokens_ = bytes.error().message;
  else
    takeTokens({bytes->begin(), bytes->end()}, shownPath(beside->filename()));
}

std::string RecordedAttention::idsIn(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    const auto found = file_.header().tensors.find(name);
    if (found == file_.header().tensors.end()) continue;
    const TensorEntry& entry = found->second;
    const std::uint64_t bytes = entry.end - entry.begin;
    if ((entry.dtype != DType::I64 && entry.dtype != DType::I32) || bytes > kMostTokenBytes) continue;
    std::vector<std::uint8_t> values(bytes);
    if (!file_.read(name, 0, values)) continue;
    std::string list;
    // generate() gives the whole text, whose last token nothing was computed from.
    if (std::string_view(name) == "sequences")
      values.resize(std::min(values.size(), static_cast<std::size_t>(keys()) * byteSize(entry.dtype)));
    withReaderOf(entry.dtype, [&](auto read) {
      for (std::size_t at = 0; at < values.size(); at += byteSize(entry.dtype))
        list += fmt::format("{}{}", at > 0 ? "," : "[", read(values.data() + at));
    });
    return list + "]";
  }
  return "";
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

void RecordedAttention::readTokens() {
  queryTokens_ = places(queries());
  keyTokens_ = places(keys());
  const bool decoder = group_ == "decoder", cross = group_ == "cross";
  const auto* keyText = decoder ? said({"decoder_tokens", "tokens", "input_ids"})
                                : said({"encoder_tokens", "tokens", "input_ids"});
  const std::string ids = decoder
                              ? idsIn({"decoder_input_ids", "decoder_tokens", "tokens", "input_ids"})
                              : idsIn({"encoder_tokens", "tokens", "input_ids", "token_ids", "sequences"});
  if (keyText)
    takeTokens(keyText->second, keyText->first);
  else if (!ids.empty())
    takeTokens(ids, "tokens");
  else
    readTokensBeside();
  const auto* queryText = cross                ? said({"query_tokens", "decoder_tokens"})
                          : groups_.size() > 1 ? nullptr
                                               : said({"query_tokens"});
  if (queryText) {
    if (auto tokens = parseTokens(queryText->second, queries(), "tokens", queryText->first))
      queryTokens_ = *std::move(tokens);
    else
      notes_.push_back(tokens.error().message + ": these tokens aren't used.");
  } else if (cross && queries() <= keys()) {
    queryTokens_ = places(queries());  // of another text, whose words are unknown
  }
  if (!hasTokens_ && !queryText) namePatches();
}

Status RecordedAttention::leaveOutPadding() {
  if (group_ == "cross" || queries() >= keys() || queries() > kMostExamined / keys()) return success();
  Index used = queries();
  for (const RecordedLayer& layer : layers_)
    for (Index head = 0; head < layer.attention.heads && used < keys(); ++head) {
      const auto weights = readValues(layer.attention, head);
      if (!weights) return weights.error();
      for (Index col = keys(); col-- > used;)
        if (!weights->col(col).isZero(0)) {
          used = col + 1;
          break;
        }
    }
  if (used == keys()) return success();
  notes_.push_back(fmt::format(
      "The last {} of {} keys have no weight in any head, as in a padded cache, and aren't shown.",
      keys() - used, keys()));
  for (RecordedLayer& layer : layers_) {
    layer.attention.cols = used;
    for (auto* array : {&layer.k, &layer.v})
      if (*array && (*array)->rows > used) (*array)->rows = used;
  }
  return success();
}

void RecordedAttention::noteSinks() {
  const auto explained = [](const RecordedLayer& layer) { return layer.q && layer.k; };
  if (std::ranges::none_of(layers_, explained)) return;
  const auto speaks = [](const std::string& text) {
    return lowerCase(text).find("sink") != std::string::npos;
  };
  std::string by;
  for (const auto& [name, tensor] : file_.header().tensors)
    if (by.empty() && speaks(name)) by = "tensor " + quotedText(name);
  for (const auto& [name, text] : file_.header().metadata)
    if (by.empty() && (name == "config" || speaks(name)) && (speaks(name) || speaks(text)))
      by = "metadata " + quotedText(name);
  if (by.empty()) return;
  notes_.push_back(
      fmt::format("The file has attention sinks ({}), which q and k leave out: a row of weights is "
                  "softmax(q · k) times the share that its sink leaves.",
                  by));
}

void RecordedAttention::checkLayouts() {
  constexpr double kRounding = 2e-2;
  if (queries() > kMostExamined / keys()) return;
  bool turned = false;
  for (RecordedLayer& layer : layers_) {
    if (!layer.q || !layer.k || layer.q->heads != layer.q->rows || layer.k->heads != layer.k->rows) continue;
    const auto apart = [&] {
      const auto q = readValues(*layer.q, 0), k = readValues(*layer.k, 0), w = readValues(layer.attention, 0);
      return q && k && w ? unexplained(*q, *k, *w) : 1.0;
    };
    const auto turn = [&] {
      for (auto* array : {&layer.q, &layer.k, &layer.v})
        if (*array && (*array)->heads == (*array)->rows) (*array)->tokensFirst = !(*array)->tokensFirst;
    };
    if (apart() <= kRounding) continue;
    turn();
    const bool explains = apart() <= kRounding;
    if (!explains) turn();
    turned = turned || explains;
  }
  if (turned)
    notes_.push_back(fmt::format("q, k and v are read as {}: only then softmax(q · k) gives the weights.",
                                 layers_[0].q && layers_[0].q->tokensFirst ? "[tokens, heads, head_dim]"
                                                                           : "[heads, tokens, head_dim]"));
}

Result<Matrix> RecordedAttention::readValues(const RecordedArray& array, Index head) const {
  require(head >= 0 && head < array.heads, fmt::format("head {} of {}", head, array.heads));
  const std::string at = shownPath(path_) + ": tensor " + quotedText(array.tensor());
  try {
    Matrix values = Matrix::Zero(array.rows, array.cols);
    for (const RecordedBlock& block : array.blocks) {
      // With tokens first, all heads of a token are read together.
      const Index heads = array.tokensFirst ? array.heads : 1, before = array.tokensFirst ? 0 : head;
      Matrix stored(block.rows * heads, block.cols);
      const auto size = static_cast<std::size_t>(stored.size());
      const std::uint64_t first = block.first + static_cast<std::uint64_t>(before) * size;
      if (const auto status = file_.readFloats(block.tensor, first, {stored.data(), size}, at); !status)
        return status.error();
      const Index rows = std::min(block.rows, array.rows - block.row),
                  cols = std::min(block.cols, array.cols - block.col);
      for (Index row = 0; row < rows; ++row)
        values.row(block.row + row).segment(block.col, cols) =
            stored.row(array.tokensFirst ? row * heads + head : row).head(cols);
    }
    return values;
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{} has heads of {} × {} numbers, more than there is memory for", at, array.rows,
                             array.cols)};
  }
}

Result<Matrix> RecordedAttention::readArray(const RecordedArray& array, Index head) const {
  auto values = readValues(array, head);
  if (!values || values->allFinite()) return values;
  return Error{fmt::format("{}: tensor {} has NaN or infinite values in head {}, expected finite ones",
                           shownPath(path_), quotedText(array.tensor()), head)};
}

Result<RecordedWeights> RecordedAttention::readWeights(Index layer, Index head) const {
  require(layer >= 0 && layer < std::ssize(layers_), fmt::format("layer {} of {}", layer, layers_.size()));
  auto weights = readValues(layers_[static_cast<std::size_t>(layer)].attention, head);
  if (!weights) return weights.error();
  RecordedWeights read{*std::move(weights), {}};
  read.faults = faultsOf(read.weights);
  for (Index i = 0; read.faults.notFinite > 0 && i < read.weights.size(); ++i)
    if (float& value = read.weights.data()[i]; !std::isfinite(value))
      value = std::numeric_limits<float>::quiet_NaN();
  return read;
}

}  // namespace headscope::attention
