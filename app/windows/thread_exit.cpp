// Up to GCC 15, thread_local objects on Windows are in memory that one pthread key frees when a thread ends,
// and another key destroys them, later if it was made later (GCC bug 80816): destructors then read freed
// memory. This takes the place of libstdc++'s __cxa_thread_atexit. Its key is made before all others, so it
// is the first to run.

#include <pthread.h>

#include <cstdlib>

namespace {

struct Entry {
  void (*destroy)(void*);
  void* object;
  Entry* next;
};

pthread_key_t key;

/// Destroys what the thread has, the newest first, also what destructors make.
void destroyAll(void* newest) {
  for (auto* entry = static_cast<Entry*>(newest); entry;) {
    pthread_setspecific(key, entry->next);
    entry->destroy(entry->object);
    std::free(entry);
    entry = static_cast<Entry*>(pthread_getspecific(key));
  }
}

__attribute__((constructor(101))) void makeKey() {
  pthread_key_create(&key, destroyAll);
}

}  // namespace

extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  auto* const entry = static_cast<Entry*>(std::malloc(sizeof(Entry)));
  if (!entry) return -1;
  *entry = {destroy, object, static_cast<Entry*>(pthread_getspecific(key))};
  pthread_setspecific(key, entry);
  return 0;
}
