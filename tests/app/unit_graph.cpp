#include "tests/app/unit_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>

namespace headscope::test {
namespace {

/// The folders of app/compute, from the bottom up.
constexpr std::array<std::string_view, 11> kSubjects{"jobs", "plots", "layer", "cost",    "heads",  "mask",
                                                     "map",  "cache", "model", "lessons", "figures"};

std::string unitOf(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

/// Tarjan's strongly connected components.
class Circles {
 public:
  explicit Circles(const std::map<std::string, std::set<std::string>>& arrows) : arrows_(arrows) {
    for (const auto& [unit, to] : arrows_)
      if (!places_.contains(unit)) visit(unit);
  }
  std::vector<std::vector<std::string>> found;

 private:
  struct Place {
    std::size_t order, lowest;
    bool open = true;
  };

  std::size_t visit(const std::string& unit) {
    const std::size_t order = places_.size();
    places_[unit] = {order, order};
    open_.push_back(unit);
    for (const std::string& next : arrows_.at(unit)) {
      const auto known = places_.find(next);
      const std::size_t reached = known == places_.end() ? visit(next)
                                  : known->second.open   ? known->second.order
                                                         : order;
      places_[unit].lowest = std::min(places_[unit].lowest, reached);
    }
    const std::size_t lowest = places_[unit].lowest;
    if (lowest == order) close(unit);
    return lowest;
  }

  void close(const std::string& first) {
    const auto from = std::find(open_.begin(), open_.end(), first);
    std::vector<std::string> circle(from, open_.end());
    open_.erase(from, open_.end());
    for (const std::string& unit : circle) places_[unit].open = false;
    std::sort(circle.begin(), circle.end());
    if (circle.size() > 1) found.push_back(std::move(circle));
  }

  const std::map<std::string, std::set<std::string>>& arrows_;
  std::map<std::string, Place> places_;
  std::vector<std::string> open_;
};

/// The index of a path's folder in kSubjects; −1 if it isn't in app/compute, the number of subjects if the
/// folder is unknown.
std::ptrdiff_t subjectOf(std::string_view path) {
  constexpr std::string_view kCompute = "app/compute/";
  if (!path.starts_with(kCompute)) return -1;
  path.remove_prefix(kCompute.size());
  const auto at = std::find(kSubjects.begin(), kSubjects.end(), path.substr(0, path.find('/')));
  return at - kSubjects.begin();
}

}  // namespace

std::vector<std::vector<std::string>> circlesOfUnits(const Sources& sources) {
  std::map<std::string, std::set<std::string>> arrows;
  for (const auto& [path, text] : sources) arrows[unitOf(path)];
  for (const auto& [path, text] : sources)
    for (const std::string& include : includesOf(text))
      if (const std::string unit = unitOf(include); arrows.contains(unit) && unit != unitOf(path))
        arrows[unitOf(path)].insert(unit);
  return Circles(arrows).found;
}

std::vector<std::string> upwardIncludes(const Sources& sources) {
  std::vector<std::string> found;
  for (const auto& [path, text] : sources) {
    const std::ptrdiff_t from = subjectOf(path);
    if (from == std::ssize(kSubjects)) found.push_back(path + ": its folder of app/compute has no place");
    if (from < 0 || from == std::ssize(kSubjects)) continue;
    for (const std::string& include : includesOf(text))
      if (const std::ptrdiff_t to = subjectOf(include); to > from && to < std::ssize(kSubjects))
        found.push_back(path + ": includes " + include + "; " +
                        std::string(kSubjects[static_cast<std::size_t>(to)]) + " is above " +
                        std::string(kSubjects[static_cast<std::size_t>(from)]));
  }
  return found;
}

std::vector<DefinedType> typesOf(std::string_view text) {
  // Formatted top-level declarations start at the margin, but only inside namespaces.
  static const std::regex kType(R"(^(struct|class|enum class|enum|union) (\w+)( final)?( :[^;]*)?( \{.*)?$)");
  static const std::regex kNamespace(R"(^namespace ?([\w:]*) ?\{$)");
  std::vector<DefinedType> types;
  std::vector<std::string> spaces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    at = end + 1;
    std::smatch match;
    if (std::regex_match(line, match, kNamespace)) {
      spaces.push_back(match[1]);
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (std::regex_match(line, match, kType)) {
      std::string name;
      bool hidden = false;
      for (const std::string& space : spaces) {
        hidden = hidden || space.empty();
        name += space + "::";
      }
      if (!hidden) types.push_back({name + match[2].str(), match[1]});
    }
  }
  return types;
}

}  // namespace headscope::test
