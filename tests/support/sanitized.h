/* SANITIZED is defined where a sanitizer makes memory, stacks and time larger. */
#ifndef FERRY_SUPPORT_SANITIZED_H
#define FERRY_SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define SANITIZED
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#endif
