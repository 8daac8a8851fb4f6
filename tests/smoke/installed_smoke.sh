#!/usr/bin/env bash
# installed_smoke.sh BUILD: installs the build into an empty folder, moves it, and uses it only from there.
set -euo pipefail
build=$1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
fail() {
  printf 'installed_smoke: %s\n' "$*" >&2
  exit 1
}

DESTDIR=$folder/staged cmake --install "$build" --prefix /usr >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
mv "$folder/staged/usr" "$folder/moved"
cd "$folder"
program=$folder/moved/bin/headscope
unset HEADSCOPE_ASSETS
# The checkout's assets would be used if these were not found.
echo "read from here" >>moved/share/headscope/manual/heads.md
"$program" help heads | tail -1 | grep -qx "read from here" || fail "the installed assets are not those that are read"
"$program" scene >mine.headscope.json
"$program" render mine.headscope.json --size 640x480 -o drawn.png
[[ $(head -c 8 drawn.png | tail -c 7) == PNG* ]] || fail "no picture was drawn"
"$program" render "$("$program" link mine.headscope.json)" --what mask -o mask.svg || fail "a link did not open"
"$program" model learned --text "Once upon a time" --json >/dev/null || fail "the bundled model did not open"

# Every command has a man page and shell completion.
commands=$("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')
[[ $commands == *render* ]] || fail "the commands could not be listed"
for command in $commands; do
  gzip -dc "moved/share/man/man1/headscope-$command.1.gz" | grep -q '^\.SH NAME' || fail "no man page of $command"
  grep -q "$command" moved/share/zsh/vendor-completions/_headscope || fail "zsh does not know $command"
  grep -q -- "-a $command " moved/share/fish/vendor_completions.d/headscope.fish || fail "fish does not know $command"
done
completed=$(bash -c 'source moved/share/bash-completion/completions/headscope
  COMP_WORDS=(headscope render --page m) COMP_CWORD=3; _headscope; echo "${COMPREPLY[*]}"
  COMP_WORDS=(headscope rend) COMP_CWORD=1; _headscope; echo "${COMPREPLY[*]}"
  COMP_WORDS=(headscope link --ba) COMP_CWORD=2; _headscope; echo "${COMPREPLY[*]}"')
[[ $completed == $'mask map model\nrender\n--base' ]] || fail "bash completed: $completed"

for file in applications/headscope.desktop applications/headscope-link.desktop mime/packages/headscope.xml \
  metainfo/org.headscope.headscope.metainfo.xml icons/hicolor/scalable/apps/headscope.svg doc/headscope/copyright; do
  [[ -s moved/share/$file ]] || fail "share/$file is missing"
done
[[ ! -e moved/share/headscope/screenshots ]] || fail "pictures of the web's manual were installed"
