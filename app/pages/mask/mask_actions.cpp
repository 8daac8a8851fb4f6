// The mask studio's actions: painting a cell, copying, files.

#include <fmt/core.h>

#include "app/compute/layer/mask_inputs.h"
#include "app/pages/mask/mask_page.h"

namespace headscope::app::mask_page {

using attention::Error;
using attention::MaskConvention;
using attention::Result;

namespace {

Result<attention::MaskFile> readMask(const std::filesystem::path& path, MaskConvention convention) {
  Result<attention::MaskFile> file = attention::readMaskFile(path, convention, defaultLimits().memoryBytes);
  if (file.ok() && std::max(file->cells->queries, file->cells->keys) > kMaxTokens)
    return Error{fmt::format("{}: the mask is {} × {}; the window shows at most {} per side",
                             path.filename().string(), file->cells->queries, file->cells->keys, kMaxTokens)};
  return file;
}

/// The mask as code, for the sequence of the text that is shown.
Result<std::string> codeOf(const Scene& scene, attention::MaskCode language,
                           const attention::MaskLayers& layers, InputCache& cache) {
  const TokenBatch batch = tokenizeBatch(scene.setup);
  if (batch.lines.empty()) return Error{"A mask needs tokens. Type a text first."};
  const Index line = std::clamp<Index>(scene.cursor.sequence, 0, std::ssize(batch.lines) - 1);
  const auto sources = maskSources(scene.setup, cache);
  if (!sources) return sources.error();
  return attention::maskCode(
      language, layers, geometryOf(scene.setup, batch.lines[static_cast<std::size_t>(line)], line), *sources);
}

/// Adds a file's mask as a layer, and its finite numbers as a bias.
void addMaskFile(Scene& scene, const attention::MaskFile& file, const std::filesystem::path& path,
                 MaskConvention convention) {
  scene.cursor.page = "mask";
  const auto& rows = file.cells->rows;
  const bool masks =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row && !row->masked.empty(); });
  // A file with only finite numbers is a bias and masks nothing.
  if (masks || file.additive.empty()) {
    attention::Layer layer;
    layer.pattern.kind = attention::PatternKind::file;
    layer.pattern.arguments = {attention::Argument{{}, std::filesystem::absolute(path).string()},
                               attention::Argument{{}, attention::conventionName(convention)}};
    attention::MaskLayers& layers = editedLayers(scene);
    layers.push_back(std::move(layer));
    scene.cursor.studio.selected = std::ssize(layers) - 1;
  }
  if (file.additive.empty()) return;
  // If the file has one matrix per head, use that of the shown head.
  const Index head = std::min(scene.cursor.cell.head, file.additive.count() - 1);
  scene.setup.mask.additive = attention::Table{{}, file.additive[head]};
}

}  // namespace

void Page::toggleCell(Scene& scene) {
  const StudiedMask* studied = editedStudy(scene, page_);
  if (scene.cursor.page != "mask" || !studied || !studied->formula) return;
  const attention::MaskFormula& mask = *studied->formula;
  const auto [head, query, key] = scene.cursor.cell;
  if (query >= mask.queries() || key >= mask.keys()) return;
  // Once masked, the key is no longer the row's largest weight, and the same action has to show it again.
  scene.cursor.keyChosen = true;
  const bool visible = mask.visible(studied->variant, query, key);
  MaskSetup& setup = scene.setup.mask;
  const std::string name = paintingFor(setup, editedLayers(scene), scene.cursor.studio.selected);
  paint(setup.paintings[name].edit(), {PaintTool::brush, query, key, query, key, 1, false}, mask.queries(),
        mask.keys(), !visible);
}

void Page::copy(const std::string& text, const std::string& what, ImVec2 asked) {
  ImGui::SetClipboardText(text.c_str());
  services_.view.tell("Copied the mask as " + what, asked);
}

void Page::copyCode(const Scene& scene, attention::MaskCode language, const std::string& what) {
  Scene asked = scene;
  SharedLayers layers = shownLayers(asked);
  // A mask may refer to files, which must be read off the drawing thread.
  services_.files.read<std::string>(
      "the mask",
      [scene = std::move(asked), layers = std::move(layers), language, &cache = services_.resources.inputs] {
        return codeOf(scene, language, layers, cache);
      },
      [this, what, asked = services_.view.pressedAt](Result<std::string> code) {
        code.ok() ? copy(*code, what, asked) : services_.view.messages.fail(code.error().message);
      });
}

void Page::inspectFile(const std::filesystem::path& path, const Requester& requester,
                       const Outcome& outcome) {
  using Conventions = std::vector<MaskConvention>;
  services_.files.read<Conventions>(
      path, [path] { return attention::possibleConventions(path); },
      [this, path, requester, outcome](Result<Conventions> possible) {
        if (!possible) return outcome.fail(possible.error().message);
        outcome.done();
        services_.view.dialog = std::make_shared<ConventionDialog>(
            path, *possible,
            [this, path, requester](MaskConvention chosen) { loadFile(path, requester, chosen); });
      });
}

void Page::loadFile(const std::filesystem::path& path, const Requester& requester,
                    MaskConvention convention) {
  services_.files.read<attention::MaskFile>(
      path, [path, convention] { return readMask(path, convention); },
      [this, path, requester, convention](Result<attention::MaskFile> file) {
        if (!file) return services_.view.messages.fail(file.error().message);
        const std::string name = path.filename().string();
        const auto taken =
            requester.edit(name, [&](Scene& scene) { addMaskFile(scene, *file, path, convention); });
        if (!taken) return services_.view.messages.fail(taken.error().message);
        services_.view.say(
            "Loaded " + name +
            (file->largeNumbers > 0 ? "; " + attention::largeNumbersText(file->largeNumbers) : ""));
      });
}

void Page::saveFile(const Scene& scene, const std::filesystem::path& path, const Outcome& outcome) {
  const StudiedMask* studied = editedStudy(scene, page_);
  if (!studied || !studied->formula) return outcome.fail("No mask to save. Type a text first.");
  // With the extension .png: a picture with one pixel per cell; otherwise numbers.
  const auto write = [formula = studied->formula, head = scene.cursor.cell.head, path,
                      convention = static_cast<MaskConvention>(page_.saveConvention)] {
    return path.extension() == ".png" ? writeMaskPicture(path, *formula, formula->variantOf(head))
                                      : attention::writeMaskFile(path, *formula, convention);
  };
  services_.files.write(path, write, [path, outcome](attention::Status written) {
    written.ok() ? outcome.tell("Saved " + path.filename().string()) : outcome.fail(written.error().message);
  });
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  const std::string ending = file.path.extension().string();
  if (ending != ".npy" && ending != ".csv" && ending != ".tsv" && ending != ".txt") return false;
  inspectFile(file.path, requester, outcome);
  return true;
}

std::vector<Action> Page::copyActions() {
  using Language = attention::MaskCode;
  const auto action = [](const char* id, const std::string& what, const char* words,
                         std::function<void(Scene&)> run) {
    return Action{.id = id,
                  .name = "Copy the mask as " + what,
                  .whileTyping = true,
                  .words = words,
                  .run = std::move(run)};
  };
  const auto code = [&](const char* id, Language language, const std::string& what) {
    return action(id, what, "export",
                  [this, language, what](Scene& scene) { copyCode(scene, language, what); });
  };
  return {action("mask.copy.text", "an expression", "export",
                 [this](Scene& scene) {
                   copy(attention::maskText(shownLayers(scene)), "an expression", services_.view.pressedAt);
                 }),
          action("mask.copy.formula", "a formula", "export latex",
                 [this](Scene& scene) {
                   if (const StudiedMask* edited = editedStudy(scene, page_))
                     copy(edited->formulaText, "a formula", services_.view.pressedAt);
                 }),
          code("mask.copy.flex", Language::flexAttention, "FlexAttention code"),
          code("mask.copy.torch", Language::pytorch, "PyTorch code"),
          code("mask.copy.numpy", Language::numpy, "NumPy code")};
}

std::vector<Action> Page::fileActions() {
  return {{.id = "mask.open",
           .name = "Load a mask from a file…",
           .whileTyping = true,
           .words = "import upload",
           .run =
               [this](Scene&) {
                 services_.ask({"Load a mask",
                                {".npy", ".csv", ".safetensors"},
                                "",
                                [this](Scene&, const auto& path, const Outcome& outcome) {
                                  inspectFile(path, services_.requester(), outcome);
                                }});
               }},
          {.id = "mask.save",
           .name = "Save the mask to a file…",
           .whileTyping = true,
           .words = "export npy csv png",
           .run = [this](Scene&) {
             services_.ask({"Save the mask",
                            {".npy", ".csv", ".safetensors", ".png"},
                            "mask.npy",
                            [this](Scene& scene, const auto& path, const Outcome& outcome) {
                              saveFile(scene, path, outcome);
                            }});
           }}};
}

std::vector<Action> Page::actions() {
  std::vector<Action> actions{
      {.id = "mask.gallery",
       .name = "Add a mask pattern…",
       .shortcut = {static_cast<Key>('G')},
       .everywhere = true,
       .run =
           [this](Scene& scene) {
             scene.cursor.page = "mask";
             services_.view.dialog = std::make_shared<Gallery>(page_);
           }},
      {.id = "mask.toggle",
       .name = "Mask or show the selected cell",
       .shortcut = {Key::x},
       .everywhere = true,
       .run = [this](Scene& scene) { toggleCell(scene); }},
  };
  for (auto more : {fileActions(), copyActions(), layerActions(page_), markActions(page_)})
    actions.insert(actions.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return actions;
}

}  // namespace headscope::app::mask_page
