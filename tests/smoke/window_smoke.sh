#!/usr/bin/env bash
# window_smoke.sh HEADSCOPE FOLDER: opens the real window on a virtual X server, uses it as a person would, and closes
# it. If a step fails, FOLDER keeps the last screen and the messages.
#
# The pixels are read from the file in which Xvfb keeps its frame buffer (-fbdir, an XWD file), without the mouse
# pointer (-nocursor). The status line shows timings that differ from frame to frame, so only the rows with the heatmaps
# are compared to find out whether the picture has changed.
set -uo pipefail

# timeout ends the whole group, so that no X server survives a script that hangs.
if [[ ${WINDOW_SMOKE_BOUNDED:-} != yes ]]; then
  WINDOW_SMOKE_BOUNDED=yes exec timeout --kill-after=10 240 bash "$0" "$@"
fi

headscope=$1 folder=$2
readonly kWidth=1600 kHeight=960          # the size the window opens with
readonly kHeatmapRows="170 720"           # from below the text box down to above the cache panel
readonly kHeatmapAt="700 400"             # inside a head
readonly kMaskCellAt="560 420"            # inside the mask in its studio
readonly kTextBoxAt="150 110"
readonly kLeaveButtonAt="390 353"         # in the question's dialog, in a window of 1200x720
readonly kPatience=60                     # seconds; a loaded machine is slow, a hang lasts forever

work=$(mktemp -d)
server='' program='' silent=''

cleanUp() {
  [[ -z $program ]] || kill -KILL "$program" 2>/dev/null
  [[ -z $silent ]] || kill "$silent" 2>/dev/null
  [[ -z $server ]] || kill "$server" 2>/dev/null
  wait 2>/dev/null
  rm -rf -- "$work"
}
trap cleanUp EXIT
trap 'exit 124' TERM INT

fail() {
  mkdir -p "$folder"
  cp -- "$work"/Xvfb_screen0 "$folder/window_smoke.xwd" 2>/dev/null && echo "the screen: $folder/window_smoke.xwd"
  if [[ -s $work/errors ]]; then echo "headscope said:" && cat "$work/errors"; fi
  echo "FAILED: $*"
  exit 1
}

step() { echo "- $*"; }

# waitFor SECONDS COMMAND...: false if the command doesn't succeed within that time.
waitFor() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# headerWord N: the Nth 32-bit word of the XWD header.
headerWord() { od -An --endian=big -tu4 -j $((4 * $1)) -N 4 "$work/Xvfb_screen0" | tr -d ' '; }

# rows FROM TO: the pixels of these rows of the screen.
rows() {
  dd if="$work/Xvfb_screen0" bs=1M iflag=skip_bytes,count_bytes status=none \
    skip=$((pixelsAt + $1 * bytesPerRow)) count=$((($2 - $1) * bytesPerRow))
}

# shellcheck disable=SC2086  # the two numbers of kHeatmapRows
heatmaps() { rows $kHeatmapRows | cksum; }

colours() { rows "$1" "$2" | od -An -v -tx4 -w4 | sort -u | wc -l; }

# The picture once it no longer changes: animations have ended and the workers have answered.
settled() {
  local before now same=0 deadline=$((SECONDS + kPatience))
  before=$(heatmaps)
  while ((same < 3)); do
    ((SECONDS < deadline)) || fail "the picture never stands still"
    sleep 0.1
    now=$(heatmaps)
    if [[ $now == "$before" ]]; then same=$((same + 1)); else same=0; fi
    before=$now
  done
  picture=$now
}

differsFrom() { settled && [[ $picture != "$1" ]]; }
equals() { settled && [[ $picture == "$1" ]]; }
gone() { ! kill -0 "$program" 2>/dev/null; }

expectChange() {
  local before=$picture
  waitFor "$kPatience" differsFrom "$before" || fail "$1 changed nothing in the picture"
  gone && fail "headscope ended after this: $1"
  step "$1 changed the picture"
}

# shellcheck disable=SC2086  # a place is two numbers
pointAt() { xdotool mousemove $1; }

# Presses a key as a hand does, holding it down for a moment.
press() {
  local key
  for key in "$@"; do xdotool keydown "$key"; sleep 0.05; done
  for key in "$@"; do xdotool keyup "$key"; done
}

withoutDisplay() {
  local code=0
  env -u DISPLAY -u WAYLAND_DISPLAY timeout 60 "$headscope" >"$work/said" 2>"$work/errors" || code=$?
  ((code == 1)) || fail "without a display headscope exits with $code, expected 1"
  (($(wc -l <"$work/errors") == 1)) || fail "without a display headscope says $(wc -l <"$work/errors") lines, expected 1"
  grep -q 'display' "$work/errors" || fail "without a display headscope does not say that it is the display"
  [[ ! -s $work/said ]] || fail "without a display headscope prints to standard output"
  step "without a display: $(cat "$work/errors")"
  : >"$work/errors"
}

serverReady() {
  kill -0 "$server" 2>/dev/null || fail "Xvfb ends at once: $(cat "$work/server")"
  [[ -s $work/display && -s $work/Xvfb_screen0 ]]
}

serverAnswers() { xdotool getdisplaygeometry >/dev/null 2>&1; }

startServer() { # WIDTHxHEIGHT
  rm -f -- "$work/display" "$work/Xvfb_screen0"
  Xvfb -displayfd 8 -screen 0 "$1x24" -fbdir "$work" -nocursor -nolisten tcp -noreset 8>"$work/display" >"$work/server" 2>&1 &
  server=$!
  waitFor "$kPatience" serverReady || fail "Xvfb does not start: $(cat "$work/server")"
  DISPLAY=:$(cat "$work/display")
  export DISPLAY
  waitFor "$kPatience" serverAnswers || fail "Xvfb on $DISPLAY lets nobody in: $(cat "$work/server")"
  pixelsAt=$(($(headerWord 0) + 12 * $(headerWord 19)))
  bytesPerRow=$(headerWord 12)
  step "Xvfb shows $DISPLAY"
}

stopServer() {
  kill "$server" && wait "$server"
  server=''
}

findWindow() { window=$(xdotool search --onlyvisible --name Headscope 2>/dev/null | head -n 1) && [[ -n $window ]]; }
showsHeatmaps() { (($(colours 300 310) > 20)); }

startProgram() {
  # The preferences of the person who runs the tests must neither affect the pictures nor be changed.
  unset WAYLAND_DISPLAY
  HOME=$work XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state "$headscope" >"$work/said" 2>"$work/errors" &
  program=$!
  waitFor "$kPatience" findWindow || fail "no window appears"
  waitFor "$kPatience" showsHeatmaps || fail "the window stays empty"
  [[ $(xdotool getwindowgeometry --shell "$window") == *WIDTH=$kWidth*HEIGHT=$kHeight* ]] ||
    fail "the window is not ${kWidth}x$kHeight: $(xdotool getwindowgeometry "$window")"
  settled
  step "the window is there"
}

wakings() { awk '/^voluntary_ctxt_switches/ { print $2 }' /proc/"$program"/status; } # of the drawing thread

# If nothing moves, nothing is drawn and the drawing thread sleeps. A window that draws wakes up 60 times a second.
expectIdle() {
  local before after
  before=$(wakings)
  sleep 3
  gone && fail "$1 headscope ended"
  after=$(wakings)
  ((after - before < 60)) || fail "$1 headscope woke up $((after - before)) times in 3 s, expected under 60"
  step "$1 headscope woke up $((after - before)) times in 3 s"
}

useHeatmaps() {
  local selected
  pointAt "$kHeatmapAt"
  expectChange "pointing at a heatmap"
  xdotool click 1
  expectChange "clicking a heatmap"
  press Escape
  expectChange "Escape"
  selected=$picture  # the clicked cell is selected now
  xdotool click 1
  expectChange "clicking it again"
  press Escape
  waitFor "$kPatience" equals "$selected" || fail "Escape does not lead back to all heads as they were"
  step "Escape leads back to all heads"
}

useMask() {
  local heads=$picture
  press 3
  expectChange "going to the mask studio"
  pointAt "$kMaskCellAt"
  expectChange "pointing at the mask"
  press x
  expectChange "X over a cell"
  press ctrl z
  press 1
  pointAt "$kHeatmapAt"
  waitFor "$kPatience" equals "$heads" || fail "1 does not lead back to the heads as they were"
  step "1 leads back to the heads"
}

lecturerThere() { [[ -n $(xdotool search --onlyvisible --name 'Headscope: lecturer' 2>/dev/null) ]]; }
lecturerGone() { ! lecturerThere; }

# The second window opens over the first and takes the keyboard focus, but its keys go to the first.
useLecturer() {
  local heads=$picture
  press ctrl shift p
  waitFor "$kPatience" lecturerThere || fail "Ctrl+Shift+P opens no window for the lecturer"
  gone && fail "headscope ended with the lecturer's window"
  settled
  step "the lecturer's window is there"
  press ctrl shift p
  waitFor "$kPatience" lecturerGone || fail "Ctrl+Shift+P does not close the lecturer's window"
  press Escape
  pointAt "$kMaskCellAt"  # the pointer was hidden while it rested, until it moves
  pointAt "$kHeatmapAt"
  waitFor "$kPatience" equals "$heads" || fail "after the lecturer's window Escape does not lead back to the heads"
  step "the lecturer's window is closed, and the heads are as they were"
}

useTextBox() {
  local untyped
  pointAt "$kTextBoxAt"
  xdotool click 1
  settled
  untyped=$picture
  expectIdle "with the text box open"
  xdotool key End
  xdotool type ' and sat'
  expectChange "typing"
  # Typing is undone in bursts, and on a slow machine it may be split into several.
  for _ in {1..9}; do
    press ctrl z
    settled
    [[ $picture != "$untyped" ]] || break
  done
  [[ $picture == "$untyped" ]] || fail "Ctrl+Z does not lead back to the text before typing"
  step "Ctrl+Z leads back to the text before typing"
  xdotool type ' again'
  expectChange "typing again"
}

resize() {
  xdotool windowsize "$window" 1200 720
  expectChange "making the window smaller"
}

leave() {
  local code=0
  press ctrl q
  expectChange "asking to leave with unsaved edits"
  pointAt "$kLeaveButtonAt"
  xdotool click 1
  waitFor "$kPatience" gone || fail "headscope goes on after Leave"
  wait "$program" || code=$?
  program=''
  ((code == 0)) || fail "headscope exits with $code, expected 0"
  [[ ! -s $work/errors ]] || fail "headscope has something on standard error"
  [[ ! -s $work/said ]] || fail "headscope has something on standard output: $(cat "$work/said")"
  step "headscope ends with 0 and has said nothing"
}

kept() { find "$work/state/headscope/recovery" -name '*.json' 2>/dev/null | wc -l; }

typeSomething() {
  pointAt "$kTextBoxAt"
  xdotool click 1
  settled
  xdotool key End
  xdotool type ' and sat'
  expectChange "typing"
}

# Unsaved work is kept for the next start if the program gets SIGTERM or loses its display.
keepUnsavedWork() {
  local code=0
  (($(kept) == 0)) || fail "after Leave something is kept for the next start"
  local preferences=$work/config/headscope/preferences.json
  grep -q '"width": *1200' "$preferences" && grep -q '"height": *720' "$preferences" ||
    fail "the window's size isn't kept for the next start"
  step "the window's size is kept for the next start"
  rm -- "$preferences"  # the following steps use a window of the default size
  startProgram
  typeSomething
  kill -TERM "$program"
  waitFor "$kPatience" gone || fail "headscope goes on after TERM with unsaved work"
  (($(kept) == 1)) || fail "after TERM $(kept) recovery files are kept, expected 1"
  step "TERM ends headscope, and what was typed is kept"
  startProgram
  press Escape  # "Not now"
  expectChange "answering the offer of the work that was kept"
  typeSomething
  kill -KILL "$server"
  wait "$server" 2>/dev/null
  server=''
  waitFor "$kPatience" gone || fail "headscope goes on without the display"
  wait "$program" || code=$?
  program=''
  ((code == 1)) || fail "without the display headscope exits with $code, expected 1"
  grep -q 'the next start offers the unsaved work' "$work/errors" || fail "headscope does not say what becomes of the work"
  (($(kept) == 2)) || fail "after the display was lost $(kept) recovery files are kept, expected 2"
  step "the display is lost, and what was typed is kept"
  : >"$work/errors"
}

# An X11 client that owns these selections and never answers.
ownSilently() { # SELECTION...
  python3 -c '
import ctypes, sys, time
x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XInternAtom.restype = x11.XCreateSimpleWindow.restype = x11.XDefaultRootWindow.restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(None))
root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
own = ctypes.c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, 0, 0))
for name in sys.argv[1:]:
    atom = ctypes.c_ulong(x11.XInternAtom(display, name.encode(), 0))
    x11.XSetSelectionOwner(display, atom, own, ctypes.c_ulong(0))
x11.XSync(display, 0)
print("owned", flush=True)
time.sleep(300)
' "$@" >"$work/owned" &
  silent=$!
  waitFor "$kPatience" grep -q owned "$work/owned" || fail "no client owns $*"
}

# Neither pasting nor leaving waits for a program that doesn't answer.
besideSilentClipboard() {
  local code=0
  rm -rf -- "$work/state/headscope/recovery"
  echo '{"last_window": {"width": 32768, "height": 3}}' >"$work/config/headscope/preferences.json"
  startProgram  # with its usual size
  pointAt "$kTextBoxAt"
  xdotool click 1
  settled
  ownSilently CLIPBOARD CLIPBOARD_MANAGER
  press ctrl v
  press End
  xdotool type ' pasted'
  expectChange "typing after pasting from a program that doesn't answer"
  press ctrl a
  press ctrl c
  press Escape
  for signal in USR2 PIPE; do kill -"$signal" "$program"; done
  settled
  gone && fail "headscope ended after signals that don't ask it to"
  kill -TERM "$program"
  waitFor 20 gone || fail "headscope waits for a clipboard manager that doesn't answer"
  wait "$program" || code=$?
  program=''
  ((code == 0)) || fail "headscope exits with $code beside a clipboard manager that doesn't answer, expected 0"
  kill "$silent" && wait "$silent" 2>/dev/null
  silent=''
  step "headscope waits for no clipboard"
}

listens() { compgen -G "$work/runtime/headscope/*.window" >/dev/null; }

# Another process sends a file to the window, as headscope.py does.
sendToWindow() {
  local said code=0
  waitFor "$kPatience" listens || fail "the window doesn't listen for files of other programs"
  waitFor "$kPatience" showsHeatmaps || fail "the window stays empty"
  settled
  "$headscope" scene | sed 's/"text": *"[^"]*"/"text": "sent from elsewhere"/' >"$work/sent.headscope.json"
  said=$(XDG_RUNTIME_DIR=$work/runtime timeout "$kPatience" "$headscope" --send "$work/sent.headscope.json" 2>&1) || code=$?
  [[ $code == 0 && -z $said ]] || fail "headscope --send exits with $code and says: $said"
  expectChange "a scene that another process sent"
}

# A window larger than the screen it opens on is shrunk to fit.
onASmallScreen() {
  local WIDTH=0 HEIGHT=0 X=0 Y=0
  HOME=$work XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/runtime \
    "$headscope" >"$work/said" 2>"$work/errors" &
  program=$!
  waitFor "$kPatience" findWindow || fail "no window appears on a small screen"
  eval "$(xdotool getwindowgeometry --shell "$window")"
  ((X >= 0 && Y >= 0 && X + WIDTH <= $1 && Y + HEIGHT <= $2)) ||
    fail "on a screen of $1x$2 the window is ${WIDTH}x$HEIGHT at $X,$Y"
  sendToWindow
  kill "$program"
  waitFor "$kPatience" gone || fail "headscope goes on after TERM"
  program=''
  step "on a screen of $1x$2 the window is ${WIDTH}x$HEIGHT"
}

for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || fail "this test needs $tool (tests/run installs it)"
done
withoutDisplay
startServer 1920x1080
startProgram
expectIdle "left alone"
useHeatmaps
useMask
useLecturer
useTextBox
resize
leave
keepUnsavedWork
startServer 1280x720
onASmallScreen 1280 720
stopServer
startServer 1920x1080
besideSilentClipboard
