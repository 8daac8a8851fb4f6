# Sourced by app/run and tests/run: the packages Headscope needs, and the steps from a checkout to a program.
# Messages go to standard error, so that the program's own output can be piped.
#
# Two environment variables select another build: HEADSCOPE_BUILD_DIR is its folder (relative to the current
# one; default: build/ in the checkout), and HEADSCOPE_CMAKE_ARGS holds more arguments for cmake.
# shellcheck shell=bash disable=SC2034

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
buildFolder=$(realpath -m -- "${HEADSCOPE_BUILD_DIR:-$root/build}")

# The names are those of Debian 12. The Mesa packages provide the software renderer for machines without a graphics card.
programPackages=(
  g++ cmake ninja-build pkgconf
  libimgui-dev libglfw3-dev libxcb1-dev libepoxy-dev libegl-dev libgl-dev
  libgl1-mesa-dri libegl-mesa0 libglx-mesa0
  libeigen3-dev libhwy-dev nlohmann-json3-dev libcli11-dev libfmt-dev libutf8proc-dev libpcre2-dev libzip-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev libmd4c-dev
  libfreetype-dev libharfbuzz-dev libfribidi-dev libfontconfig-dev libcairo2-dev fontconfig fonts-inter fonts-jetbrains-mono fonts-dejavu-core
)
testPackages=(
  libgtest-dev libgmock-dev libstb-dev xvfb xdotool python3-numpy binutils qemu-user ffmpeg poppler-utils
  fonts-hosny-amiri fonts-lohit-deva fonts-tlwg-loma-ttf
)

# Needed to build packages: tools for the icon's sizes and the package formats.
packagingPackages=(librsvg2-bin dpkg-dev file gzip)

say() { printf '%s\n' "$*" >&2; }

missingPackages() {
  local installed package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -qxF -- "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

explainByHand() {
  say "This system has no apt-get, so its packages can't be installed from here."
  say "Headscope needs g++ 12 or clang++ 14, CMake 3.25, Ninja, pkg-config, and the libraries with their headers:"
  say "  Dear ImGui (with imgui.pc), GLFW 3.3, XCB, libepoxy, EGL and OpenGL 3.3 (Mesa serves), Eigen 3.4, Highway 1.0,"
  say "  nlohmann-json 3.11, CLI11 2.1, fmt 9.1, utf8proc 2.8, PCRE2 10.42, libzip 1.7, zlib, libpng 1.6, libjpeg-turbo 2.1, md4c, FreeType, HarfBuzz, FriBidi, Fontconfig, Cairo 1.16; the fonts Inter,"
  say "  JetBrains Mono and DejaVu; for the tests GoogleTest with GoogleMock, stb, Xvfb, xdotool, binutils, qemu-user, ffmpeg, poppler-utils and"
  say "the fonts Amiri, Lohit Devanagari and Loma."
  say "With these installed:"
  say "  cmake -S $root -B $buildFolder -G Ninja -DCMAKE_BUILD_TYPE=Release"
  say "  cmake --build $buildFolder"
}

# installMissing PACKAGE...: asks dpkg first, so that apt-get and sudo run only if something is missing.
installMissing() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    explainByHand
    return 1
  fi
  local missing asRoot=()
  mapfile -t missing < <(missingPackages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "These packages are missing, and installing them takes root or sudo: ${missing[*]}"
      return 1
    fi
    asRoot=(sudo)
  fi
  say "Installing ${missing[*]}"
  local apt=("${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  # A broken source unrelated to these packages is no reason to stop.
  "${apt[@]}" update >&2 || say "The package lists could not all be refreshed; going on with those there are."
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2; then
    say "Installing failed; apt-get's own words are above."
    return 1
  fi
}

# configure CMAKE_ARGUMENT...
configure() {
  local extra=() arguments=(-DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_SANITIZE=) cache=$buildFolder/CMakeCache.txt output
  read -ra extra <<<"${HEADSCOPE_CMAKE_ARGS:-}" || true
  if command -v ccache >/dev/null; then arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  if [[ -f $cache ]]; then
    # A folder configured for another checkout or generator must be configured afresh.
    if ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" || ! grep -qx 'CMAKE_GENERATOR:INTERNAL=Ninja' "$cache"; then
      arguments+=(--fresh)
    fi
  else
    say "Configuring $buildFolder"
  fi
  if ! output=$(cmake -S "$root" -B "$buildFolder" -G Ninja "${arguments[@]}" "$@" "${extra[@]}" 2>&1 </dev/null); then
    say "$output"
    say "Configuring failed; cmake's own words are above."
    return 1
  fi
}

# Shows progress in one line on a terminal, and every line elsewhere; shows nothing if nothing needs building.
showProgress() {
  local line columns
  columns=$(tput cols 2>/dev/null) || columns=80
  while IFS= read -r line; do
    case $line in
      'ninja: no work to do.' | *'Re-checking globbed directories'*) ;;
      '['[0-9]*/[0-9]*']'*) if [[ -t 2 ]]; then printf '\r\033[K%s' "${line:0:columns-1}" >&2; else say "$line"; fi ;;
      *) if [[ -t 2 && $line == FAILED* ]]; then printf '\r\033[K' >&2; fi && say "$line" ;;
    esac
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# build TARGET...
build() {
  if ! cmake --build "$buildFolder" --target "$@" 2>&1 </dev/null | showProgress; then
    say "Building failed; the compiler's own words are above."
    return 1
  fi
}
