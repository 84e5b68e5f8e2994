// SPDX-License-Identifier: Apache-2.0
#pragma once

// The attributes of clang's thread-safety analysis. Other compilers see nothing. What each means:
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html

#if defined(__clang__)
#define NEREID_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define NEREID_THREAD_ANNOTATION(x)
#endif

/// The class is a lock; `name` is the word that messages use for it.
#define NEREID_CAPABILITY(name) NEREID_THREAD_ANNOTATION(capability(name))
/// The class holds a lock from its construction to its destruction.
#define NEREID_SCOPED_CAPABILITY NEREID_THREAD_ANNOTATION(scoped_lockable)

/// The member may be read and written only with the mutex held.
#define NEREID_GUARDED_BY(mutex) NEREID_THREAD_ANNOTATION(guarded_by(mutex))
/// The object that the member points to may be used only with the mutex held.
#define NEREID_PT_GUARDED_BY(mutex) NEREID_THREAD_ANNOTATION(pt_guarded_by(mutex))

/// The caller holds the mutex.
#define NEREID_REQUIRES(...) NEREID_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// The caller does not hold the mutex: the function takes it, or calls something that does.
#define NEREID_EXCLUDES(...) NEREID_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

/// The function acquires or releases the mutex.
#define NEREID_ACQUIRE(...) NEREID_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define NEREID_RELEASE(...) NEREID_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define NEREID_TRY_ACQUIRE(...) NEREID_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))

/// The analysis leaves the function out. A comment beside it must say why.
#define NEREID_NO_THREAD_SAFETY_ANALYSIS NEREID_THREAD_ANNOTATION(no_thread_safety_analysis)
