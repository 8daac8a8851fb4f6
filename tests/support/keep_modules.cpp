// Linked only into sanitizer builds. A driver that is unloaded before the leak report loses its module name
// there, so nothing is unloaded.
extern "C" int dlclose(void*) {
  return 0;
}

// Fontconfig keeps a few hundred bytes of its configuration until the process ends.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}

// Mesa's rasteriser frees a fence when the last of its threads releases it, counting with atomics that the
// thread sanitizer can't see inside a library. Our own mutexes have no destructor that calls these functions.
// Fontconfig is asked on several threads, and its locks are atomics that the sanitizer can't see either.
extern "C" const char* __tsan_default_suppressions() {
  return "race:pthread_mutex_destroy\nrace:pthread_cond_destroy\nrace:libfontconfig\n";
}
