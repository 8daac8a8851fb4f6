#include <fmt/core.h>

#include <algorithm>

#include "app/pages/mask/mask_state.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::mask_page {

namespace {

std::string quoted(const std::vector<attention::Token>& tokens, Index at) {
  return "“" + tokens[static_cast<std::size_t>(at)].text + "”";
}

/// The number of keys that a query sees.
Index seenBy(const attention::MaskFormula& mask, Index variant, Index query) {
  attention::KeyRuns runs;
  mask.visibleRuns(variant, query, runs);
  Index seen = 0;
  for (const attention::KeyRun& run : runs) seen += run.end - run.begin;
  return seen;
}

}  // namespace

std::vector<CaptionPart> captionOf(const Scene& scene, const State& page) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const MaskStudy* study = page.study;
  if (!study || !study->line()) return {};
  const StudiedMask* mask = editedStudy(scene, page);
  if (!mask || !mask->formula) return {};
  const LineTokens& line = *study->line();
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  const Cell& chosen = scene.cursor.cell;
  const Index query =
      std::clamp<Index>(view.hover.query >= 0 ? view.hover.query : chosen.query, 0, last(line.queries));
  const Index key = std::clamp<Index>(view.hover.key >= 0 ? view.hover.key : chosen.key, 0, last(line.keys));
  const bool visible = mask->formula->visible(mask->variant, query, key);
  return {{quoted(line.queries, query), theme.query},
          {visible ? " sees " : " doesn't see ", theme.text},
          {quoted(line.keys, key), theme.key},
          {fmt::format(", and {} of {} overall: {}", seenBy(*mask->formula, mask->variant, query),
                       countedText(std::ssize(line.keys), "key"),
                       mask->formulaText.empty() ? "all visible" : mask->formulaText),
           theme.text},
          {mask->formulaLegend.empty() ? "" : "   " + mask->formulaLegend, theme.secondary}};
}

}  // namespace headscope::app::mask_page
