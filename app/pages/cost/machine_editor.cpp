#include <fmt/core.h>

#include <cstdlib>

#include "app/pages/cost/cost_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::cost_page {

namespace {

using attention::Machine;

/// An editable number of a machine: its column's heading and limits.
struct MachineColumn {
  const char *name, *title, *what, *unit;
  double Machine::*member;
  double scale;  ///< factor from the typed number to the member
  double most;   ///< largest number that can be typed
};
constexpr std::array<MachineColumn, 3> kColumns{
    {{"memory", "memory, GB", "memory", "GB", &Machine::memoryGb, 1, 1e9},
     {"bandwidth", "bandwidth, TB/s", "bandwidth", "TB/s", &Machine::bandwidth, 1e12, 1e6},
     {"flops", "16-bit, TFLOP/s", "speed", "TFLOP/s", &Machine::flops, 1e12, 1e9}}};

constexpr float kNameWidth = 200, kNumberWidth = 132, kRowHeight = 36;

std::string textOf(const Machine& machine, int column) {
  if (column < 0) return machine.name;
  const MachineColumn& each = kColumns[static_cast<std::size_t>(column)];
  return roundedText(machine.*each.member / each.scale, 6);
}

bool isOwn(const Machine& machine) {
  return machine.source == kOwnMachine;
}
bool isPublished(const std::string& name) {
  return attention::findMachine(attention::machines(), name) != nullptr;
}

/// A path in short form: "~/.config/headscope/machines.json".
std::string shownFile(const char* name) {
  const std::string path = (configurationFolder() / name).string();
  const char* home = std::getenv("HOME");
  const std::string prefix = home ? home : "";
  return !prefix.empty() && path.starts_with(prefix + "/") ? "~" + path.substr(prefix.size()) : path;
}

}  // namespace

MachineEditor::MachineEditor(State& page, std::function<void(const MachineChange&)> keep)
    : page_(page), keep_(std::move(keep)) {
  for (const Machine& machine : page_.catalogue.machines) order_.push_back(machine.name);
}

void MachineEditor::open(const Machine& machine, int column) {
  typed_ = {machine.name, column, textOf(machine, column), textOf(machine, column), true};
  problem_.clear();
}

void MachineEditor::change(Scene& scene, const MachineChange& change) {
  const std::string& now = change.machine ? change.machine->name : change.name;
  if (scene.cost.device == change.name) scene.cost.device = now;
  std::replace(order_.begin(), order_.end(), change.name, now);
  keep_(change);
  if (attention::findMachine(page_.catalogue.machines, now)) return;
  std::erase(order_, now);
  if (scene.cost.device == now) scene.cost.device = CostSetup().device;
}

bool MachineEditor::commit(Scene& scene, const Machine& machine) {
  problem_.clear();
  if (typed_.text == typed_.before) return true;
  Machine changed = machine;
  if (typed_.column < 0) {
    const bool taken = attention::findMachine(page_.catalogue.machines, typed_.text) != nullptr;
    if (typed_.text.find_first_not_of(' ') == std::string::npos)
      problem_ = "Enter a name for the machine.";
    else if (taken)
      problem_ = fmt::format("A machine named {} already exists.", typed_.text);
    changed.name = typed_.text;
  } else {
    const MachineColumn& column = kColumns[static_cast<std::size_t>(typed_.column)];
    const double value = typedNumber(typed_.text).value_or(0);
    if (!(value > 0) || value > column.most)
      problem_ = fmt::format("\"{}\" is not a valid {}: expected a number of {} above 0, such as {}.",
                             typed_.text, column.what, column.unit, typed_.before);
    changed.*column.member = value * column.scale;
  }
  if (problem_.empty()) change(scene, {machine.name, changed});
  return problem_.empty();
}

void MachineEditor::add(const Machine& like) {
  Machine machine = like;
  machine.name = "My GPU";
  for (int i = 2; attention::findMachine(page_.catalogue.machines, machine.name); ++i)
    machine.name = fmt::format("My GPU {}", i);
  keep_({machine.name, machine});
  order_.push_back(machine.name);
  open(machine, -1);
  scrollDown_ = true;
}

void MachineEditor::cell(Scene& scene, View& view, const Machine& machine, int column, const ImRect& area) {
  const bool named = column < 0;
  const std::string name = fmt::format("machine.{}.{}", machine.name,
                                       named ? "name" : kColumns[static_cast<std::size_t>(column)].name);
  ImGui::SetCursorScreenPos(area.Min);
  if (typed_.machine == machine.name && typed_.column == column) {
    // A new row isn't visible until the list has scrolled to it.
    if (typed_.justOpened && !ImGui::IsRectVisible(area.Min, area.Max)) return;
    const bool opened = std::exchange(typed_.justOpened, false);
    const bool entered = lineBox(view, name, typed_.text, area.GetWidth(), opened, "");
    if (!entered && (opened || !ImGui::IsItemDeactivated())) return;
    // Invalid text stays in the cell, so that it can be corrected.
    if (commit(scene, machine))
      typed_ = {};
    else if (entered)
      typed_.justOpened = true;
    return;
  }
  const bool fixed = named && isPublished(machine.name);
  const bool clicked = hitArea(name, area.GetSize());
  const bool hovered = ImGui::IsItemHovered();
  Canvas list = *ImGui::GetWindowDrawList();
  if (!fixed)
    list.AddRectFilled(area.Min, area.Max, hovered ? view.theme->raised : view.theme->background, view.px(4));
  const float y = area.GetCenter().y, pad = view.px(fixed ? 2 : 11);
  if (named)
    paintFitted(view, list, isOwn(machine) ? view.fonts->bold : view.fonts->text, ImVec2(area.Min.x + pad, y),
                area.GetWidth() - 2 * pad, view.theme->text, machine.name);
  else
    paintText(list, view.fonts->mono, ImVec2(area.Max.x - pad, y), view.theme->text, textOf(machine, column),
              Align::right);
  if (hovered && fixed) tooltip(view, machine.source + ". You can change its numbers, not its name.");
  if (clicked && !fixed) open(machine, column);
}

void MachineEditor::row(Scene& scene, View& view, const Machine& machine, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float space = view.px(6), height = view.px(kRowHeight) - space;
  float x = at.x;
  const auto next = [&](float units) {
    const ImRect area(x, at.y, x + view.px(units) - space, at.y + height);
    x += view.px(units);
    return area;
  };
  cell(scene, view, machine, -1, next(kNameWidth));
  for (int column = 0; column < std::ssize(kColumns); ++column)
    cell(scene, view, machine, column, next(kNumberWidth));
  if (isOwn(machine)) {
    ImGui::SetCursorScreenPos(ImVec2(x + view.px(2), at.y));
    if (button(view, "machine." + machine.name + ".remove", isPublished(machine.name) ? "Reset" : "Remove",
               "", true)) {
      change(scene, {machine.name, {}});
      typed_ = {};
      problem_.clear();
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, view.px(kRowHeight)));
}

void MachineEditor::draw(Scene& scene, View& view, bool) {
  if (beginDialog(view, "machines", "Machines", 770, 560)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    Canvas list = *ImGui::GetWindowDrawList();
    float right = at.x + view.px(kNameWidth);
    for (const MachineColumn& column : kColumns) {
      right += view.px(kNumberWidth);
      paintText(list, view.fonts->small, ImVec2(right - view.px(17), at.y + view.px(8)),
                view.theme->secondary, column.title, Align::right);
    }
    gap(view, 20);
    ImGui::BeginChild("machines.rows", ImVec2(0, ImGui::GetContentRegionAvail().y - view.px(100)), false,
                      ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    const float width = ImGui::GetContentRegionAvail().x;
    // Copies, because a change moves rows of the catalogue.
    for (const std::string& each : std::vector<std::string>(order_))
      if (const Machine* found = attention::findMachine(page_.catalogue.machines, each)) {
        const bool chosen = each == page_.figures.machine.name;
        row(scene, view, Machine(*found), width);
        if (chosen && std::exchange(scrollToChosen_, false)) ImGui::SetScrollHereY(0.5f);
      }
    if (std::exchange(scrollDown_, false)) {
      ImGui::SetScrollHereY(1);
      view.redraw();
    }
    ImGui::PopStyleVar();
    compat::endChild();
    gap(view, 2);
    const std::string& wrong = problem_.empty() ? page_.machineProblem : problem_;
    if (!wrong.empty()) {
      problem(view, wrong);
      trackItem("machines.problem");
    } else {
      hint(view, fmt::format("Click a number to edit it. Changes are saved in {}; add model shapes in {}.",
                             shownFile(kMachinesFile), kModelsFile));
    }
    ImGui::SetCursorPosY(ImGui::GetWindowHeight() - view.px(46));
    if (button(view, "machines.add", "Add machine")) add(page_.figures.machine);
    ImGui::SameLine(0, view.px(10));
    if (button(view, "machines.done", "Done")) view.dialog.reset();
  }
  endDialog();
}

}  // namespace headscope::app::cost_page
