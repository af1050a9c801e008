#ifndef FAIRLEAD_TESTS_SUPPORT_EFFORT_H_
#define FAIRLEAD_TESTS_SUPPORT_EFFORT_H_

namespace fairlead {

// How often a random test repeats: `full` times in a plain build, a twentieth of it under a sanitizer, which is about
// that much slower.
constexpr int Effort(int full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return full < 20 ? 1 : full / 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return full < 20 ? 1 : full / 20;
#else
  return full;
#endif
#else
  return full;
#endif
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_EFFORT_H_
