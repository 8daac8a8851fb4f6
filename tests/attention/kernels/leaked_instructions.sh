#!/usr/bin/env bash
# leaked_instructions.sh COMPILER LIBRARY: checks that no weak function of the library (an inline function or template,
# which the linker may merge with others of its name) has instructions newer than the oldest supported processor's,
# unless it is in the namespace of its instruction set (N_AVX2 …). Such a function would be called by code for every
# processor and crash the old ones. First checks that the script detects the leak in an object known to leak.
set -euo pipefail
compiler=$1 library=$2

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# In mangled names, a namespace follows its length.
ownNamespace='[0-9]N_[A-Z]'

# newerFunctions FILE: the mangled names of functions with instructions beyond SSE2. VEX and EVEX instructions
# begin with v, those on mask registers with k; the rest are listed.
newerFunctions() {
  objdump -d --no-show-raw-insn "$1" | awk '
    BEGIN {
      newer = "^(v[a-z]|k(mov|and|or|xor|xnor|not|test|shift|unpck|add)|andn$|bextr|blsi|blsr|blsmsk|bzhi|mulx|pdep|"
      newer = newer "pext$|rorx|sarx|shlx|shrx|lzcnt|popcnt|crc32|pshufb|palignr|pabs|phadd|phsub|psign|pmaddubs|"
      newer = newer "pmulhrsw|pblend|blend|pm(ax|in)(sb|sd|uw|ud)|pmuld|pmulld|ptest|round|dpp|pextr[bdq]|pinsr[bdq]|"
      newer = newer "insertps|extractps|pcmpeqq|pcmpgtq|packusdw|pmov[sz]x|haddp|hsubp|addsub|lddqu|movs[hl]dup|"
      newer = newer "movddup|mpsadbw|phminpos|movntdqa|aes|pclmul|sha)"
    }
    /^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/^<|>:$/, "", name); sub(/\.cold$/, "", name); next }
    $2 ~ newer || /%[yz]mm/ { print name }' | sort -u
}

# leaksOf FILE: the demangled names of the leaking functions.
leaksOf() {
  comm -12 <(newerFunctions "$1") <(nm --defined-only "$1" 2>/dev/null | awk '$2 ~ /^[WVu]$/ { print $3 }' | sort -u) |
    { grep -vE "$ownNamespace" || true; } | c++filt
}

cat >"$folder/leak.cpp" <<'SOURCE'
namespace somewhere {
inline __attribute__((noinline)) void leaked(float* to, const float* from, int count) {
  for (int i = 0; i < count; ++i) to[i] += 2 * from[i];
}
namespace N_AVX2 {
inline __attribute__((noinline)) void kept(float* to, const float* from, int count) {
  for (int i = 0; i < count; ++i) to[i] += 3 * from[i];
}
}  // namespace N_AVX2
void both(float* to, const float* from, int count) {
  leaked(to, from, count);
  N_AVX2::kept(to, from, count);
}
}  // namespace somewhere
SOURCE
"$compiler" -O2 -mavx2 -c "$folder/leak.cpp" -o "$folder/leak.o"
found=$(leaksOf "$folder/leak.o")
if [[ $found != 'somewhere::leaked(float*, float const*, int)' ]]; then
  echo "Of an object with one leaking function these were found to leak: ${found:-none}" >&2
  exit 1
fi

# A library without kernels for newer processors would pass for the wrong reason.
kernels=$(newerFunctions "$library" | grep -cE "$ownNamespace" || true)
if ((kernels == 0)); then
  echo "No function of $library has newer instructions: the kernels are not in it" >&2
  exit 1
fi
found=$(leaksOf "$library")
if [[ -n $found ]]; then
  echo "Functions of $library with newer instructions that the linker may give to everyone:" >&2
  printf '%s\n' "$found" >&2
  exit 1
fi
