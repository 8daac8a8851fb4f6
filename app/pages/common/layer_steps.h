#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/compute/layer/layer_parts.h"
#include "app/widgets/actions.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The steps of a layer. The bias step exists only if something is added to the scores or caps them.
std::vector<PipelineStep> stepsOf(const attention::AttentionConfig& config, const attention::MaskInput& mask);
/// A step's title as people write it: "Q·Kᵀ", "÷ √32".
std::string stepTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask,
                      PipelineStep step);

/// A matrix's colours: residual stream in grey, Q, K and V in their own hues, scores in the colormap.
enum class Ink { stream, query, key, value, map };
std::uint32_t inkColor(const Theme& theme, Ink ink);
/// The ramp from negative to positive values in that colour.
render::Tint inkTint(const Theme& theme, Ink ink);

/// How to draw a matrix. Values map to colours from `low` to `high`; for a signed ramp these are ± the
/// largest magnitude. `fade`: opacity, 0 to 1.
struct MatrixPicture {
  std::string name;  ///< identifies the place; a new picture there eases in from the last one
  Ink ink = Ink::map;
  float low = 0, high = 1;
  float fade = 1;
  float gap = 0;  ///< in pixels, between cells
};
/// The textures of a page's matrices, by MatrixPicture::name.
using MatrixTextures = std::map<std::string, EasedTextures>;
void paintPicture(View& view, MatrixTextures& kept, const MatrixPicture& picture,
                  const attention::Matrix& values, const ImRect& area, const Look& look);
/// The largest magnitude in a picture, for a signed ramp.
float largestOf(const StagePicture& picture);

/// What is shown in place of a layer without a picture: that the text is missing, what it waits for, or why
/// it can't be computed. Requires a snapshot that is empty or has an error.
void paintMissingLayer(View& view, const Snapshot& snapshot, const ImRect& area);

/// The actions of a page of that key that move the selected cell by arrow keys; `where` as in "Next query in
/// Flow".
std::vector<Action> cellActions(const std::string& page, const std::string& where);

/// A letter with a subscript: "x₇".
std::string withIndex(const std::string& letter, Index index);
/// Up to three decimals, fewer for large values: "−0.975", "12.34", "123.4".
std::string cellText(double value);
/// "÷ 5.657", or "× 1.5" for a factor that enlarges.
std::string factorText(double factor);
std::string shapeText(Index rows, Index cols);

/// Places a sentence in parts, wrapped at words, and draws it if there is `list`. Returns its height.
float placeSentence(const View& view, ImVec2 from, float width, const std::vector<CaptionPart>& parts,
                    const Canvas* list = nullptr);

}  // namespace headscope::app
