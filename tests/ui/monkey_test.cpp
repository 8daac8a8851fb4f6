// A random user who moves, clicks, scrolls, types, resizes, opens, resets and undoes. The program only has to
// keep running.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/scene_json.h"
#include "render/gl.h"
#include "tests/app/scene/random_scene.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::InputEvent;
using app::Key;
using app::Mods;

/// All choices come from one seed, so that a failure can be reproduced.
class Monkey {
 public:
  explicit Monkey(std::uint64_t seed) : dice_(seed), views_(pageViews()) {
    std::filesystem::copy_file(attention::test::goldenModel("gpt2") / "model.safetensors",
                               folder_ / "weights.safetensors");
    std::ofstream(folder_ / "broken.json") << "{\"setup\": 3";
    std::ofstream(folder_ / "text.txt") << "the cat sat on the mat because it was tired";
    if (!app::writeScene(folder_ / "scene.json", randomScene(dice_, {})))
      throw std::runtime_error("a scene can't be written");
  }

  /// Sends one event and draws the frames that follow it.
  void act() {
    struct Kind {
      std::size_t share;
      void (Monkey::*act)();
    };
    static constexpr Kind kKinds[] = {{24, &Monkey::move},  {24, &Monkey::click}, {6, &Monkey::drag},
                                      {10, &Monkey::wheel}, {14, &Monkey::press}, {6, &Monkey::type},
                                      {6, &Monkey::resize}, {5, &Monkey::look},   {2, &Monkey::open},
                                      {2, &Monkey::undo},   {1, &Monkey::reset},  {2, &Monkey::settle}};
    std::size_t all = 0;
    for (const Kind& kind : kKinds) all += kind.share;
    std::size_t chosen = dice_.below(all);
    const Kind* kind = kKinds;
    for (; chosen >= kind->share; ++kind) chosen -= kind->share;
    (this->*kind->act)();
    frames(1 + dice_.below(3));
    keepOffTheDisk();
  }
  UiDriver& ui() { return ui_; }

 private:
  void frames(std::size_t count) { ui_.frames(static_cast<int>(count)); }
  void push(InputEvent event) { ui_.app().input().push(std::move(event)); }
  void button(int which, bool down) {
    InputEvent event;
    event.kind = InputEvent::Kind::mouseButton;
    event.button = which;
    event.down = down;
    push(event);
  }
  void key(Key which, Mods mods = {}) {
    ui_.pushKey(which, mods, true);
    ui_.pushKey(which, mods, false);
    ui_.pushKey(Key::none, {}, false);
  }

  /// Moves to a control or to any place, equally often.
  void move() {
    InputEvent event;
    event.x = static_cast<float>(dice_.real(-20, width_ + 20));
    event.y = static_cast<float>(dice_.real(-20, height_ + 20));
    const auto& tracked = app::allTracked();
    if (!tracked.empty() && dice_.coin()) {
      auto at = tracked.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(dice_.below(tracked.size())));
      event.x = static_cast<float>(dice_.real(at->second.Min.x, at->second.Max.x));
      event.y = static_cast<float>(dice_.real(at->second.Min.y, at->second.Max.y));
    }
    push(event);
  }
  void click() {
    move();
    const int which = dice_.oneIn(6) ? 1 : 0;
    for (std::size_t i = dice_.oneIn(5) ? 2 : 1; i > 0; --i) {
      button(which, true);
      button(which, false);
    }
  }
  void drag() {
    move();
    button(0, true);
    for (int i = 0; i < 4; ++i) {
      frames(1);
      move();
    }
    button(0, false);
  }
  void wheel() {
    InputEvent event;
    event.kind = InputEvent::Kind::wheel;
    event.y = static_cast<float>(dice_.real(-4, 4));
    event.x = dice_.oneIn(4) ? static_cast<float>(dice_.real(-4, 4)) : 0;
    event.mods.ctrl = dice_.oneIn(3);
    event.mods.shift = dice_.oneIn(4);
    push(event);
  }
  void press() {
    static constexpr Key kKeys[] = {Key::left,  Key::right,  Key::up,     Key::down,      Key::home,
                                    Key::end,   Key::tab,    Key::del,    Key::backspace, Key::space,
                                    Key::enter, Key::escape, Key::pageUp, Key::pageDown};
    if (dice_.coin()) return key(dice_.pick(kKeys), {.ctrl = dice_.oneIn(6), .shift = dice_.oneIn(5)});
    const auto letter =
        static_cast<Key>(dice_.oneIn(3) ? '0' + dice_.between(0, 9) : 'A' + dice_.between(0, 25));
    const Mods mods{.ctrl = dice_.oneIn(4), .shift = dice_.oneIn(6)};
    if (mods.ctrl && letter == static_cast<Key>('N')) return reset();
    key(letter, mods);
  }
  void type() {
    static constexpr const char* kTexts[] = {
        "the cat sat",        "12.5",  "-3",    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC",
        "causal & window(4)", "1e308", "(((((", "…✓"};
    for (const std::string_view text{dice_.pick(kTexts)}; const char c : text) {
      InputEvent event;
      event.kind = InputEvent::Kind::text;
      event.codepoint = static_cast<unsigned char>(c);
      push(event);
    }
  }
  void resize() {
    const bool small = dice_.coin();
    width_ = static_cast<int>(dice_.between(320, small ? 1000 : 3840));
    height_ = static_cast<int>(dice_.between(240, small ? 800 : 2160));
    ui_.app().resize(width_, height_, static_cast<float>(dice_.real(0.8, 3)));
    ui_.view().preferences.textSize = static_cast<float>(dice_.real(0.8, 2.5));
    ui_.view().redraw();
  }
  void look() { ui_.session().scene().cursor = dice_.pick(views_).cursor; }
  void open() {
    const std::string models[] = {attention::test::goldenModel("qwen2").string(),
                                  attention::test::goldenModel("bert").string()};
    const std::string files[] = {(folder_ / "scene.json").string(),
                                 (folder_ / "broken.json").string(),
                                 (folder_ / "weights.safetensors").string(),
                                 (folder_ / "text.txt").string(),
                                 (folder_ / "missing").string(),
                                 models[0],
                                 models[1]};
    InputEvent event;
    event.kind = InputEvent::Kind::drop;
    event.paths = {dice_.pick(files)};
    push(event);
  }
  void undo() { key(static_cast<Key>('Z'), {.ctrl = true, .shift = dice_.oneIn(3)}); }
  void reset() { key(static_cast<Key>('N'), kCtrl); }
  void settle() { ui_.draw(); }

  /// Closes any dialog that might write a file or read folders other than its own.
  void keepOffTheDisk() {
    const std::string dialog = ui_.dialog();
    for (const char* own :
         {"", "palette", "shortcuts", "gallery", "convention", "lesson.steps", "lesson.wrong", "discard"})
      if (dialog == own) return;
    key(Key::escape);
    frames(1);
  }

  TemporaryFolder folder_;
  Dice dice_;
  std::vector<PageView> views_;
  int width_ = 1280, height_ = 720;
  UiDriver ui_{1280, 720};
};

/// A few hundred events in the normal run; HEADSCOPE_MONKEY="7 20000" for 20,000 with seed 7.
TEST(Monkey, RandomInputNeverCrashes) {
  std::uint64_t seed = 1;
  int count = 400;
  if (const char* asked = std::getenv("HEADSCOPE_MONKEY"))
    if (std::sscanf(asked, "%lu %d", &seed, &count) != 2) FAIL() << "HEADSCOPE_MONKEY is \"SEED COUNT\"";
  Monkey monkey(seed);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(fmt::format("event {} of seed {}", i, seed));
    ASSERT_NO_THROW(monkey.act());
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    ASSERT_TRUE(app::validate(monkey.ui().scene()).ok());
    if (count > 2000 && i % 1000 == 0) std::cout << i << " events\n" << std::flush;
  }
}

}  // namespace
}  // namespace headscope::test
