#include "tests/attention/masks/code_cases.h"

#include <gtest/gtest.h>

namespace headscope::attention::test {

std::shared_ptr<const CellTable> codeCells(Index heads, Index queries, Index keys, bool all) {
  CellTable table{heads, queries, keys, {}};
  for (Index head = 0; head < heads; ++head) {
    for (Index row = 0; row < queries; ++row) {
      // Groups of consecutive rows are equal, and some rows of a painting are untouched.
      const Index like = row / 3;
      if (!all && like % 3 == 1) {
        table.rows.push_back(nullptr);
        continue;
      }
      CellRow cells;
      const auto add = [](KeyRuns& runs, Index key) {
        if (!runs.empty() && runs.back().end == key) {
          ++runs.back().end;
        } else {
          runs.push_back({key, key + 1});
        }
      };
      for (Index key = 0; key < keys; ++key) {
        const Index value = (like * 5 + key / 2 + head) % (all ? 2 : 3);
        if (value < 2) add(value == 0 ? cells.visible : cells.masked, key);
      }
      table.rows.push_back(std::make_shared<const CellRow>(std::move(cells)));
    }
  }
  return std::make_shared<const CellTable>(std::move(table));
}

MaskGeometry codeGeometry(Index queries, Index keys, Index cacheLength, Index heads) {
  MaskGeometry geometry;
  geometry.queries = queries;
  geometry.keys = keys;
  geometry.cacheLength = cacheLength;
  geometry.heads = heads;
  geometry.kvHeads = heads % 2 == 0 ? heads / 2 : heads;
  geometry.keyLength = keys - keys / 5;
  TextMarks marks;
  marks.documentStarts = {{keys / 3, keys / 2, keys - 2}};
  marks.prefixLength = keys / 3;
  marks.images = KeyRuns{{2, 5}, {keys / 2, keys / 2 + 4}};
  marks.globals = {{0, keys / 2}};
  marks.treePrefix = keys / 4;
  marks.parents = {{-1, 0, 0, 1, 1, 2, 9, -1}};
  marks.gridHeight = 4;
  marks.gridWidth = 5;
  geometry.structure = structureOf(queries, keys, marks);
  return geometry;
}

namespace {

class CaseList {
 public:
  std::vector<CodeCase> cases;

  void add(const std::string& text, const MaskGeometry& geometry) {
    MaskSources sources;
    for (const char* name : {"p1", "p 2"})
      sources.paintings[name] = codeCells(name[1] == '1' ? 1 : geometry.heads, 17, 19, false);
    sources.files[fileKey("m.npy", "masked")] = codeCells(1, geometry.queries, geometry.keys, true);
    sources.files[fileKey("h.npy", "visible")] =
        codeCells(geometry.heads, geometry.queries, geometry.keys, true);
    cases.push_back({"case" + std::to_string(cases.size()), text, geometry, std::move(sources)});
  }
};

void addPatterns(CaseList& list) {
  for (const PatternInfo& info : patternTable()) {
    const std::string name(info.name), example(info.example);
    if (!example.empty()) {
      list.add(example, codeGeometry(25, 25));
      list.add("!" + example, codeGeometry(25, 25));
      list.add(example, codeGeometry(5, 25, 20));
      // More queries than keys.
      list.add(example, codeGeometry(31, 25, 2));
      list.add(name, codeGeometry(20, 30, 10));
      list.add(name, codeGeometry(1, 1));
    }
  }
  for (const char* text : {"window(1)",
                           "window_back(0)",
                           "dilated(window=0, step=5)",
                           "sinks(0)",
                           "strided(1)",
                           "streaming(sinks=0)",
                           "fixed(block=3, summary=2)",
                           "fixed(block=3, summary=3)",
                           "bigbird(block=1, random=7, global=0, window=0)",
                           "bigbird(block=40)",
                           "bigbird(block=3, random=4096)",
                           "bigbird(global=1000)",
                           "globals([])",
                           "packed([])",
                           "documents([])",
                           "image([])",
                           "tree(prefix=0, parents=[3, 0, 1, -1])",
                           "tree(prefix=25)",
                           "neighborhood(height=2, width=9, kernel=5)",
                           "neighborhood_z(height=3, width=6, kernel=1)",
                           "neighborhood_z(height=100, width=3, kernel=7)",
                           "neighborhood(height=1000000000, width=1000000000)",
                           "block_diffusion(block=3, half=7)",
                           "block_diffusion(half=1073741824)",
                           "padding(0)",
                           "prefix_lm(0)",
                           "intervals(queries=[], keys=[])",
                           "intervals(queries=[3, 9], keys=[0-6, 2-2])"})
    list.add(text, codeGeometry(25, 25));
}

void addComposed(CaseList& list) {
  const MaskGeometry square = codeGeometry(24, 24, 0, 4), decode = codeGeometry(6, 24, 18, 4);
  for (const MaskGeometry& geometry : {square, decode}) {
    for (const char* text :
         {"",
          "off: causal",
          "causal & (window(5) | sinks(2))",
          "(causal | sinks(3)) & !window(2) | globals([4])",
          "causal & heads(0-1): window([2, 9]) & heads(kv 1): chunked(5)",
          "heads(odd): causal",
          "window([1, 2, 3, 4]) & !(sinks(1) | !(packed & !causal))",
          "causal then heads(3): full then sequences(1): sinks(1)",
          "causal & painted(\"p1\")",
          "painted(\"p1\")",
          "!painted(\"p1\")",
          "causal | painted(\"p1\")",
          "causal then painted(\"p1\")",
          "painted(\"p1\") then causal",
          "painted(\"p1\") & causal",
          "painted(\"p1\") | painted(\"p 2\")",
          "painted(\"p1\") & painted(\"p 2\")",
          "painted(\"p1\") then painted(\"p 2\")",
          "!(painted(\"p1\") & !painted(\"p 2\")) | (painted(\"p 2\") then !painted(\"p1\"))",
          "causal & !(painted(\"p 2\") | sinks(2) then painted(\"p1\"))",
          "file(\"m.npy\", masked)",
          "file(\"h.npy\", visible) & causal",
          "!file(\"m.npy\", masked) then painted(\"p1\")",
          "documents(causal & (window(3) | sinks(1)))",
          "documents(causal_top_left)",
          "documents(bigbird(block=2, random=1, seed=9), starts=[9, 15])",
          "documents(!(full & causal) | sinks(1))",
          "documents(prefix_lm(3) | neighborhood(height=2, width=3), starts=[9, 15])",
          "documents(image([1-3, 5-8]) & globals([0, 4]), starts=[9, 15])",
          "documents(tree(prefix=2, parents=[-1, 0, 1, 1]) | packed([3, 7]), starts=[9, 15])",
          "documents(block_diffusion(block=2, half=4) & padding(5) | neighborhood_z(height=3, width=3), "
          "starts=[9])",
          "documents(heads(1): causal & heads(2): window(2)) & !sinks(1)",
          "neighborhood_z & painted(\"p1\")"})
      list.add(text, geometry);
  }
  MaskGeometry cross = codeGeometry(9, 21, 0, 2);
  cross.cross = true;
  for (const char* text :
       {"causal", "intervals", "intervals & causal & padding", "sinks(3) | (causal & window(2))",
        "file(\"h.npy\", visible) then intervals(queries=[2, 4], keys=[0-5, 3-20])"})
    list.add(text, cross);
}

}  // namespace

std::vector<CodeCase> codeCases() {
  CaseList list;
  addPatterns(list);
  addComposed(list);
  return std::move(list.cases);
}

}  // namespace headscope::attention::test
