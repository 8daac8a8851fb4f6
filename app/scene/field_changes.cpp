// What differs between two scenes, field by field, in words.

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::CellRow;
using attention::CellTable;
using attention::PlantedHead;
using attention::Table;

namespace {

/// The most bytes of a value in a list of changes, and in the name of an undo step.
constexpr std::size_t kMostOfValue = 60, kMostInName = 28;

std::string cutTo(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  while (most > 0 && text[most - 1] == ' ') --most;
  return std::string(text.substr(0, most)) + "…";
}

/// Cuts two long texts to what differs between them, with the word before it.
void keepDifference(std::string& before, std::string& now, std::size_t most) {
  if (before.size() <= most && now.size() <= most) return;
  const std::size_t shorter = std::min(before.size(), now.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && before[head] == now[head]) ++head;
  const auto toWord = [&] {
    while (head > 0 && before[head - 1] != ' ') --head;
  };
  toWord();
  if (head > 0) --head;
  toWord();
  while (tail < shorter - head && before[before.size() - 1 - tail] == now[now.size() - 1 - tail]) ++tail;
  while (tail > 0 && before[before.size() - tail] != ' ') --tail;
  for (std::string* text : {&before, &now}) {
    std::string kept = cutTo(std::string_view(*text).substr(head, text->size() - head - tail), most);
    if (tail > 0 && !kept.ends_with("…")) kept += "…";
    *text = (head > 0 ? "…" : "") + kept;
  }
}

/// A value in words. `quoted`: it is a text of the person's own.
struct ValueText {
  std::string text;
  bool quoted = false;
};

struct InWords {
  const Field& field;

  ValueText operator()(bool value) const { return {value ? "on" : "off"}; }
  ValueText operator()(Index value) const {
    return {value < 0 ? fixedText(static_cast<double>(value), 0)
                      : countText(static_cast<std::uint64_t>(value))};
  }
  ValueText operator()(std::uint64_t value) const { return {std::to_string(value)}; }
  ValueText operator()(float value) const { return (*this)(static_cast<double>(value)); }
  ValueText operator()(double value) const { return {shownNumber(shortNumber(value))}; }
  ValueText operator()(const std::string& value) const {
    if (value.empty()) return {"none"};
    const auto* kind = std::get_if<Anything>(&field.values);
    const bool isPath = kind && std::string_view(kind->words).starts_with("a path");
    const std::size_t slash = isPath ? value.find_last_of("/\\", value.size() - 2) : std::string::npos;
    return oneLine(slash == std::string::npos ? value : value.substr(slash + 1));
  }
  ValueText operator()(const SharedText& value) const {
    return value->empty() ? ValueText{"none"} : oneLine(*value);
  }
  ValueText operator()(const attention::MaskLayers& layers) const {
    return {layers.empty() ? "everything visible" : attention::maskText(layers)};
  }
  ValueText operator()(const std::vector<SwitchedHead>& heads) const {
    std::string all;
    for (const SwitchedHead& head : heads)
      all += (all.empty() ? "" : ", ") + fmt::format("{}.{}", head.layer, head.head);
    return {all.empty() ? "none" : all};
  }
  ValueText operator()(const std::vector<PlantedHead>& heads) const {
    std::string all;
    for (const PlantedHead& head : heads) all += (all.empty() ? "" : ", ") + attention::describe(head);
    return {all.empty() ? "default" : all};
  }
  template <typename T>
  ValueText operator()(const SharedValue<std::vector<T>>& list) const {
    return (*this)(*list);
  }
  template <typename T>
  ValueText operator()(const std::vector<T>& list) const {
    return {countText(list.size())};
  }

 private:
  static ValueText oneLine(std::string value) {
    std::replace(value.begin(), value.end(), '\n', ' ');
    return {std::move(value), true};
  }
};

/// The label of the field's control, or else the last word of its path, after the name of its object if other
/// fields have the same.
std::string labelOf(const Field& field) {
  if (const auto* slider = std::get_if<Slider>(&field.control)) return slider->label;
  if (const auto* toggle = std::get_if<Toggle>(&field.control)) return toggle->label;
  if (const auto* other = std::get_if<Elsewhere>(&field.control); other && *other->label) return other->label;
  const auto lastWord = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  std::string word(lastWord(field.path));
  const auto same = std::count_if(allFields().begin(), allFields().end(), [&](const Field& each) {
    return lastWord(each.path) == word && !each.path.starts_with("cursor.");
  });
  // These two objects are about all pages, so that their fields need no name before them.
  if (same > 1 && !field.path.starts_with("subject.") && !field.path.starts_with("look."))
    word = std::string(lastWord(field.path.substr(0, field.path.rfind('.')))) + " " + word;
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

Index differingCells(const CellRow* before, const CellRow* now) {
  static const CellRow kUnset;
  if (!before) before = &kUnset;
  if (!now) now = &kUnset;
  std::set<Index> ends;
  for (const CellRow* row : {before, now})
    for (const attention::KeyRuns* runs : {&row->visible, &row->masked})
      for (const attention::KeyRun& run : *runs) ends.insert({run.begin, run.end});
  const auto holds = [](const attention::KeyRuns& runs, Index key) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const attention::KeyRun& run) { return key >= run.begin && key < run.end; });
  };
  Index differing = 0, from = 0;
  for (const Index end : ends) {
    if (holds(before->visible, from) != holds(now->visible, from) ||
        holds(before->masked, from) != holds(now->masked, from))
      differing += end - from;
    from = end;
  }
  return differing;
}

Index differingCells(const Paintings& before, const Paintings& now) {
  static const CellTable kNothing;
  std::set<std::string> names;
  for (const Paintings* all : {&before, &now})
    for (const auto& painting : *all) names.insert(painting.first);
  Index differing = 0;
  for (const std::string& name : names) {
    const auto was = before.find(name), is = now.find(name);
    const CellTable& old = was == before.end() ? kNothing : *was->second;
    const CellTable& own = is == now.end() ? kNothing : *is->second;
    for (std::size_t i = 0; i < std::max(old.rows.size(), own.rows.size()); ++i) {
      const CellRow* oldRow = i < old.rows.size() ? old.rows[i].get() : nullptr;
      const CellRow* row = i < own.rows.size() ? own.rows[i].get() : nullptr;
      if (oldRow != row) differing += differingCells(oldRow, row);
    }
  }
  return differing;
}

/// The changes that are said in other words than by two values. Each returns one without a label for those
/// that have none.
struct Specially {
  const Field& field;

  ChangedField operator()(const Paintings& before, const Paintings& now) const {
    return {fmt::format("mask: {} painted", countedText(differingCells(before, now), "cell")), "", ""};
  }
  ChangedField operator()(const SharedTable& before, const SharedTable& now) const {
    const Table &old = *before, &own = *now;
    const Index rows = own.values.rows();
    if (old.values.rows() != rows || old.values.cols() != own.values.cols())
      return {labelOf(field), sizeOf(old), sizeOf(own)};
    Index changed = 0, last = 0;
    for (Index row = 0; row < rows; ++row)
      if (old.values.row(row) != own.values.row(row)) {
        ++changed;
        last = row;
      }
    if (changed == 0) return {labelOf(field) + ": names", "", ""};
    const auto at = static_cast<std::size_t>(last);
    if (changed > 1 || at >= own.names.size() || own.names[at].empty())
      return {fmt::format("{}: {}", labelOf(field), countedText(changed, "row")), "", ""};
    return {fmt::format("vector of “{}”", cutTo(own.names[at], kMostInName)), "", ""};
  }
  ChangedField operator()(const std::vector<PlantedHead>& before, const std::vector<PlantedHead>& now) const {
    if (before.size() != now.size()) return {};
    const auto [was, is] = std::mismatch(before.begin(), before.end(), now.begin());
    if (was == before.end() || !std::equal(was + 1, before.end(), is + 1)) return {};
    return {fmt::format("head {}", was - before.begin()), attention::describe(*was),
            attention::describe(*is)};
  }
  ChangedField operator()(const std::vector<std::vector<PlantedHead>>& before,
                          const std::vector<std::vector<PlantedHead>>& now) const {
    static const std::vector<PlantedHead> kDefault;
    std::size_t layer = 0;
    const auto at = [&](const auto& all) -> const auto& {
      return layer < all.size() ? all[layer] : kDefault;
    };
    while (layer + 1 < std::max(before.size(), now.size()) && at(before) == at(now)) ++layer;
    ChangedField change = (*this)(at(before), at(now));
    const std::string where = fmt::format("layer {}", layer + 1);
    if (change.label.empty()) return {where + ": planted heads", "", ""};
    change.label = where + ", " + change.label;
    return change;
  }
  template <typename T>
  ChangedField operator()(const T&, const T&) const {
    return {};
  }

 private:
  static std::string sizeOf(const Table& table) {
    return fmt::format("{} × {}", table.values.rows(), table.values.cols());
  }
};

ChangedField changeOf(const Field& field, const EnumMember& member, const Scene& before, const Scene& now,
                      std::size_t) {
  const auto nameOf = [&](const Scene& scene) {
    const auto value = static_cast<std::size_t>(member.of(scene));
    const auto* choice = std::get_if<Selection>(&field.control);
    return std::string(choice ? choice->labels[value] : std::get<Names>(field.values).names[value]);
  };
  return {labelOf(field), nameOf(before), nameOf(now)};
}

template <typename T>
ChangedField changeOf(const Field& field, const Member<T>& member, const Scene& before, const Scene& now,
                      std::size_t mostBytes) {
  ChangedField change = Specially{field}(member.of(before), member.of(now));
  if (!change.label.empty()) return change;
  if constexpr (std::is_invocable_v<InWords, const T&>) {
    ValueText was = InWords{field}(member.of(before)), is = InWords{field}(member.of(now));
    keepDifference(was.text, is.text, mostBytes);
    if (was.text != is.text) {
      const auto shown = [](const ValueText& value) {
        return value.quoted ? "“" + value.text + "”" : value.text;
      };
      return {labelOf(field), shown(was), shown(is)};
    }
  }
  return {labelOf(field), "", ""};
}

void noteChange(const Field& field, const Scene& before, const Scene& now, std::size_t mostBytes,
                std::vector<ChangedField>& changes) {
  // The cursor has one field that is undone (see sameDocument()).
  if (field.path.starts_with("cursor.") && field.path != "cursor.lab.patch_text") return;
  std::visit(
      [&](const auto& member) {
        if (!(member.of(before) == member.of(now)))
          changes.push_back(changeOf(field, member, before, now, mostBytes));
      },
      field.access);
}

/// Names a change of a talk, which is not a field, because its views are scenes.
std::string talkChange(const std::vector<TalkView>& before, const std::vector<TalkView>& now) {
  if (before.size() != now.size())
    return fmt::format("Talk {} → {}", countedText(std::ssize(before), "view"), now.size());
  const auto [was, is] = std::mismatch(before.begin(), before.end(), now.begin());
  if (!std::equal(was + 1, before.end(), is + 1)) return "Talk: several views";
  const std::string view = fmt::format("view {}", is - now.begin() + 1);
  if (was->name != is->name) return fmt::format("Talk: name of {}", view);
  if (was->notes != is->notes) return fmt::format("Talk: notes of {}", view);
  return "Talk: " + view;
}

}  // namespace

std::vector<ChangedField> changesBetween(const std::vector<std::string>& paths, const Scene& before,
                                         const Scene& now) {
  std::vector<ChangedField> changes;
  for (const Field& field : allFields())
    if (std::find(paths.begin(), paths.end(), field.path) != paths.end())
      noteChange(field, before, now, kMostOfValue, changes);
  return changes;
}

std::vector<ChangedField> changesBetween(const Scene& before, const Scene& now) {
  std::vector<ChangedField> changes;
  for (const Field& field : allFields()) noteChange(field, before, now, kMostOfValue, changes);
  return changes;
}

std::string changeText(const ChangedField& change) {
  if (change.before.empty()) return change.label;
  return fmt::format("{} {} → {}", change.label, change.before, change.now);
}

std::string changeName(const Scene& before, const Scene& now) {
  constexpr std::size_t kNamed = 2;
  if (before.talk != now.talk) return talkChange(before.talk->views, now.talk->views);
  std::vector<ChangedField> changes;
  for (const Field& field : allFields()) noteChange(field, before, now, kMostInName, changes);
  if (changes.empty()) return "Edit";
  std::string name;
  for (std::size_t i = 0; i < std::min(kNamed, changes.size()); ++i)
    name += (i == 0 ? "" : ", ") + changeText(changes[i]);
  name = capitalized(name);
  return changes.size() > kNamed ? name + fmt::format(", and {} more", changes.size() - kNamed) : name;
}

}  // namespace headscope::app
