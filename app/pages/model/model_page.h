#pragma once

#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// All heads of all layers of a model on one text, its next-token predictions, and how switching heads off
/// changes them.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> moreActions() override { return bundled_.moreActions(); }
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void arrange(Document& own) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void releaseMemory() override { forgetModel(); }
  void reset() override;
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  FigureLegend legend(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override { return page_.pictures.bytes(); }
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  // These take the scene as the page shows it: with the bundled model if none is open.
  bool takeShown(const Scene& scene);
  void prepareShown(Scene& scene);
  void drawShown(Scene& scene, const Layout& layout);
  void askShown(const Scene& scene);

  void takeCompared(const Scene& scene);
  void askAboutRecorded(const Scene& scene);
  void fitCursor(Cursor& cursor);
  void forgetModel();

  PageServices& services_;
  State page_;
  std::shared_ptr<const OpenModel> opened_;  ///< the scene's model at the last take()
  bool stack_ = false;                       ///< that scene had synthetic layers
  bool compares_ = false;                    ///< page_.layers were shownCompared() at the last take()
  bool keepsPicture_ = false;  ///< the old picture stays until the file's new version has been studied

  Opener opener_;
  BundledModel bundled_;
  StudiedTexts texts_;
  RecordedWatch watch_;
};

// What the page does with its state, apart from drawing panels and asking questions.

/// The page's layout, with the large head widened into the space that the thumbnails leave.
Layout divided(const State& page, Layout layout);
/// Height of the strip of tokens in pixels; 0 for a model that reads pictures.
float stripHeight(const State& page, const Layout& layout);
/// Whether the strip leaves out ranks, losses and the KV cache: while presenting, in low windows, for
/// recorded and synthetic layers, and for models of many layers.
bool foldsStrip(const State& page, const Layout& layout);

/// Draws the page while it is presented.
void drawPresented(Scene& scene, State& page, Layout layout);

/// Shows the synthetic layers as they were last run; the sliders may have moved since.
void showStack(State& page, const Setup& setup);

/// Appends one generated token to the studied text. Returns false if generation can't continue.
bool writeOn(Scene& scene, const ModelStudy& study);
/// Seconds before the next token is generated, so that each can be read.
constexpr double kWriteInterval = 0.12;
/// Generates the next token if generation is on, the last token is studied and kWriteInterval has passed.
void advanceWriting(Scene& scene, State& page);
/// Replaces a generated word with the one typed in its place, and drops the tokens after it.
void changeToken(Scene& scene, State& page);

std::vector<Action> pairActions();
std::vector<Action> playActions(State& page);
std::vector<Action> headActions(State& page);
std::vector<Action> switchActions(const State& page);
std::vector<Action> filterActions(const State& page);
std::vector<Action> moveActions(State& page);

}  // namespace headscope::app::model_page
