#include <fmt/core.h>

#include "app/kit/wiring.h"
#include "app/pages/common/cache_bands.h"
#include "app/pages/heads/heads_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::heads_page {

namespace {

/// Whether the slider of heads or kv heads is held.
bool holdsHeads(const View& view) {
  const std::string& held = view.controls.continuousEdit;
  return ImGui::IsMouseDown(0) && (held == "kv_heads" || held == "heads");
}

/// Who reads the kv heads: "8 heads read 2 kv heads planted for them: 4 heads share each."
std::string shareSentence(const Snapshot& snapshot) {
  const attention::AttentionConfig& config = snapshot.config;
  if (config.kvHeads == config.heads)
    return config.heads == 1 ? "One head with a K and a V."
                             : fmt::format("{} heads with a K and a V each.", config.heads);
  const WeightSource source = snapshot.setup.weights.source;
  const bool made = !snapshot.setup.subject.opened && source != WeightSource::file;
  const char* how = !made ? "" : source == WeightSource::planted ? " planted for them" : " drawn for them";
  if (config.kvHeads == 1) return fmt::format("All {} heads share one kv head{}.", config.heads, how);
  return fmt::format("{} heads read {} kv heads{}: {} heads share each.", config.heads, config.kvHeads, how,
                     config.groupSize());
}

/// Which heads no key can move; "" if there are none.
std::string evenSentence(const std::vector<HeadDrift>& drift) {
  const auto count = std::ranges::count(drift, true, &HeadDrift::even);
  if (count == 0) return "";
  if (count > 1) return fmt::format("{} heads read every word evenly: no key can move them.", count);
  return fmt::format("{} reads every word evenly: no key can move it.",
                     headName(std::ranges::find(drift, true, &HeadDrift::even) - drift.begin()));
}

}  // namespace

std::vector<CaptionPart> wiringSentence(const Snapshot& snapshot, const SequenceSnapshot& sequence,
                                        const View& view) {
  const Theme& theme = *view.theme;
  const std::vector<HeadDrift>& drift = sequence.drift;
  if (drift.empty()) return {{shareSentence(snapshot), theme.text}};
  const auto moved = [&](Index head) { return drift[static_cast<std::size_t>(head)].moved; };
  // Heads that no key can move are named apart.
  Index most = -1, least = -1;
  for (Index head = 0; head < std::ssize(drift); ++head) {
    if (drift[static_cast<std::size_t>(head)].even) continue;
    if (most < 0 || moved(head) > moved(most)) most = head;
    if (least < 0 || moved(head) < moved(least)) least = head;
  }
  std::vector<CaptionPart> parts{
      {fmt::format("Merged to {}: ", countedText(snapshot.config.kvHeads, "kv head")), theme.text}};
  const auto add = [&](Index head, const std::string& words) {
    parts.push_back({fmt::format("head {}", head), groupColor(theme, snapshot.config.kvHeadOf(head))});
    parts.push_back({words, theme.text});
  };
  const std::string upper = most < 0 ? "0 %" : wholePercentText(moved(most)),
                    lower = most < 0 ? "0 %" : wholePercentText(moved(least));
  if (upper == "0 %") {
    parts.push_back({"no head’s weight moved.", theme.text});
  } else {
    add(most, fmt::format(" moved {} of its weight{}", upper, lower == upper ? "." : ", "));
    if (lower != upper) add(least, fmt::format(" only {}.", lower));
  }
  return parts;
}

bool wiringPart(Board& board, Scene& scene, State& page, const SequenceSnapshot& sequence, float units) {
  const Snapshot& snapshot = *page.snapshot;
  const bool on = scene.cursor.wiring, held = holdsHeads(page.view) && units >= kLeastWiring;
  if ((!on && !held) || snapshot.config.latentDim > 0) return false;
  const auto paint = [&scene, &page, &snapshot, &sequence](const ImRect& area) {
    const CacheColors colors = cacheColors(*page.view.theme);
    const Pictures& pictures = page.pictures;
    const WiringSubject subject{snapshot,
                                sequence,
                                scene.look,
                                pictures.grid,
                                pictures.gridFactor,
                                pictures.cache,
                                colors.key,
                                colors.value,
                                selectedCell(scene, snapshot).head,
                                scene.cursor.decoding ? scene.cursor.step : sequence.keyLength,
                                evenSentence(sequence.drift)};
    const WiringHit hit = wiring(page.view, page.motion, subject, area);
    if (!hit.head) return;
    page.view.nextHover.head = *hit.head;
    if (!hit.clicked) return;
    scene.cursor.cell.head = *hit.head;
    if (scene.cursor.focus >= 0) scene.cursor.focus = *hit.head;
  };
  if (on)
    board.picture("", {kLeastWiring, std::max(units, kLeastWiring + 30), 0.4f, 320}, paint);
  else
    board.area("", {units}, paint);
  return true;
}

}  // namespace headscope::app::heads_page
