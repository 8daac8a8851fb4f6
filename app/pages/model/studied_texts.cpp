#include <fmt/core.h>

#include "app/pages/model/model_answers.h"

namespace headscope::app::model_page {

using attention::Error;
using attention::Result;

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

Result<std::shared_ptr<const TextFile>> readTextFile(const std::filesystem::path& path) {
  const auto bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  const std::string name = attention::shownPath(path.filename());
  auto texts = parseStudiedTexts({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, name);
  if (!texts) return texts.error();
  if (std::ssize(*texts) > kMaxStudiedTexts)
    return Error{fmt::format("{} has {} texts; the window studies at most {}. Use headscope study for more",
                             name, texts->size(), kMaxStudiedTexts)};
  return std::make_shared<const TextFile>(TextFile{name, *std::move(texts)});
}

/// The example texts of the model's skills, with their counterparts.
TextFile exampleTexts(const OpenModel& opened) {
  TextFile file{"Example texts", {}};
  for (const LearnedSkill& skill : opened.learned.skills) {
    StudiedText text;
    text.line = std::ssize(file.texts) + 1;
    text.text = skill.text;
    if (!skill.other.empty()) {
      text.other = skill.other;
      text.answer = skill.next;
      text.otherAnswer = skill.otherNext;
    }
    file.texts.push_back(std::move(text));
  }
  return file;
}

void showTexts(Scene& scene, const std::string& name) {
  scene.compare.texts = name;
  scene.cursor.page = "model";
  scene.cursor.model.view = ModelView::study;
}

}  // namespace

void StudiedTexts::open(const std::filesystem::path& path, const Requester& requester,
                        const Outcome& outcome) {
  services_.files.read<std::shared_ptr<const TextFile>>(
      path, [path] { return readTextFile(path); },
      [this, path, requester, outcome](Result<std::shared_ptr<const TextFile>> file) {
        if (!file) return outcome.fail(file.error().message);
        const std::string full = fullPath(path);
        const std::string name = (*file)->name;
        const auto taken = requester.edit(name, [&](Scene& scene) {
          bundled_.onShown(scene, [&](Scene& shown) { showTexts(shown, full); });
        });
        if (!taken) return outcome.fail(taken.error().message);
        takeFile(full, *std::move(file));
        outcome.done("Opened " + name);
      });
}

void StudiedTexts::takeFile(const std::string& name, std::shared_ptr<const TextFile> file) {
  StudyState& texts = page_.texts;
  texts.name = name;
  texts.problem.clear();
  texts.file = std::move(file);
  texts.begins = true;
  texts.first = 0;
}

/// Reads the file that the scene names if it has changed, as when a scene is opened or an edit is undone.
void StudiedTexts::read(const Scene& scene) {
  StudyState& texts = page_.texts;
  const std::string& name = scene.compare.texts;
  const OpenModel& opened = *scene.setup.subject.opened;
  if (texts.name == name) return;
  if (!texts.name.empty()) {
    run_.forget();
    texts.file = nullptr;
    texts.problem.clear();
    texts.name.clear();
  }
  if (!page_.texts.shown) return;  // read only when needed
  texts.name = name;
  if (name == kExampleTexts) {
    if (opened.learned.skills.empty())
      texts.problem = opened.name + " has no example texts";
    else
      takeFile(name, std::make_shared<const TextFile>(exampleTexts(opened)));
  } else if (!name.empty()) {
    services_.files.read<std::shared_ptr<const TextFile>>(
        name, [name] { return readTextFile(name); },
        [this, name](Result<std::shared_ptr<const TextFile>> file) {
          if (page_.texts.name != name) return;
          if (file)
            takeFile(name, *std::move(file));
          else
            page_.texts.problem = file.error().message;
          services_.view.redraw();
        });
  }
}

void StudiedTexts::forget() {
  run_.forget();
  page_.texts = {};
}

bool StudiedTexts::take() {
  TextsRun::Progress now = run_.progress();
  TextsRun::Progress& shown = page_.texts.progress;
  const bool any = now.study != shown.study || now.done != shown.done || now.runs != shown.runs;
  shown = std::move(now);
  return any;
}

void StudiedTexts::ask(const Scene& scene) {
  StudyState& texts = page_.texts;
  page_.texts.shown = scene.cursor.model.view == ModelView::study;
  read(scene);
  if (!texts.file) return;
  if (page_.texts.shown && std::exchange(texts.begins, false)) {
    run_.start(textsQuestion(scene.setup, texts.file));
    take();
  }
  const auto& study = texts.progress.study;
  texts.stale = page_.texts.shown && study && !(study->question == textsQuestion(scene.setup, texts.file));
}

std::vector<Action> StudiedTexts::actions() {
  const char* const words = "study many texts detectors ablation attribution patching table scatter";
  return {
      {.id = "model.texts",
       .name = "Measure every head on many texts…",
       .whileTyping = true,
       .words = words,
       .run =
           [this](Scene&) {
             services_.ask({"Open a file of texts",
                            {".jsonl", ".txt"},
                            "",
                            [this](Scene&, const auto& path, const Outcome& outcome) {
                              open(path, services_.requester(), outcome);
                            }});
           }},
      {.id = "model.texts.examples",
       .name = "Measure every head on the example texts",
       .whileTyping = true,
       .words = words,
       .run =
           [this](Scene& scene) {
             const auto& opened = scene.setup.subject.opened;
             if (!opened || opened->learned.skills.empty())
               return page_.view.say("This model has no example texts");
             showTexts(scene, kExampleTexts);
           }},
      {.id = "model.texts.again",
       .name = "Measure the texts again",
       .run = [this](Scene&) { page_.texts.begins = page_.texts.file != nullptr; }},
      {.id = "model.texts.stop",
       .name = "Stop or resume measuring texts",
       .run =
           [this](Scene&) {
             if (page_.texts.progress.runs)
               run_.stop();
             else
               page_.texts.begins = page_.texts.file != nullptr;
             take();
           }},
  };
}

}  // namespace headscope::app::model_page
