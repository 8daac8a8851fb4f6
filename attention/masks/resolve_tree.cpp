#include "attention/masks/resolve_tree.h"

#include <algorithm>
#include <numeric>

#include "attention/masks/resolve_lists.h"

namespace headscope::attention {
namespace {

using Parents = std::vector<Index>;

constexpr std::size_t kParentsParameter = 1;

Status checkGiven(const Parents& parents, Index prefix, Index keys, const std::string& title) {
  const Index draft = keys - prefix;
  if (static_cast<Index>(parents.size()) > draft)
    return Error{title + " are " + std::to_string(parents.size()) + ", but the draft has " +
                 std::to_string(draft) + " tokens (" + std::to_string(keys) + " keys after a prefix of " +
                 std::to_string(prefix) + ")"};
  for (const Index parent : parents) {
    const std::string found = title + " hold " + std::to_string(parent);
    if (parent < -1) return Error{found + ", expected -1 for the prefix or a node"};
    if (parent >= draft) return Error{found + ", but the draft has " + std::to_string(draft) + " tokens"};
  }
  return success();
}

/// "2 → 5 → 2", shortened in the middle.
std::string circleText(const Parents& parents, Index node) {
  constexpr int kMostNodes = 8;
  std::string text = std::to_string(node);
  int nodes = 1;
  for (Index at = parents[static_cast<std::size_t>(node)]; at != node;
       at = parents[static_cast<std::size_t>(at)]) {
    ++nodes;
    if (nodes <= kMostNodes) text += " → " + std::to_string(at);
  }
  return text + (nodes > kMostNodes ? " → … → " : " → ") + std::to_string(node);
}

/// Follows every node to the prefix or to one that was followed before.
Status checkCircles(const Parents& parents, const std::string& title) {
  std::vector<Index> followedFrom(parents.size(), -1);
  for (std::size_t start = 0; start < parents.size(); ++start) {
    auto node = static_cast<Index>(start);
    while (node >= 0 && followedFrom[static_cast<std::size_t>(node)] < 0) {
      followedFrom[static_cast<std::size_t>(node)] = static_cast<Index>(start);
      node = parents[static_cast<std::size_t>(node)];
    }
    if (node >= 0 && followedFrom[static_cast<std::size_t>(node)] == static_cast<Index>(start))
      return Error{title + " go round in a circle: " + circleText(parents, node)};
  }
  return success();
}

/// For each node the last one of its way up that is reached in steps of +1 alone or of −1 alone. Neighbours
/// never hang from each other, so that the next node's chain, if it has one, goes the same way.
std::vector<Index> chainsOf(const Parents& parents) {
  std::vector<Index> ends(parents.size());
  const auto count = static_cast<Index>(parents.size());
  const auto follow = [&](Index node, Index next) {
    const bool goesOn = parents[static_cast<std::size_t>(node)] == next;
    if (goesOn) ends[static_cast<std::size_t>(node)] = ends[static_cast<std::size_t>(next)];
  };
  std::iota(ends.begin(), ends.end(), Index{0});
  for (Index node = 1; node < count; ++node) follow(node, node - 1);
  for (Index node = count - 2; node >= 0; --node) follow(node, node + 1);
  return ends;
}

}  // namespace

Status resolveTree(const PatternUse& use, const MaskGeometry& geometry, Index prefix, RuleLists& lists) {
  const std::string title = parameterTitle(use, kParentsParameter);
  const Argument* given = argumentOf(use, kParentsParameter);
  const Index draft = geometry.keys - prefix;
  Parents& parents = lists.parents;
  parents = given ? given->values : geometry.structure.parents;
  if (given)
    if (auto status = checkGiven(parents, prefix, geometry.keys, title); !status) return status;
  // Queries may stand beyond the keys; their nodes go on as the draft ended.
  const Index positions = std::max(geometry.keys, geometry.cacheLength + geometry.queries);
  const auto listed = std::min(static_cast<Index>(parents.size()), draft);
  parents.resize(static_cast<std::size_t>(positions - prefix));
  for (Index node = 0; node < positions - prefix; ++node) {
    Index& parent = parents[static_cast<std::size_t>(node)];
    if (node >= listed || parent < -1 || parent >= draft) parent = node - 1;
  }
  if (auto status = checkCircles(parents, title); !status) return status;
  lists.chainEnds = chainsOf(parents);
  return success();
}

}  // namespace headscope::attention
