#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/widgets/dialog.h"

namespace headscope::app {

/// An unsaved scene: its name, such as "demo.json", and where to find it.
struct UnsavedLine {
  std::string name, place;
  bool hasFile = false;  ///< can be saved without asking for a path
};

/// The question before leaving, which would lose these scenes.
class QuitDialog : public Dialog {
 public:
  /// `save` receives the index in `unsaved` of the scene to save.
  QuitDialog(std::vector<UnsavedLine> unsaved, std::function<void(std::size_t)> save,
             std::function<void()> leave)
      : unsaved_(std::move(unsaved)), save_(std::move(save)), leave_(std::move(leave)) {}
  std::string name() const override { return "discard"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::vector<UnsavedLine> unsaved_;
  const std::function<void(std::size_t)> save_;
  const std::function<void()> leave_;
};

/// The question before replacing a file that something else wrote since this window opened or saved it.
class ChangedFileDialog : public Dialog {
 public:
  ChangedFileDialog(std::string file, std::function<void()> replace, std::function<void()> saveAs)
      : file_(std::move(file)), replace_(std::move(replace)), saveAs_(std::move(saveAs)) {}
  std::string name() const override { return "changed"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::string file_;
  const std::function<void()> replace_, saveAs_;
};

/// The recovered scenes for the pictures, filled in as they arrive.
struct RecoveryPreview {
  std::vector<std::shared_ptr<const Scene>> scenes;
  bool refused = false;  ///< there will be no pictures
};

/// The question whether to restore the work of a window that ended without saving.
class RecoveryDialog : public Dialog {
 public:
  struct OfferedScene {
    std::string name, page, words;  ///< "demo.json", "Heads", and the text its heads read
  };
  struct Offer {
    std::string when, ago;             ///< "24 November 2026, 02:46", "3 minutes"
    std::vector<OfferedScene> scenes;  ///< the scene last worked on comes last
    std::string problem;               ///< why they can't be read; "" = they can
    std::shared_ptr<RecoveryPreview> preview = {};
    std::function<void()> previewed = {};  ///< called when all pictures are settled, or on "Not now"
  };
  RecoveryDialog(Offer offer, std::function<void()> restore, std::function<void()> discard)
      : offer_(std::move(offer)), restore_(std::move(restore)), discard_(std::move(discard)) {}
  std::string name() const override { return "recovery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const Offer offer_;
  const std::function<void()> restore_, discard_;
  bool previewed_ = false;
};

}  // namespace headscope::app
