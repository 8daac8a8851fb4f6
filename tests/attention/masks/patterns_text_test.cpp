#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/attention/masks/pattern_cases.h"

// Patterns based on documents, images, drafts and grids, compared with definitions that look up every
// position.

namespace headscope::attention::test {
namespace {

using TextPlace = CellPlace;
using Positions = std::vector<Index>;

bool isIn(const Positions& positions, Index position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

/// The number of documents that have begun up to the position.
Index documentNumber(const Positions& starts, Index position) {
  return std::count_if(starts.begin(), starts.end(), [&](Index s) { return s <= position && s > 0; });
}
bool sameDocument(const Positions& starts, const TextPlace& p) {
  return documentNumber(starts, p.i) == documentNumber(starts, p.j);
}
/// The number of tokens before the position in its document.
Index positionInside(const Positions& starts, Index position) {
  Index inside = 0;
  while (position - inside > 0 && !isIn(starts, position - inside)) ++inside;
  return inside;
}

TEST(TextPatterns, GlobalTokensMatchDefinition) {
  const Positions g{0, 11};
  expectPatterns({
      {"globals([0, 11])", [g](const TextPlace& p) { return isIn(g, p.i) || isIn(g, p.j); }, 12},
      {"globals([])", [](const TextPlace&) { return false; }},
      {"globals", [](const TextPlace& p) { return p.i == 0 || p.j == 0; }},
      {"longformer(window=3, positions=[0, 11])",
       [g](const TextPlace& p) { return std::abs(p.i - p.j) < 3 || isIn(g, p.i) || isIn(g, p.j); }, 12},
      {"longformer(window=[1, 40], positions=[5])",
       [](const TextPlace& p) { return std::abs(p.i - p.j) < (p.head % 2 ? 40 : 1) || p.i == 5 || p.j == 5; },
       6},
  });
}

TEST(TextPatterns, PrefixMatchesDefinition) {
  expectPatterns({
      {"prefix_lm(9)", [](const TextPlace& p) { return p.j < 9 || p.j <= p.i; }},
      {"prefix_lm(0)", [](const TextPlace& p) { return p.j <= p.i; }},
      {"prefix_lm", [](const TextPlace& p) { return p.j < p.keys / 2 || p.j <= p.i; }},
  });
}

TEST(TextPatterns, DocumentsMatchDefinition) {
  const Positions s{7, 16};
  expectPatterns({
      {"packed([7, 16])", [s](const TextPlace& p) { return p.j <= p.i && sameDocument(s, p); }, 17},
      {"packed([0, 7, 16])", [s](const TextPlace& p) { return p.j <= p.i && sameDocument(s, p); }, 17},
      {"packed([])", [](const TextPlace& p) { return p.j <= p.i; }},
      {"shared_prefix([7, 16])",
       [s](const TextPlace& p) { return p.j <= p.i && (sameDocument(s, p) || p.j < 7); }, 17},
      {"shared_prefix", [](const TextPlace& p) { return p.j <= p.i; }},
      {"documents(starts=[7, 16])", [s](const TextPlace& p) { return sameDocument(s, p); }, 17},
  });
}

TEST(TextPatterns, DocumentsRestartTheirInnerMask) {
  const Positions s{7, 16};
  const auto within = [s](auto visible) {
    return [s, visible](const TextPlace& p) {
      if (!sameDocument(s, p)) return false;
      return static_cast<bool>(
          visible(positionInside(s, p.i), positionInside(s, p.j), documentNumber(s, p.j), p));
    };
  };
  expectPatterns({
      {"documents(full, starts=[7, 16])", within([](Index, Index, Index, const TextPlace&) { return true; }),
       17},
      {"documents(causal, starts=[7, 16])",
       within([](Index i, Index j, Index, const TextPlace&) { return j <= i; }), 17},
      {"documents(causal & sinks(2) | block_diagonal(3), starts=[7, 16])",
       within([](Index i, Index j, Index, const TextPlace&) { return (j <= i && j < 2) || i / 3 == j / 3; }),
       17},
      {"documents(!window_both(2), starts=[7, 16])",
       within([](Index i, Index j, Index, const TextPlace&) { return std::abs(i - j) >= 2; }), 17},
      {"documents(causal_top_left, starts=[7, 16])",
       within([](Index i, Index j, Index, const TextPlace& p) { return j <= i - p.cacheLength; }), 17},
      {"documents(heads(even): causal, starts=[7, 16])",
       within([](Index i, Index j, Index, const TextPlace& p) { return p.head % 2 || j <= i; }), 17},
      {"documents(window([1, 3]), starts=[7, 16])", within([](Index i, Index j, Index, const TextPlace& p) {
         return j <= i && i - j < (p.head % 2 ? 3 : 1);
       }),
       17},
      {"documents(off: causal, starts=[7, 16])",
       within([](Index, Index, Index, const TextPlace&) { return true; }), 17},
      {"!documents(causal, starts=[7, 16])",
       [within](const TextPlace& p) {
         return !within([](Index i, Index j, Index, const TextPlace&) { return j <= i; })(p);
       },
       17},
  });
}

TEST(TextPatterns, ImagesMatchDefinition) {
  const auto inImage = [](Index at, Index first, Index last) { return first <= at && at <= last; };
  expectPatterns({
      {"image([3-9, 14-20])",
       [=](const TextPlace& p) {
         return p.j <= p.i || (inImage(p.i, 3, 9) && inImage(p.j, 3, 9)) ||
                (inImage(p.i, 14, 20) && inImage(p.j, 14, 20));
       },
       21},
      // Adjacent images stay separate.
      {"image([0-3, 4-6])",
       [=](const TextPlace& p) {
         return p.j <= p.i || (inImage(p.i, 0, 3) && inImage(p.j, 0, 3)) ||
                (inImage(p.i, 4, 6) && inImage(p.j, 4, 6));
       },
       7},
      {"image", [](const TextPlace& p) { return p.j <= p.i; }},
  });
}

TEST(TextPatterns, IntervalsMatchDefinition) {
  expectPatterns({
      {"intervals(queries=[0, 3, 5], keys=[0-6, 7-15, 16-23])",
       [](const TextPlace& p) {
         if (p.i < 3) return p.j <= 6;
         if (p.i < 5) return 7 <= p.j && p.j <= 15;
         return 16 <= p.j && p.j <= 23;
       },
       24, 6},
      // If there are fewer spans than parts, the last one repeats. Positions before the first part see
      // nothing.
      {"intervals(queries=[1, 2, 4], keys=[5-5, 2-3])",
       [](const TextPlace& p) {
         if (p.i < 1) return false;
         return p.i < 2 ? p.j == 5 : p.j == 2 || p.j == 3;
       },
       6, 5},
      {"intervals", [](const TextPlace&) { return true; }},
  });
}

/// Whether `j` is on the path from `i` up to the root.
bool onTheWayUp(const Positions& parents, Index prefix, Index i, Index j) {
  for (Index node = i - prefix; node >= 0;) {
    if (node == j - prefix) return true;
    node = node < static_cast<Index>(parents.size()) ? parents[static_cast<std::size_t>(node)] : node - 1;
  }
  return false;
}

PatternCase treeCase(Index prefix, const Positions& parents, Index keysNeeded) {
  std::string text = "tree(prefix=" + std::to_string(prefix) + ", parents=[";
  for (std::size_t k = 0; k < parents.size(); ++k) text += (k ? ", " : "") + std::to_string(parents[k]);
  return {text + "])",
          [prefix, parents](const TextPlace& p) {
            if (p.i < prefix) return p.j <= p.i;
            return p.j < prefix || onTheWayUp(parents, prefix, p.i, p.j);
          },
          keysNeeded};
}

TEST(TextPatterns, DraftTreesMatchDefinition) {
  expectPatterns({
      treeCase(6, {-1, 0, 0, -1, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 11, 14}, 24),
      treeCase(0, {}, 0),
      treeCase(5, {}, 5),
      treeCase(2, {-1, 0, -1, 2, 0}, 7),
      // Parents after their children, in steps of one and wider.
      treeCase(3, {1, 2, 3, -1, 6, 3, 5, 4}, 11),
      treeCase(0, {4, 0, 1, 2, -1, -1, 7, 8, 9, -1}, 10),
      treeCase(1, {3, 0, 3, -1, 2, 4, 5}, 8),
  });
  expectPatterns({{"tree", [](const TextPlace& p) { return p.j <= p.i; }},
                  {"tree(prefix=[2, 4], parents=[-1, 0, 0, 1])",
                   [](const TextPlace& p) {
                     const PatternCase each = treeCase(p.head % 2 ? 4 : 2, {-1, 0, 0, 1}, 0);
                     return each.visible(p);
                   },
                   8}});
}

TEST(TextPatterns, RandomDraftTreesMatchDefinition) {
  Random random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const Index nodes = 1 + pick(random, 12), prefix = pick(random, 4);
    // Nodes get parents that come earlier in a random order, so that there are no cycles.
    Positions order(static_cast<std::size_t>(nodes)), parents(order.size());
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t k = order.size(); k > 1; --k)
      if (trial % 3 > 0) std::swap(order[k - 1], order[static_cast<std::size_t>(pick(random, Index(k)))]);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Index above = trial % 2 ? pick(random, Index(k) + 1) - 1 : Index(k) - 1;
      parents[static_cast<std::size_t>(order[k])] = above < 0 ? -1 : order[static_cast<std::size_t>(above)];
    }
    const PatternCase tree = treeCase(prefix, parents, prefix + nodes);
    const MaskPicture rows = pictureOf(*compiled(tree.text, geometryOf(prefix + nodes, prefix + nodes)));
    for (Index i = 0; i < prefix + nodes; ++i)
      for (Index j = 0; j < prefix + nodes; ++j)
        ASSERT_EQ(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == '#',
                  tree.visible({i, j, i, 0, 0, 0, 0}))
            << tree.text << ", query " << i << ", key " << j;
  }
}

/// The window of Hassani et al. 2023 along one side: centred, and shifted back inside at the edges.
bool inWindow(Index query, Index key, Index side, Index kernel) {
  const Index size = std::min(kernel, side);
  Index first = query - kernel / 2;
  while (first < 0) ++first;
  while (first + size > side) --first;
  return first <= key && key < first + size;
}

struct GridCase {
  Index height, width, kernel;
  std::string arguments() const {
    return "(height=" + std::to_string(height) + ", width=" + std::to_string(width) +
           ", kernel=" + std::to_string(kernel) + ")";
  }
};

constexpr GridCase kGrids[] = {{5, 5, 3}, {4, 6, 3}, {6, 4, 1}, {1, 9, 5}, {9, 1, 3},  {3, 3, 1},
                               {3, 7, 5}, {2, 2, 9}, {5, 5, 5}, {8, 8, 3}, {5, 90, 7}, {1, 1, 1}};

/// The grid's cells in the order of codes with the column in the even bits and the row in the odd bits.
std::vector<std::pair<Index, Index>> mortonOrder(Index height, Index width) {
  std::vector<std::pair<Index, std::pair<Index, Index>>> coded;
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x) {
      Index code = 0;
      for (int bit = 0; bit < 8; ++bit)
        code |= ((x >> bit & 1) << (2 * bit)) | ((y >> bit & 1) << (2 * bit + 1));
      coded.push_back({code, {y, x}});
    }
  std::sort(coded.begin(), coded.end());
  std::vector<std::pair<Index, Index>> cells;
  for (const auto& [code, cell] : coded) cells.push_back(cell);
  return cells;
}

TEST(TextPatterns, NeighborhoodsMatchDefinition) {
  std::vector<PatternCase> cases;
  for (const GridCase& grid : kGrids) {
    const Index height = grid.height, width = grid.width, kernel = grid.kernel;
    cases.push_back({"neighborhood" + grid.arguments(), [=](const TextPlace& p) {
                       if (p.i >= height * width || p.j >= height * width) return false;
                       return inWindow(p.i / width, p.j / width, height, kernel) &&
                              inWindow(p.i % width, p.j % width, width, kernel);
                     }});
    cases.push_back(
        {"neighborhood_z" + grid.arguments(), [=, cells = mortonOrder(height, width)](const TextPlace& p) {
           if (p.i >= height * width || p.j >= height * width) return false;
           const auto [y, x] = cells[static_cast<std::size_t>(p.i)];
           const auto [keyY, keyX] = cells[static_cast<std::size_t>(p.j)];
           return inWindow(y, keyY, height, kernel) && inWindow(x, keyX, width, kernel);
         }});
  }
  expectPatterns(cases);
}

TEST(TextPatterns, HandlesTheLargestGrids) {
  const std::string side = std::to_string(kMaxMaskCount - 1);
  for (const char* name : {"neighborhood", "neighborhood_z"})
    for (const std::string& kernel : {std::string("1"), std::string("3"), side}) {
      const MaskPicture rows = pictureOf(
          *compiled(std::string(name) + "(height=" + side + ", width=" + side + ", kernel=" + kernel + ")",
                    geometryOf(8, 40)));
      EXPECT_EQ(rows.at(7)[7], '#');
      if (kernel == side) {
        EXPECT_EQ(rows.at(7), std::string(40, '#'));
      }
    }
}

TEST(TextPatterns, StructureFillsInMissingArguments) {
  MaskGeometry geometry = geometryOf(6, 6);
  geometry.structure.documentStarts = {0, 2, 5};
  geometry.structure.prefixLength = 4;
  geometry.structure.images = {{1, 4}};
  geometry.structure.globals = {2};
  geometry.structure.treePrefix = 2;
  geometry.structure.parents = {-1, 0, -1, 1};
  geometry.structure.gridHeight = 2;
  geometry.structure.gridWidth = 3;
  geometry.structure.querySegments = {0, 4};
  geometry.structure.keySegments = {{0, 2}, {2, 6}};
  const std::pair<const char*, const char*> pairs[] = {
      {"packed", "packed([2, 5])"},
      {"documents(causal)", "documents(causal, starts=[2, 5])"},
      {"shared_prefix", "shared_prefix([2, 5])"},
      {"prefix_lm", "prefix_lm(4)"},
      {"image", "image([1-3])"},
      {"globals", "globals([2])"},
      {"longformer(window=2)", "longformer(window=2, positions=[2])"},
      {"tree", "tree(prefix=2, parents=[-1, 0, -1, 1])"},
      {"neighborhood(kernel=3)", "neighborhood(height=2, width=3, kernel=3)"},
      {"neighborhood_z(kernel=3)", "neighborhood_z(height=2, width=3, kernel=3)"},
      {"intervals", "intervals(queries=[0, 4], keys=[0-1, 2-5])"},
      {"block_diffusion(2)", "block_diffusion(block=2, half=3)"},
  };
  for (const auto& [left, given] : pairs)
    EXPECT_EQ(picture(left, geometry), picture(given, geometryOf(6, 6))) << left;
}

TEST(TextPatterns, CutsStructureThatDoesNotFit) {
  MaskGeometry geometry = geometryOf(4, 4);
  geometry.structure.documentStarts = {0, 2, 40};
  geometry.structure.prefixLength = 40;
  geometry.structure.images = {{-3, 1}, {2, 40}, {50, 60}};
  geometry.structure.globals = {3, 40};
  geometry.structure.treePrefix = 1;
  geometry.structure.parents = {-1, 40, 0, 2, 2, 2, 2};
  geometry.structure.querySegments = {0, 2, 40};
  geometry.structure.keySegments = {{0, 2}, {3, 40}, {50, 60}};
  EXPECT_EQ(picture("packed", geometry), "#.../##../..#./..##");
  EXPECT_EQ(picture("prefix_lm", geometry), "####/####/####/####");
  EXPECT_EQ(picture("image", geometry), "#.../##../####/####");
  EXPECT_EQ(picture("globals", geometry), "...#/...#/...#/####");
  EXPECT_EQ(picture("tree", geometry), "#.../##../###./##.#");
  EXPECT_EQ(picture("intervals", geometry), "##../##../...#/...#");
  geometry.structure = {};
  geometry.structure.documentStarts = {};
  geometry.structure.gridHeight = 0;
  geometry.structure.gridWidth = -4;
  EXPECT_EQ(picture("packed", geometry), "#.../##../###./####");
  EXPECT_EQ(picture("tree", geometry), "#.../##../###./####");
  EXPECT_EQ(picture("intervals", geometry), "..../..../..../....");
  EXPECT_EQ(picture("neighborhood(kernel=3)", geometry), "#.../..../..../....");
}

}  // namespace
}  // namespace headscope::attention::test
