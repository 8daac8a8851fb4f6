#include "app/scene/models/scene_model.h"

#include <fmt/core.h>

#include <charconv>

#include "app/scene/models/open_model.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Error;
using attention::Status;

namespace {

/// Gives the scene's layer the model's sizes.
void takeSizes(Setup& setup) {
  const attention::ModelConfig& config = setup.subject.opened->config();
  ModelSetup& model = setup.model;
  model.heads = config.heads;
  model.kvHeads = config.kvHeads;
  model.headDim = config.headDim;
  model.modelDim = config.modelDim;
  model.linked = config.heads * config.headDim == config.modelDim;
  model.bias = config.qkvBias;
  setup.input.cross = false;
  setup.input.source = EmbeddingSource::text;
}

/// The first thing that the scene names and the model lacks; "" if there is none.
std::string missing(const SubjectSetup& subject) {
  const attention::ModelConfig& config = subject.opened->config();
  const auto layerError = [&](const char* field, Index layer) {
    return fmt::format("{} is {}, {} has layers 0 to {}", field, layer, subject.opened->name,
                       config.layerCount() - 1);
  };
  if (subject.layer >= config.layerCount()) return layerError("subject.layer", subject.layer);
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer >= config.layerCount()) return layerError("subject.switched_off layer", off.layer);
    if (off.head >= config.heads)
      return fmt::format("subject.switched_off head is {}, {} has heads 0 to {}", off.head,
                         subject.opened->name, config.heads - 1);
  }
  for (const Index id : subject.written)
    if (id >= config.vocabulary)
      return fmt::format("subject.written has the id {}, {} has ids 0 to {}", id, subject.opened->name,
                         config.vocabulary - 1);
  return {};
}

}  // namespace

void forgetLayer(Setup& setup) {
  const Scene fresh = openingScene();
  setup.model = fresh.setup.model;
  setup.model.position = PositionKind::none;
  setup.weights = fresh.setup.weights;
  setup.mask = {};
}

void adoptModel(Scene& scene, const std::string& model, std::shared_ptr<const OpenModel> opened) {
  Setup& setup = scene.setup;
  const auto files = [](const std::string& name) { return attention::groupedPath(name).path; };
  const bool same = files(setup.subject.model) == files(model);  // but possibly with other heads shown
  std::string features = same ? std::move(setup.subject.features) : std::string();
  setup.subject = {};
  setup.subject.features = std::move(features);
  setup.subject.model = model;
  setup.subject.opened = std::move(opened);
  // Text for another model's decoder, or for a synthetic layer, is no start for this decoder's text.
  if (!same && setup.subject.opened && setup.subject.opened->sources) setup.input.contextText = {};
  forgetLayer(setup);
  takeSizes(setup);
  scene.cursor.focus = -1;
  scene.cursor.sequence = 0;
  scene.cursor.decoding = false;
}

void leaveModel(Scene& scene) {
  const Scene fresh = openingScene();
  scene.setup.subject = {};
  scene.setup.model = fresh.setup.model;
  scene.setup.weights = fresh.setup.weights;
  scene.setup.mask = fresh.setup.mask;
  scene.cursor.focus = -1;
  scene.cursor.decoding = false;
}

void forgetWritten(const Setup& before, Setup& setup) {
  const bool ofDecoder = setup.subject.opened && setup.subject.opened->sources &&
                         before.input.contextText != setup.input.contextText;
  if ((ofDecoder || before.input.text != setup.input.text) && before.subject.written == setup.subject.written)
    setup.subject.written.clear();
}

void forgetAlignment(const Scene& before, Scene& scene) {
  const bool other =
      before.setup.input.text != scene.setup.input.text || before.compare.other != scene.compare.other;
  if (other && before.compare.alignment == scene.compare.alignment) scene.compare.alignment.clear();
}

Status fitSubject(Scene& scene) {
  if (std::string what = missing(scene.setup.subject); !what.empty()) return Error{std::move(what)};
  takeSizes(scene.setup);
  return attention::success();
}

namespace {

/// Opened models, or why they couldn't be opened, by name.
using OpenedModels = std::map<std::string, attention::Result<std::shared_ptr<const OpenModel>>>;

Status openOwnSubject(Scene& scene, OpenedModels& known, const std::stop_token& stop) {
  SubjectSetup& subject = scene.setup.subject;
  if (subject.model.empty()) return attention::success();
  auto found = known.find(subject.model);
  if (found == known.end()) found = known.emplace(subject.model, openModel(subject.model, stop)).first;
  const auto& opened = found->second;
  if (!opened) {
    subject.problem = opened.error().message;
    // The sizes in the file may be anything.
    const ModelSetup fresh;
    ModelSetup& model = scene.setup.model;
    model.heads = fresh.heads;
    model.kvHeads = fresh.kvHeads;
    model.headDim = fresh.headDim;
    model.modelDim = fresh.modelDim;
    model.linked = fresh.linked;
    return attention::success();
  }
  subject.opened = *opened;
  if (!subject.picture.empty()) {
    auto on = withPicture(*opened, subject.picture, stop);
    if (on)
      subject.opened = *std::move(on);
    else
      subject.problem = on.error().message;
  }
  return fitSubject(scene);
}

}  // namespace

Status openSubject(Scene& scene, const std::stop_token& stop) {
  OpenedModels known;
  if (Status own = openOwnSubject(scene, known, stop); !own) return own;
  for (std::size_t i = 0; i < scene.talk->views.size(); ++i) {
    if (scene.talk->views[i].scene->setup.subject.model.empty()) continue;
    Scene view = *scene.talk->views[i].scene;
    if (Status opened = openOwnSubject(view, known, stop); !opened)
      return Error{"talk[" + std::to_string(i) + "]: " + opened.error().message};
    scene.talk.edit().views[i].scene = std::make_shared<const Scene>(std::move(view));
  }
  return attention::success();
}

// Puts a picture on what is open: a model that reads pictures, or recorded attention of one.

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
