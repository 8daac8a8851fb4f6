#pragma once

// The page Model, and attention as another program might have recorded it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "app/pages/model/model_page.h"
#include "app/platform/preferences.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {

using attention::Index;

class ModelHeads : public testing::Test {
 protected:
  ModelHeads() { app::saveRecent({}); }  // clears entries of earlier tests
  const app::model_page::State& page() { return ui.session().page<app::model_page::Page>().state(); }
  void open(const std::filesystem::path& path) {
    ui.key(static_cast<app::Key>('7')).drop({path.string()});
    ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  }
  /// Opens a pair of texts of the bundled model, and waits for its patches.
  void openPair(const std::string& skill) {
    ui.request("model.pair." + skill);
    const auto whole = [](const auto& grid) { return grid && grid->done == grid->of && grid->of > 0; };
    for (int i = 0; i < 200 && !(page().pair && whole(page().headGrid) && whole(page().tokenGrid)); ++i)
      ui.draw();
    ASSERT_TRUE(page().pair && page().pair->b) << page().pair.problem();
  }
  const std::vector<Index>& written() { return ui.scene().setup.subject.written; }
  /// The heads of B or B − A if they are shown.
  const app::model_page::Layers* compared() { return app::model_page::shownCompared(ui.scene(), page()); }
  /// Waits for what is computed about the selection.
  void rest() { ui.wait(0.5).draw(); }

  UiDriver ui;
};

/// softmax(scale·q·k) of random q and k over the visible keys, for `n` queries and `m` keys.
struct Recording {
  Index layers, heads, n, m, dims;
  std::vector<float> attention, q, k, v;

  Recording(Index layers_, Index heads_, Index n_, Index m_, Index dims_, float scale, bool causal)
      : layers(layers_), heads(heads_), n(n_), m(m_), dims(dims_) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, Index rows) {
      values.resize(static_cast<std::size_t>(layers * heads * rows * dims));
      for (float& value : values) value = normal(random);
    };
    fill(q, n);
    fill(k, m);
    fill(v, m);
    for (Index head = 0; head < layers * heads; ++head)
      for (Index i = 0; i < n; ++i) {
        std::vector<double> weights;
        double sum = 0;
        for (Index j = 0; j < m; ++j) {
          double dot = 0;
          for (Index d = 0; d < dims; ++d)
            dot += static_cast<double>(at(q, head, n, i, d)) * static_cast<double>(at(k, head, m, j, d));
          const bool sees = !causal || j <= i + m - n;
          weights.push_back(sees ? std::exp(static_cast<double>(scale) * dot) : 0);
          sum += weights.back();
        }
        for (const double weight : weights) attention.push_back(static_cast<float>(weight / sum));
      }
  }
  float at(const std::vector<float>& values, Index head, Index rows, Index row, Index d) const {
    return values[static_cast<std::size_t>((head * rows + row) * dims + d)];
  }

  void save(const std::filesystem::path& path, bool withParts,
            std::map<std::string, std::string> metadata = {}) {
    attention::SafetensorsFile file;
    const auto put = [&](const char* name, const std::vector<float>& values, Index rows, Index cols) {
      file.tensors[name] = attention::fromFloats(
          values, {static_cast<std::uint64_t>(layers), static_cast<std::uint64_t>(heads),
                   static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)});
    };
    put("attention", attention, n, m);
    if (withParts) {
      put("q", q, n, dims);
      put("k", k, m, dims);
      put("v", v, m, dims);
    }
    file.metadata = std::move(metadata);
    ASSERT_TRUE(attention::writeSafetensors(path.string(), file).ok());
  }
};

}  // namespace headscope::test
