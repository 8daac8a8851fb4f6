#include <fmt/core.h>

#include <numeric>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

using Parents = std::vector<Index>;

constexpr std::size_t kParentsParameter = 1;
constexpr std::array kTreeNumbers{
    readFrom(text_parts::treePrefix, "prefix", ParameterKind::count, "P", "tokens before the draft", 0, true),
    readFrom(text_parts::parents, "parents", ParameterKind::parents, "",
             "each draft token's parent, counted in the draft")};

Status checkGiven(const Parents& parents, Index prefix, Index keys, const std::string& title) {
  const Index draft = keys - prefix;
  if (static_cast<Index>(parents.size()) > draft)
    return Error{fmt::format("{} are {}, but the draft has {} tokens ({} keys after a prefix of {})", title,
                             parents.size(), draft, keys, prefix)};
  for (const Index parent : parents) {
    const std::string found = fmt::format("{} hold {}", title, parent);
    if (parent < -1) return Error{found + ", expected -1 for the prefix or a node"};
    if (parent >= draft) return Error{fmt::format("{}, but the draft has {} tokens", found, draft)};
  }
  return success();
}

/// Returns "2 → 5 → 2", with the middle of long cycles omitted.
std::string cycleText(const Parents& parents, Index node) {
  constexpr int kMostNodes = 8;
  std::string text = std::to_string(node);
  int nodes = 1;
  for (Index at = parents[static_cast<std::size_t>(node)]; at != node;
       at = parents[static_cast<std::size_t>(at)]) {
    ++nodes;
    if (nodes <= kMostNodes) text += fmt::format(" → {}", at);
  }
  return text + (nodes > kMostNodes ? " → … → " : " → ") + std::to_string(node);
}

/// Follows every node's parents up to the prefix or to a node checked before.
Status checkCircles(const Parents& parents, const std::string& title) {
  std::vector<Index> followedFrom(parents.size(), -1);
  for (std::size_t start = 0; start < parents.size(); ++start) {
    auto node = static_cast<Index>(start);
    while (node >= 0 && followedFrom[static_cast<std::size_t>(node)] < 0) {
      followedFrom[static_cast<std::size_t>(node)] = static_cast<Index>(start);
      node = parents[static_cast<std::size_t>(node)];
    }
    if (node >= 0 && followedFrom[static_cast<std::size_t>(node)] == static_cast<Index>(start))
      return Error{title + " form a cycle: " + cycleText(parents, node)};
  }
  return success();
}

/// Returns for each node the last node on its way up that is reached in steps of +1 only or of −1 only.
/// Neighbours are never each other's parents, so the next node's chain, if any, has the same direction.
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

/// Returns the parents and chain ends of all positions after the prefix. Given parents must fit the draft and
/// must not form a cycle; parents from the text are cut or continued.
Result<RuleLists> treeLists(const Given& given) {
  const std::string title = given.title(kParentsParameter);
  const Argument* argument = given.argument(kParentsParameter);
  const MaskGeometry& geometry = given.geometry;
  const Index prefix = given.counts[0], draft = geometry.keys - prefix;
  RuleLists lists;
  Parents& parents = lists.parents;
  parents = argument ? argument->values : geometry.structure.parents;
  if (argument)
    if (auto status = checkGiven(parents, prefix, geometry.keys, title); !status) return status.error();
  // Queries may lie beyond the keys; their nodes continue from the draft's last one.
  const Index positions = std::max(geometry.keys, geometry.cacheLength + geometry.queries);
  const auto listed = std::min(static_cast<Index>(parents.size()), draft);
  parents.resize(static_cast<std::size_t>(positions - prefix));
  for (Index node = 0; node < positions - prefix; ++node) {
    Index& parent = parents[static_cast<std::size_t>(node)];
    if (node >= listed || parent < -1 || parent >= draft) parent = node - 1;
  }
  if (auto status = checkCircles(parents, title); !status) return status.error();
  lists.chainEnds = chainsOf(parents);
  return lists;
}

void treeRow(const Rule& rule, const RowPlace& at, KeyRuns& out) {
  const Index prefix = rule.counts[0], m = at.keys;
  if (at.position < prefix) return appendRun(out, 0, std::min(at.position + 1, m));
  const auto& parents = rule.lists->parents;
  const auto& chainEnds = rule.lists->chainEnds;
  // The runs of the way up are sorted at the end, because parents may come after their children.
  out.push_back({0, std::min(prefix, m)});
  for (Index node = at.position - prefix; node >= 0;) {
    const Index last = chainEnds[static_cast<std::size_t>(node)];
    out.push_back({prefix + std::min(node, last), std::min(prefix + std::max(node, last) + 1, m)});
    node = parents[static_cast<std::size_t>(last)];
  }
  sortRuns(out);
}

constexpr LookupTable kAncestor{
    .name = "ancestor",
    .define = [](const TableSource& source) -> std::string {
      constexpr Index kMaxNodes = 4096;
      const auto& parents = source.rule.lists->parents;
      const auto nodes = static_cast<Index>(parents.size());
      if (nodes == 0) return "";
      limitCode(nodes, kMaxNodes, "the number of nodes of the draft tree is");
      return fmt::format(
          "parents = {}\n"
          "@ = {}\n"
          "for node in range({}):\n"
          "    path = [node]\n"
          "    while parents[path[-1]] >= 0:\n"
          "        path.append(parents[path[-1]])\n"
          "    @[node, path] = True\n",
          codeList(parents), source.dialect.zeros(codeTuple({nodes, nodes}), "bool"), nodes);
    },
    .value =
        [](const Rule& rule, const RowPlace&, Index node, Index ancestor) {
          while (node >= 0 && node != ancestor) node = rule.lists->parents[static_cast<std::size_t>(node)];
          return Index{node == ancestor};
        },
};

Truth treeVisible(const Number& i, const Number& j) {
  const Number prefix = parameter("prefix");
  // Positions before the draft look up its first node; the result is not used.
  const auto node = [&](const Number& position) {
    return clip(position - prefix, 0, positions() - prefix - 1);
  };
  const Truth ancestor = called("{j} an ancestor of {i} or {i} itself[, parents {parents}]",
                                (j >= prefix) & holds(kAncestor, node(i), node(j)));
  return ((i < prefix) & (j <= i)) | ((i >= prefix) & ((j < prefix) | ancestor));
}

}  // namespace

/// Miao et al. 2023, "SpecInfer".
constinit const Pattern patterns::tree{
    .info = {.kind = PatternKind::tree,
             .name = "tree",
             .title = "Draft tree",
             .help = "Several drafts of the next tokens, checked at once: each token sees the prefix and its "
                     "own branch.",
             .formula = "i < P: j ≤ i; i ≥ P: j < P, or j an ancestor of i, or i itself",
             .users = "SpecInfer, Medusa, EAGLE",
             .example = "tree(prefix=6, parents=[-1, 0, 0, -1, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 11, 14])",
             .parameters = kTreeNumbers},
    .visible = treeVisible,
    .row = treeRow,
    .lists = treeLists,
};

}  // namespace headscope::attention
