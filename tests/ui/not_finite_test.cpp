// A checkpoint with NaN or infinity in a tensor: every page can be drawn and names the tensor.

#include <gtest/gtest.h>

#include <limits>

#include "app/pages/model/model_page.h"
#include "app/platform/ui_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "render/gl.h"
#include "tests/attention/models/poisoned_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using attention::test::PoisonedCheckpoint;

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kBeyondAll = std::numeric_limits<float>::infinity();

class NotFinite : public testing::Test {
 protected:
  void open(const PoisonedCheckpoint& checkpoint) {
    const std::string folder = checkpoint.path().string();
    const auto opened = app::openModel(folder);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    scene_ = app::openingScene();
    app::adoptModel(scene_, folder, *opened);
    scene_.setup.subject.layer = 1;
  }
  void show(const PageView& view) {
    app::Scene scene = withView(scene_, view);
    scene.cursor.model.layer = scene.setup.subject.layer;
    ui.show(scene);
  }
  /// The status line's message about the numbers shown, or "".
  std::string said() {
    app::uiState().watches = true;
    ui.frames(1);
    for (const app::DrawnText& text : app::uiState().texts)
      if (text.text.find("so not all numbers") != std::string::npos) return text.text;
    return "";
  }

  UiDriver ui{1920, 1080};
  app::Scene scene_;
};

/// One tensor after another with each of the three values, each on a view or two; HEADSCOPE_ALL_VIEWS for
/// every view.
TEST_F(NotFinite, DrawsPagesForNonFiniteValuesInAnyTensor) {
  const std::vector<PageView> views = pageViews();
  for (const char* family : {"gpt2", "llama"}) {
    PoisonedCheckpoint checkpoint(family);
    std::size_t turn = 0;
    for (const std::string& name : checkpoint.tensors())
      for (const float value : {kNoNumber, kBeyondAll, -kBeyondAll}) {
        SCOPED_TRACE(std::string(family) + ", " + name + ", " + std::to_string(value));
        // One number, or so many that every head has some.
        checkpoint.write(name, value, turn % 2 ? 3 : 0, turn % 2 ? std::size_t{1} << 40 : 7);
        open(checkpoint);
        const char* asked = std::getenv("HEADSCOPE_ALL_VIEWS");
        for (std::size_t i = 0; i < views.size(); ++i)
          if (asked || (i + turn) % 13 == 0) {
            SCOPED_TRACE(views[i].name);
            show(views[i]);
            ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
          }
        ++turn;
      }
  }
}

/// Every view, with a tensor that affects all numbers.
TEST_F(NotFinite, DrawsEveryViewWithNonFiniteQueries) {
  PoisonedCheckpoint checkpoint("gpt2");
  for (const float value : {kNoNumber, kBeyondAll, -kBeyondAll}) {
    checkpoint.write("transformer.h.0.attn.c_attn.bias", value, 0, 1);
    open(checkpoint);
    for (const PageView& view : pageViews()) {
      SCOPED_TRACE(view.name);
      show(view);
      for (const float at : {0.3f, 0.6f}) ui.moveTo(1920 * at, 1080 * at);
    }
  }
}

TEST_F(NotFinite, PagesNameTheNonFiniteTensor) {
  PoisonedCheckpoint checkpoint("gpt2");
  const std::string name = "transformer.h.1.attn.c_attn.bias";
  ASSERT_THAT(checkpoint.tensors(), testing::Contains(name));
  checkpoint.write(name, kNoNumber, 2, std::size_t{1} << 40);
  open(checkpoint);
  for (const PageView& view : pageViews())
    for (const char* page : {"heads", "mask", "lab", "cache", "model", "map"})
      if (view.name == page) {
        show(view);
        EXPECT_THAT(said(), testing::AllOf(HasSubstr(name), HasSubstr("is NaN at [2]"), HasSubstr("layer 1")))
            << page;
      }
  scene_.setup.subject.layer = 0;
  for (const PageView& view : pageViews())
    if (view.name == "heads") {
      show(view);
      EXPECT_EQ(said(), "") << "layer 0 reads nothing of it";
    }
}

TEST_F(NotFinite, ModelPageNamesTensorUsedForPredictions) {
  PoisonedCheckpoint checkpoint("gpt2");
  checkpoint.write("transformer.ln_f.weight", kBeyondAll, 0, std::size_t{1} << 40);
  open(checkpoint);
  for (const PageView& view : pageViews())
    if (view.name == "model") {
      show(view);
      EXPECT_THAT(said(), testing::AllOf(HasSubstr("transformer.ln_f.weight"), HasSubstr("infinite"),
                                         HasSubstr("predictions")));
    }
}

}  // namespace
}  // namespace headscope::test
