#include "app/widgets/actions.h"

#include <array>

namespace headscope::app {

namespace {

constexpr Mods kCtrl{.ctrl = true};
constexpr Mods kCtrlShift{.ctrl = true, .shift = true};

constexpr std::array kActions{
    ActionInfo{Action::openScene, "Open scene…", "Scene", {Key::o, kCtrl}, true},
    ActionInfo{Action::saveScene, "Save scene", "Scene", {Key::s, kCtrl}, true},
    ActionInfo{Action::saveSceneAs, "Save scene as…", "Scene", {Key::s, kCtrlShift}, true},
    ActionInfo{Action::resetScene, "Back to the opening scene", "Scene", {Key::n, kCtrl}, true},
    ActionInfo{Action::openWeights, "Load weights from a file…", "Scene", {}, true},
    ActionInfo{Action::openMapFile, "Map queries and keys from a file…", "Scene", {}, true},
    ActionInfo{Action::openTable, "Load embeddings from a file…", "Scene", {}, true},
    ActionInfo{Action::editTable, "Edit embeddings as a table", "Scene", {Key::t, kCtrl}, true},
    ActionInfo{Action::undo, "Undo", "Edit", {Key::z, kCtrl}, true},
    ActionInfo{Action::redo, "Redo", "Edit", {Key::z, kCtrlShift}, true},
    ActionInfo{Action::stopComputing, "Stop computing: back to what is shown", "Edit", {}, true},
    ActionInfo{Action::backToGrid, "Back to all heads", "Look", {Key::escape, {}}, false},
    ActionInfo{Action::nextHead, "Next head", "Look", {Key::pageDown, {}}, false},
    ActionInfo{Action::previousHead, "Previous head", "Look", {Key::pageUp, {}}, false},
    ActionInfo{Action::present, "Present: heads alone", "Look", {Key::p, {}}, false},
    ActionInfo{Action::toggleReceipt, "Show or hide the receipt", "Look", {Key::r, {}}, false},
    ActionInfo{
        Action::toggleDecode, "Start or leave the decode", "Decode", {static_cast<Key>('D'), {}}, false},
    ActionInfo{Action::playDecode, "Play or pause the decode", "Decode", {Key::space, {}}, false},
    ActionInfo{Action::stepForward, "Decode one token", "Decode", {Key::period, {}}, false},
    ActionInfo{Action::stepBack, "Take one token back", "Decode", {Key::comma, {}}, false},
    ActionInfo{Action::showHeads, "Go to the heads", "Mask", {static_cast<Key>('1'), {}}, false},
    ActionInfo{Action::showMask, "Go to the mask studio", "Mask", {static_cast<Key>('2'), {}}, false},
    ActionInfo{Action::showMap, "Go to the map", "Mask", {static_cast<Key>('3'), {}}, false},
    ActionInfo{Action::maskGallery, "Add a mask pattern…", "Mask", {static_cast<Key>('G'), {}}, false},
    ActionInfo{Action::toggleCell, "Mask or show the cell under the crosshair", "Mask", {Key::x, {}}, false},
    ActionInfo{Action::openMask, "Load a mask from a file…", "Mask", {}, true},
    ActionInfo{Action::saveMask, "Save the mask to a file…", "Mask", {}, true},
    ActionInfo{Action::copyMaskText, "Copy the mask as an expression", "Mask", {}, true},
    ActionInfo{Action::copyMaskFormula, "Copy the mask as a formula", "Mask", {}, true},
    ActionInfo{Action::copyMaskFlex, "Copy the mask as FlexAttention code", "Mask", {}, true},
    ActionInfo{Action::copyMaskTorch, "Copy the mask as PyTorch code", "Mask", {}, true},
    ActionInfo{Action::copyMaskNumpy, "Copy the mask as NumPy code", "Mask", {}, true},
    ActionInfo{Action::toggleTheme, "Dark or light", "Appearance", {Key::l, kCtrl}, true},
    ActionInfo{Action::textLarger, "Larger text", "Appearance", {Key::equal, kCtrl}, true},
    ActionInfo{Action::textSmaller, "Smaller text", "Appearance", {Key::minus, kCtrl}, true},
    ActionInfo{Action::textReset, "Text at its normal size", "Appearance", {Key::d0, kCtrl}, true},
    ActionInfo{Action::toggleMotion, "Reduce motion", "Appearance", {}, true},
    ActionInfo{Action::palette, "All actions…", "Help", {Key::k, kCtrl}, true},
    ActionInfo{Action::shortcuts, "Keyboard and mouse", "Help", {Key::f1, {}}, true},
    ActionInfo{Action::quit, "Quit", "Help", {static_cast<Key>('Q'), kCtrl}, true},
};

}  // namespace

std::span<const ActionInfo> allActions() {
  return kActions;
}

const ActionInfo& infoOf(Action action) {
  for (const ActionInfo& info : kActions)
    if (info.action == action) return info;
  return kActions.back();
}

std::string shortcutText(const KeyPress& press) {
  if (press.key == Key::none) return "";
  std::string text;
  if (press.mods.ctrl) text += "Ctrl+";
  if (press.mods.shift) text += "Shift+";
  if (press.mods.alt) text += "Alt+";
  switch (press.key) {
    case Key::space:
      return text + "Space";
    case Key::escape:
      return text + "Esc";
    case Key::f1:
      return text + "F1";
    case Key::pageUp:
      return text + "Page Up";
    case Key::pageDown:
      return text + "Page Down";
    case Key::equal:
      return text + "+";
    case Key::minus:
      return text + "−";
    default:
      return text + static_cast<char>(press.key);
  }
}

}  // namespace headscope::app
