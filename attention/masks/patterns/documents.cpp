#include <fmt/core.h>

#include <numeric>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

constinit const LookupTable kDocument{
    .name = "document",
    .define =
        [](const TableSource& source) {
          const auto& starts = source.rule.lists->positions;
          limitCode(static_cast<Index>(starts.size()), kMaxSpelledOut, "the number of documents is");
          const std::vector<Index> later(starts.begin() + 1, starts.end());
          return "@ = " + source.dialect.zeros(std::to_string(source.sizes.positions()), "int64") + "\n" +
                 (later.empty() ? "" : "@[" + codeList(later) + "] = 1\n") + "@ = @.cumsum(0)\n";
        },
    .value = [](const Rule& rule, const RowPlace&, Index position,
                Index) { return static_cast<Index>(documentOf(rule.lists->positions, position)); },
};

constinit const LookupTable kDocumentStart{
    .name = "start",
    .define =
        [](const TableSource& source) {
          return "@ = " + source.dialect.integers(codeList(source.rule.lists->positions)) + "\n";
        },
    .value = [](const Rule& rule, const RowPlace&, Index document,
                Index) { return rule.lists->positions[static_cast<std::size_t>(document)]; },
};

std::size_t documentOf(const std::vector<Index>& starts, Index position) {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin()) -
         1;
}

namespace {

constexpr std::array kStarts{readFrom(text_parts::documents, "starts", ParameterKind::positions, "",
                                      "where each document begins; 0 is implied")};

Truth sameDocument(const Number& i, const Number& j) {
  return called("doc({i}) = doc({j})[ from {starts}]", at(kDocument, i) == at(kDocument, j));
}

Result<RuleLists> startLists(const Given& given) {
  auto starts = given.positions(0, given.geometry.keys, "keys");
  if (!starts) return starts.error();
  if (starts->empty() || starts->front() != 0) starts->insert(starts->begin(), 0);
  return RuleLists{.positions = std::move(starts).value()};
}

}  // namespace

constinit const Pattern patterns::documents{
    .info = {.name = "documents",
             .title = "Documents",
             .help = "Each document sees only itself, under its own mask that counts from its start.",
             .formula = "doc(i) = doc(j) and inner(i − start, j − start)",
             .users = "packed training of encoders, ModernBERT",
             .example = "documents(full, starts=[7, 16])",
             .parameters = kStarts,
             .takesInner = true},
    .visible = sameDocument,
    .lists = startLists,
};

constinit const Pattern patterns::packed{
    .info = {.name = "packed",
             .title = "Packed causal documents",
             .help = "Documents packed into one sequence, each causal and hidden from the others.",
             .formula = "start(doc(i)) ≤ j ≤ i",
             .users = "Llama 3's pre-training",
             .example = "packed([7, 16])",
             .parameters = kStarts},
    .visible = [](const Number& i, const Number& j) { return (j <= i) & sameDocument(i, j); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& starts = rule.lists->positions;
          appendRun(out, starts[documentOf(starts, at.position)], std::min(at.position + 1, at.keys));
        },
    .lists = startLists,
};

constinit const Pattern patterns::sharedPrefix{
    .info = {.name = "shared_prefix",
             .title = "Shared prefix",
             .help = "Several continuations of one prefix: each is causal and sees the first document too.",
             .formula = "j ≤ i and (doc(i) = doc(j) or doc(j) = 0)",
             .users = "Hydragen, vLLM's cascade",
             .example = "shared_prefix([8, 13, 19])",
             .parameters = kStarts},
    .visible =
        [](const Number& i, const Number& j) {
          return (j <= i) & (sameDocument(i, j) | called("doc({j}) = 0", at(kDocument, j) == 0));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& starts = rule.lists->positions;
          const Index end = std::min(at.position + 1, at.keys);
          appendRun(out, 0, std::min(starts.size() > 1 ? starts[1] : at.keys, end));
          appendRun(out, starts[documentOf(starts, at.position)], end);
        },
    .lists = startLists,
};

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
    .info = {.name = "tree",
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
