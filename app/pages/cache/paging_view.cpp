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

/// Draws the pool's blocks: free ones as outlines, used ones filled in proportion.
void paintPool(const View& view, const PagingStudy& study, const PagedStep& step, Index block,
               const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
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
    const BlockUse& use = uses[asSize(i)];
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
}

/// Draws the block tables, one line per running request.
void paintTables(const View& view, const PagedStep& step, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
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
  std::size_t most = 1;
  for (const PagedStep& step : study.steps) most = std::max(most, step.running.size());
  return 26 * static_cast<float>(most);
}

/// Draws what contiguous allocation would hold: for each request, as much as the longest one needs.
void paintContiguous(const View& view, const PagingStudy& study, const PagedStep& step, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
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
    const PagedStep& step = study.steps[asSize(i)];
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

/// The bytes of a number of tokens, with those of the layer's cache.
std::string tokenBytes(const Scene& scene, const State& page, Index tokens) {
  const std::uint64_t token =
      page.snapshot && !page.snapshot->error ? bytesPerToken(scene, page.snapshot->config).own : 1;
  return fourDigitBytes(attention::saturatingMultiply(token, static_cast<std::uint64_t>(tokens)));
}

void pagingHeadline(const Scene& scene, const State& page, const PagedStep& step, Board& board) {
  const Index block = page.paging.request().block;
  const Index allocated = step.usedBlocks * block, wasted = allocated - step.storedTokens;
  const auto bytes = [&](Index tokens) { return tokenBytes(scene, page, tokens); };
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
  board.headline(
      {"cache.figure", bytes(allocated), {sentence}, {said + " A shared prefix counts once.", said}});
}

}  // namespace

void pagingView(Scene& scene, State& page, Board& board) {
  const View& view = page.view;
  if (const std::string problem = page.paging.problem(); !problem.empty())
    return void(board.message("Can't read this schedule", problem));
  if (!page.paging || page.paging->steps.empty()) return void(board.message("Computing…", ""));
  const PagingStudy& study = *page.paging;
  const Index block = page.paging.request().block;
  page.pagingStep = std::clamp<Index>(page.pagingStep, 0, static_cast<Index>(study.steps.size()) - 1);
  const PagedStep& step = study.steps[asSize(page.pagingStep)];
  pagingHeadline(scene, page, step, board);
  const PartWidth widths[] = {{165, 3}, {110, 2}};
  board.columns(widths, 30, [&](std::size_t half, Board& column) {
    if (half == 1) {
      column.title("Contiguous allocation", {"space for the longest request each", "the longest each"});
      column.picture("", {60, 60, 1}, [&view, &study, &step](const ImRect& area) {
        paintContiguous(view, study, step, area);
      });
      column.apart(2);
      return;
    }
    column.title("Blocks",
                 {fmt::format("{} of {} used; two numbers: shared", step.usedBlocks, study.mostBlocks),
                  fmt::format("{} of {} used", step.usedBlocks, study.mostBlocks)});
    column.picture("", {36, 202, 1}, [&view, &study, &step, block](const ImRect& area) {
      paintPool(view, study, step, block, area);
    });
    column.apart(2).title("Block tables").apart(14);
    const float tables = tablesHigh(study);
    column.area("", {std::min(tables, 104.0f), tables},
                [&view, &step](const ImRect& area) { paintTables(view, step, area); });
    column.apart(4);
  });
  const Index most = std::max(study.mostContiguous, study.mostBlocks * block);
  viewKey(scene, page, board, {"at most " + tokenBytes(scene, page, most)}).inWindow();
  board.picture("", {80, 102, 0.8f}, [&page, &study, block](const ImRect& area) {
    const float axis = area.Max.y - page.view.px(18);
    timeline(page, study, block, ImRect(area.Min, ImVec2(area.Max.x, axis)));
    stepAxis(page.view, *ImGui::GetWindowDrawList(), static_cast<Index>(study.steps.size()),
             ImRect(ImVec2(area.Min.x, axis), area.Max));
  });
}

}  // namespace headscope::app::cache_page
