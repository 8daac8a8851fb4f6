// The files that the page opens: weights and typed embeddings.

#include <fmt/core.h>

#include "app/compute/layer/layer_file.h"
#include "app/pages/heads/heads_page.h"
#include "app/pages/heads/table_editor.h"
#include "app/scene/embedding_table.h"
#include "app/scene/mask_rules.h"
#include "app/widgets/file_picker.h"
#include "attention/core/score_terms.h"

namespace headscope::app::heads_page {

namespace {

/// Applies the sizes, positions and masks that the file specifies; keeps everything it leaves open.
void applyWeights(Scene& scene, const LoadedWeights& weights, const std::string& path) {
  const attention::AttentionConfig& config = weights.config;
  ModelSetup& model = scene.setup.model;
  scene.setup.weights.source = WeightSource::file;
  scene.setup.weights.file = path;
  scene.setup.weights.layer = weights.layer;
  model.heads = config.heads;
  model.kvHeads = config.kvHeads;
  model.headDim = config.headDim;
  model.modelDim = config.modelDim;
  model.linked = model.headDim * model.heads == model.modelDim;
  model.bias = weights.bias;
  if (config.ropeTheta) {
    model.position = PositionKind::rope;
    model.ropeTheta = *config.ropeTheta;
  } else if (config.alibi) {
    model.position = PositionKind::alibi;
  } else if (model.position == PositionKind::rope && model.headDim % 2 != 0) {
    model.position = PositionKind::none;
  }
  attention::joinNumbers(config, model);
  if (attention::PlainRules rules = weights.rules; rules.causal || rules.window > 0) {
    rules.padding = hasRule(scene.setup.mask.layers, attention::PatternKind::padding);
    rules.window = std::min(rules.window, kMaxTokens);
    rules.sinks = std::min(rules.sinks, kMaxTokens);
    scene.setup.mask.layers = layersOf(rules);
  }
}

}  // namespace

void Page::openWeights(const std::filesystem::path& path, const Requester& requester,
                       const Outcome& outcome) {
  const Scene* scene = requester.scene();
  const Index heads = scene ? scene->setup.model.heads : 1;
  services_.files.read<LoadedWeights>(
      path, [path, heads] { return readLoadedWeights(path, heads); },
      [path, requester, outcome](attention::Result<LoadedWeights> weights) {
        if (!weights) return outcome.fail(weights.error().message);
        const std::string name = path.filename().string();
        const auto taken = requester.edit(
            name, [&](Scene& now) { applyWeights(now, *weights, std::filesystem::absolute(path).string()); });
        if (!taken) return outcome.fail(taken.error().message);
        std::string said = "Loaded " + name;
        if (weights->layer >= 0)
          said += fmt::format(", layer {} (the first of {})", weights->layer, weights->layers);
        outcome.done(said);
      });
}

void Page::openTable(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome) {
  services_.files.read<attention::Table>(
      path, [path] { return readEmbeddings(path); },
      [path, requester, outcome](attention::Result<attention::Table> table) {
        if (!table) return outcome.fail(table.error().message);
        const std::string name = path.filename().string();
        const auto taken = requester.edit(name, [&](Scene& now) { takeTable(now, *std::move(table)); });
        taken ? outcome.done("Loaded " + name) : outcome.fail(taken.error().message);
      });
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  const std::string ending = file.path.extension().string();
  // Pickles are opened too, to report what to save instead.
  if (ending == ".safetensors" || ending == ".npz" || ending == ".pt" || ending == ".pth")
    openWeights(file.path, requester, outcome);
  else if (ending == ".npy" || ending == ".csv" || ending == ".tsv" || ending == ".txt")
    openTable(file.path, requester, outcome);
  else
    return false;
  return true;
}

std::vector<Action> Page::fileActions() {
  const auto ask = [this](FileQuestion question) {
    services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
  };
  return {
      {.id = "weights.open",
       .name = "Load weights from a file…",
       .section = "Scene",
       .whileTyping = true,
       .words = "import checkpoint",
       .run =
           [this, ask](Scene&) {
             ask({"Load weights",
                  {".safetensors", ".npz", ".pt", ".pth"},
                  "",
                  [this](Scene&, const auto& path, const Outcome& outcome) {
                    openWeights(path, services_.requester(), outcome);
                  }});
           }},
      {.id = "table.open",
       .name = "Load embeddings from a file…",
       .section = "Scene",
       .whileTyping = true,
       .run =
           [this, ask](Scene&) {
             ask({"Load embeddings",
                  {".npy", ".csv", ".tsv", ".txt"},
                  "",
                  [this](Scene&, const auto& path, const Outcome& outcome) {
                    openTable(path, services_.requester(), outcome);
                  }});
           }},
      {.id = "table.edit",
       .name = "Edit embeddings as a table",
       .section = "Scene",
       .shortcut = {Key::t, {.ctrl = true}},
       .everywhere = true,
       .whileTyping = true,
       .run = [this](Scene&) { services_.view.dialog = std::make_shared<TableEditor>(page_); }},
  };
}

}  // namespace headscope::app::heads_page
