#include "app/pages/map/map_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::map_page {

std::vector<CaptionPart> captionOf(const State& page) {
  const MapSnapshot* state = page.state.get();
  if (!state || state->empty || !state->text) return {};
  const Theme& theme = *page.view.theme;
  const auto count = [](Index cells) { return countText(static_cast<std::uint64_t>(cells)); };
  return {
      {count(state->queries) + " queries", theme.query},
      {" over ", theme.text},
      {count(state->keys) + " keys", theme.key},
      {" in one head: " + count(state->queries) + " × " + count(state->keys) + " weights, " +
           bytesText(static_cast<double>(state->queries) * static_cast<double>(state->keys) * sizeof(float)) +
           " if stored at once.",
       theme.text}};
}

}  // namespace headscope::app::map_page
