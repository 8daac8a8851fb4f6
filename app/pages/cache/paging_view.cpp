#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::cache_page {

namespace {

using attention::PagedStep;

/// A request's colour.
std::uint32_t toneOf(const Theme& theme, Index request) {
  return groupColor(theme, request);
}

/// The requests that use a block, and how many tokens it holds.
struct BlockUse {
  std::vector<Index> requests;
  Index tokens = 0;
};

std::vector<BlockUse> usesOf(const PagedStep& step, Index block, Index blocks) {
  std::vector<BlockUse> uses(static_cast<std::size_t>(blocks));
  for (std::size_t r = 0; r < step.running.size(); ++r)
    for (std::size_t i = 0; i < step.tables[r].size(); ++i) {
      BlockUse& use = uses[static_cast<std::size_t>(step.tables[r][i])];
      use.requests.push_back(step.running[r]);
      use.tokens =
          std::max(use.tokens, std::clamp<Index>(step.tokens[r] - static_cast<Index>(i) * block, 0, block));
    }
  return uses;
}

/// Draws the pool's blocks: free ones as outlines, used ones filled in proportion. Returns the bottom's y.
float paintPool(const View& view, Canvas list, const PagingStudy& study, const PagedStep& step, Index block,
                const ImRect& area) {
  const Theme& theme = *view.theme;
  const Index blocks = std::max<Index>(study.mostBlocks, 1);
  float side = view.px(150);
  Index columns = 1;
  for (; side > view.px(8); side -= view.px(2)) {
    columns = std::max<Index>(1, static_cast<Index>(area.GetWidth() / side));
    if (static_cast<float>((blocks + columns - 1) / columns) * side * 0.5f <= area.GetHeight()) break;
  }
  const float gap = view.px(side > view.px(24) ? 5 : 2), high = side * 0.5f;
  const std::vector<BlockUse> uses = usesOf(step, block, blocks);
  for (Index i = 0; i < blocks; ++i) {
    const ImVec2 from(area.Min.x + static_cast<float>(i % columns) * side,
                      area.Min.y + static_cast<float>(i / columns) * high);
    const ImVec2 to(from.x + side - gap, from.y + high - gap);
    const BlockUse& use = uses[static_cast<std::size_t>(i)];
    if (use.requests.empty()) {
      compat::rectOutline(list, from, to, theme.line, view.px(3), 1);
    } else {
      const std::uint32_t tone = use.requests.size() > 1 ? theme.text : toneOf(theme, use.requests.front());
      const float filled = (to.x - from.x) * static_cast<float>(use.tokens) / static_cast<float>(block);
      list.AddRectFilled(from, ImVec2(from.x + filled, to.y), faded(tone, 0.34f), view.px(3));
      compat::rectOutline(list, from, to, tone, view.px(3), view.px(1.4f));
    }
    if (high < view.px(20)) continue;
    std::string owner;
    for (const Index request : use.requests)
      owner += (owner.empty() ? "" : "+") + std::to_string(request + 1);
    paintText(list, use.requests.empty() ? view.fonts->monoSmall : view.fonts->bold,
              ImVec2((from.x + to.x) / 2, (from.y + to.y) / 2),
              use.requests.empty() ? theme.faint : theme.text,
              use.requests.empty() ? "free" : fitted(view.fonts->bold, owner, to.x - from.x), Align::center);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered() && mouse.x >= from.x && mouse.x < to.x && mouse.y >= from.y &&
        mouse.y < to.y)
      tooltip(view, use.requests.empty()
                        ? fmt::format("Block {}: free", i)
                        : fmt::format("Block {}: {} of {}, {} {}", i, use.tokens, tokenCountText(block),
                                      attention::nounFor(use.requests.size(), "request"), owner));
  }
  const float bottom = area.Min.y + static_cast<float>((blocks + columns - 1) / columns) * high;
  track("paging.pool", area.Min, ImVec2(area.Max.x, bottom));
  return bottom;
}

/// Draws the block tables, one line per running request.
void paintTables(const View& view, Canvas list, const PagedStep& step, const ImRect& area) {
  const Theme& theme = *view.theme;
  float y = area.Min.y + view.px(10);
  for (std::size_t r = 0; r < step.running.size() && y < area.Max.y; ++r, y += view.px(26)) {
    const Index request = step.running[r];
    const float badge = paintBadge(view, list, ImVec2(area.Min.x, y), toneOf(theme, request),
                                   fmt::format("request {}", request + 1));
    std::string table = tokenCountText(step.tokens[r]) + " →";
    for (const Index block : step.tables[r]) table += fmt::format(" {}", block);
    paintFitted(view, list, view.fonts->mono,
                ImVec2(area.Min.x + std::max(badge, view.px(88)) + view.px(10), y),
                area.GetWidth() - view.px(110), theme.secondary, table);
  }
  if (step.running.empty())
    paintText(list, view.fonts->text, ImVec2(area.Min.x, y), theme.secondary, "No running request.");
}

/// Height of the tables at the step with the most requests, in layout units, so that the layout stays the
/// same from step to step.
float tablesHigh(const PagingStudy& study) {
  std::size_t most = 0;
  for (const PagedStep& step : study.steps) most = std::max(most, step.running.size());
  return 18 + 24 + 26 * static_cast<float>(most);
}

/// Draws what contiguous allocation would hold: for each request, as much as the longest one needs.
void paintContiguous(const View& view, Canvas list, const PagingStudy& study, const PagedStep& step,
                     const ImRect& area) {
  const Theme& theme = *view.theme;
  const float high = std::clamp(area.GetHeight() / std::max(1.0f, static_cast<float>(step.running.size())),
                                view.px(10), view.px(56));
  float y = area.Min.y;
  for (std::size_t r = 0; r < step.running.size() && y + high <= area.Max.y + 1; ++r, y += high) {
    const std::uint32_t tone = toneOf(theme, step.running[r]);
    const float share =
        static_cast<float>(step.tokens[r]) / static_cast<float>(std::max<Index>(study.longest, 1));
    const ImVec2 to(area.Max.x, y + high - view.px(5));
    list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Min.x + share * area.GetWidth(), to.y),
                       faded(tone, 0.34f), view.px(3));
    compat::rectOutline(list, ImVec2(area.Min.x, y), to, tone, view.px(3), view.px(1.4f));
    if (high < view.px(18)) continue;
    paintText(list, view.fonts->bold, ImVec2(area.Min.x + view.px(8), (y + to.y) / 2), theme.text,
              std::to_string(step.running[r] + 1));
    paintText(list, view.fonts->mono, ImVec2(area.Max.x - view.px(8), (y + to.y) / 2), theme.secondary,
              fmt::format("{} of {}", step.tokens[r], study.longest), Align::right);
  }
}

/// Labels the steps below their columns, and the axis.
void stepAxis(const View& view, Canvas list, Index count, const ImRect& area) {
  const float each = area.GetWidth() / static_cast<float>(std::max<Index>(count, 1)), y = area.GetCenter().y;
  const Index every = roundStep(each, view.px(56), count);
  const float title = textWidth(view.fonts->small, "step") + view.px(20);
  for (Index step = 0; step < count; step += every) {
    const float x = area.Min.x + each * (static_cast<float>(step) + 0.5f);
    if (x > area.Max.x - title) break;
    paintText(list, view.fonts->small, ImVec2(step == 0 ? area.Min.x : x, y), view.theme->secondary,
              std::to_string(step), step == 0 ? Align::left : Align::center);
  }
  paintText(list, view.fonts->small, ImVec2(area.Max.x, y), view.theme->secondary, "step", Align::right);
}

/// Draws the schedule's steps along one axis: tokens stored, paged and contiguous. Dragging moves to a step.
void timeline(State& page, const PagingStudy& study, Index block, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  hitArea("paging.timeline", area);
  const auto count = static_cast<Index>(study.steps.size());
  const float each = area.GetWidth() / static_cast<float>(std::max<Index>(count, 1));
  if (ImGui::IsItemActive()) {
    page.play.on = false;
    page.pagingStep =
        std::clamp<Index>(static_cast<Index>((ImGui::GetIO().MousePos.x - area.Min.x) / each), 0, count - 1);
  }
  const auto most = static_cast<float>(std::max<Index>({study.mostContiguous, study.mostBlocks * block, 1}));
  const auto y = [&](Index tokens) {
    return area.Max.y - static_cast<float>(tokens) / most * area.GetHeight();
  };
  for (Index i = 0; i < count; ++i) {
    const PagedStep& step = study.steps[static_cast<std::size_t>(i)];
    const float x = area.Min.x + each * static_cast<float>(i),
                to = x + std::max(1.0f, each - (each > view.px(5) ? 1 : 0));
    const bool past = i <= page.pagingStep;
    const float light = past ? 1 : 0.35f;
    list.AddRectFilled(ImVec2(x, y(step.contiguousTokens)), ImVec2(to, area.Max.y), faded(theme.line, light));
    list.AddRectFilled(ImVec2(x, y(step.usedBlocks * block)), ImVec2(to, area.Max.y),
                       faded(theme.secondary, 0.55f * light));
    list.AddRectFilled(ImVec2(x, y(step.storedTokens)), ImVec2(to, area.Max.y), faded(theme.text, light));
  }
  list.AddLine(ImVec2(area.Min.x, area.Max.y), area.Max, theme.secondary);
  const float at = area.Min.x + each * static_cast<float>(page.pagingStep);
  paintMark(view, list, "step", {ImVec2(at, area.Min.y), ImVec2(at + std::max(each, view.px(3)), area.Max.y)},
            theme.query);
}

}  // namespace

void pagingView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  if (const std::string problem = page.paging.problem(); !problem.empty())
    return paintMessage(view, area, "Can't read this schedule", problem, view.theme->text);
  if (!page.paging || page.paging->steps.empty())
    return paintMessage(view, area, "Computing…", "", view.theme->text);
  const PagingStudy& study = *page.paging;
  const Index block = page.paging.request().block;
  page.pagingStep = std::clamp<Index>(page.pagingStep, 0, static_cast<Index>(study.steps.size()) - 1);
  const PagedStep& step = study.steps[static_cast<std::size_t>(page.pagingStep)];
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint64_t token =
      page.snapshot && !page.snapshot->error ? bytesPerToken(scene, page.snapshot->config).own : 1;
  const auto bytes = [&](Index tokens) {
    return fourDigitBytes(attention::saturatingMultiply(token, static_cast<std::uint64_t>(tokens)));
  };
  const Index allocated = step.usedBlocks * block, wasted = allocated - step.storedTokens;
  const std::string sentence =
      step.contiguousTokens == 0
          ? "No running request: every block is free."
          : fmt::format(
                "Pages waste {}; contiguous allocation would waste {}.",
                percentText(allocated > 0 ? static_cast<double>(wasted) / static_cast<double>(allocated) : 0),
                percentText(contiguousWaste(step)));
  const std::string said = fmt::format("step {}: {} in blocks of {}, {} used, {} wasted; contiguous {}.",
                                       page.pagingStep, bytes(allocated), block, bytes(step.storedTokens),
                                       bytes(wasted), bytes(step.contiguousTokens));
  const float top = viewHeadline(view, area, bytes(allocated), {sentence},
                                 {said + " A shared prefix counts once.", said}, small);
  const float line = small ? view.px(84) : std::max(view.px(130), area.GetHeight() * 0.27f);
  const float axis = view.px(18), bottom = area.Max.y - line - axis - view.px(30);
  const float space = view.px(36), left = area.GetWidth() * 0.6f - space / 2;
  const float from = top + view.px(28);
  const float poolHigh =
      std::min((bottom - top) * 0.62f, std::max(view.px(36), bottom - from - view.px(tablesHigh(study))));
  const ImRect pool(area.Min.x, from, area.Min.x + left, from + poolHigh);
  const float other = area.Min.x + left + space;
  paintText(list, view.fonts->bold, ImVec2(area.Min.x, top + view.px(10)), theme.text, "Blocks");
  paintText(list, view.fonts->text, ImVec2(area.Min.x + view.px(62), top + view.px(10)), theme.secondary,
            fmt::format("{} of {} used; two numbers: shared", step.usedBlocks, study.mostBlocks));
  const float tables = paintPool(view, list, study, step, block, pool) + view.px(18);
  paintText(list, view.fonts->bold, ImVec2(area.Min.x, tables + view.px(10)), theme.text, "Block tables");
  paintTables(view, list, step, ImRect(area.Min.x, tables + view.px(24), area.Min.x + left, bottom));
  paintFitted(view, list, view.fonts->bold, ImVec2(other, top + view.px(10)), area.Max.x - other, theme.text,
              "Contiguous allocation");
  paintContiguous(view, list, study, step, ImRect(other, top + view.px(28), area.Max.x, bottom));
  const float legend = bottom + view.px(14);
  float x = area.Min.x;
  const auto word = [&](std::uint32_t color, const char* text) {
    list.AddRectFilled(ImVec2(x, legend - view.px(5)), ImVec2(x + view.px(10), legend + view.px(5)), color);
    x += view.px(16) +
         paintText(list, view.fonts->text, ImVec2(x + view.px(16), legend), theme.secondary, text) +
         view.px(24);
  };
  word(theme.text, "used");
  word(faded(theme.secondary, 0.55f), "allocated in blocks");
  word(theme.line, "contiguous: space for the longest request each");
  const Index most = std::max(study.mostContiguous, study.mostBlocks * block);
  paintText(list, view.fonts->mono, ImVec2(area.Max.x, legend), theme.secondary, "at most " + bytes(most),
            Align::right);
  timeline(page, study, block, ImRect(area.Min.x, legend + view.px(16), area.Max.x, area.Max.y - axis));
  stepAxis(view, list, static_cast<Index>(study.steps.size()),
           ImRect(area.Min.x, area.Max.y - axis, area.Max.x, area.Max.y));
}

}  // namespace headscope::app::cache_page
