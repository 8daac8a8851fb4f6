#pragma once

#include <span>
#include <string>

#include "app/platform/input_queue.h"

namespace headscope::app {

/// Everything that can be done by name: from the keyboard, the action list (Ctrl+K) or a button.
enum class Action {
  openScene,
  saveScene,
  saveSceneAs,
  resetScene,
  openWeights,
  openMapFile,
  openTable,
  editTable,
  undo,
  redo,
  stopComputing,
  backToGrid,
  nextHead,
  previousHead,
  present,
  toggleReceipt,
  toggleDecode,
  playDecode,
  stepForward,
  stepBack,
  showHeads,
  showMask,
  showMap,
  maskGallery,
  toggleCell,
  openMask,
  saveMask,
  copyMaskText,
  copyMaskFormula,
  copyMaskFlex,
  copyMaskTorch,
  copyMaskNumpy,
  addMaskFile,
  toggleTheme,
  textLarger,
  textSmaller,
  textReset,
  toggleMotion,
  palette,
  shortcuts,
  quit
};

struct ActionInfo {
  Action action;
  const char* name;  ///< for the list: a verb and what it acts on
  const char* section;
  KeyPress shortcut;  ///< Key::none where there is none
  bool whileTyping;   ///< acts even when a text box has the keyboard
};

/// One table for shortcuts, the action list and the shortcut sheet.
std::span<const ActionInfo> allActions();
const ActionInfo& infoOf(Action action);
/// "Ctrl+Shift+Z".
std::string shortcutText(const KeyPress& press);

}  // namespace headscope::app
