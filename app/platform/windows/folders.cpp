#include "app/platform/folders.h"

#include <windows.h>

#include <cstdlib>
#include <string>

#include "app/platform/preferences.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

fs::path named(const wchar_t* variable) {
  const wchar_t* const folder = _wgetenv(variable);
  return folder ? folder : L"";
}

fs::path own(const wchar_t* variable) {
  const fs::path folder = named(variable);
  return folder.empty() ? folder : folder / "headscope";
}

}  // namespace

fs::path thisProgram() {
  constexpr DWORD kLongest = 32768;
  std::wstring name(kLongest, L'\0');
  name.resize(GetModuleFileNameW(nullptr, name.data(), kLongest));
  return name;
}

fs::path programFolder() {
  return thisProgram().parent_path();
}

fs::path homeFolder() {
  return named(L"USERPROFILE");
}

fs::path configurationFolder() {
  return own(L"APPDATA");
}

fs::path stateFolder() {
  return own(L"LOCALAPPDATA");
}

}  // namespace headscope::app
