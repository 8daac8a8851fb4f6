// Linked into sanitizer builds alone: a driver that is unloaded before the leak report loses its
// module name there, so nothing is unloaded.
extern "C" int dlclose(void*) {
  return 0;
}

// Fontconfig keeps a few hundred bytes of its configuration until the process ends.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}

// Mesa's rasteriser frees a fence when the last of its threads let go of it, which it counts with atomics
// that the thread sanitizer can't see in a library. Our own mutexes have no destructor that calls these.
// Pango asks Fontconfig in a thread of its own and hands the answer over by GLib's locks, which are made of
// futexes that it can't see either.
extern "C" const char* __tsan_default_suppressions() {
  return "race:pthread_mutex_destroy\nrace:pthread_cond_destroy\nrace:libfontconfig\n";
}
