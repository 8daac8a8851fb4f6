#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/widgets/dialog.h"

namespace headscope::app {

/// A scene that is in no file as it is: "demo.json", and where it is to be found.
struct UnsavedLine {
  std::string name, place;
  bool hasFile = false;  ///< it can be saved without asking where
};

/// Leaving would lose these scenes.
class LeaveQuestion : public Dialog {
 public:
  /// `save` gets the place in `unsaved` of the one to be saved.
  LeaveQuestion(std::vector<UnsavedLine> unsaved, std::function<void(std::size_t)> save,
                std::function<void()> leave)
      : unsaved_(std::move(unsaved)), save_(std::move(save)), leave_(std::move(leave)) {}
  std::string name() const override { return "discard"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::vector<UnsavedLine> unsaved_;
  const std::function<void(std::size_t)> save_;
  const std::function<void()> leave_;
};

/// The scenes that can be had back, as they come, for their pictures.
struct RecoveryPreview {
  std::vector<std::shared_ptr<const Scene>> scenes;
  bool refused = false;  ///< there will be no pictures
};

/// A window ended without saving: what it kept can be had back.
class RecoveryQuestion : public Dialog {
 public:
  struct OfferedScene {
    std::string name, page, words;  ///< "demo.json", "Heads", and what its heads read
  };
  struct Offer {
    std::string when, ago;             ///< "24 November 2026, 02:46", "3 minutes"
    std::vector<OfferedScene> scenes;  ///< what was worked on comes last
    std::string problem;               ///< why they can't be read; "" = they can
    std::shared_ptr<RecoveryPreview> preview = {};
    std::function<void()> previewed = {};  ///< called once all pictures are there
  };
  RecoveryQuestion(Offer offer, std::function<void()> restore, std::function<void()> discard)
      : offer_(std::move(offer)), restore_(std::move(restore)), discard_(std::move(discard)) {}
  std::string name() const override { return "recovery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const Offer offer_;
  const std::function<void()> restore_, discard_;
  bool previewed_ = false;
};

}  // namespace headscope::app
