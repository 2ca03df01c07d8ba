// Threads that live for one call or, in a crew, for the calls of one fit: no pool survives, so
// forks, signals and nested pools cannot find a stale one. Starting threads takes longer than a
// small kernel block: a call starts them once, and its parts wait for each other.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace maxmargin {

inline int64_t pieces_of(int64_t count, int64_t grain) { return (count + grain - 1) / grain; }
// A multiple of `least`, at most `most`, that gives each of the threads a few pieces to even out.
inline int64_t even_grain(int threads, int64_t count, int64_t least, int64_t most) {
  constexpr int64_t pieces_each = 4;
  return std::max(least, std::min(most, count / (pieces_each * threads) / least * least));
}
inline int team_size(int threads, int64_t count, int64_t grain) {
  return int(std::min<int64_t>(threads, pieces_of(count, grain)));
}

// Whether this thread can throw. The first exception of a thread needs memory for thread-local
// data, and where there is none the C library ends the process. So that memory is taken before any
// work is.
inline bool can_throw() noexcept {
  constexpr size_t plenty = size_t(1) << 16;
  void* volatile room = std::malloc(plenty);
  if (!room) return false;
  std::free(room);
  return std::uncaught_exceptions() >= 0;  // takes it
}

// Tells the processor that a thread waits.
inline void rest() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether something happens before it pays to sleep, which is after about as long as it takes to
// wake: a rest takes 10 to 40 ns. The core is not offered to other processes meanwhile: on a busy
// machine they would keep it for milliseconds each time.
template <class Happened>
bool soon(const Happened& happened) {
  constexpr int looks = 2000;
  for (int look = 0; look < looks; ++look, rest())
    if (happened()) return true;
  return false;
}

// Threads that wait for the calls of the thread that has opened the crew. They start when they are
// first needed.
class Crew {
 public:
  // That of this thread, where it is not busy; a forked process has none.
  static Crew* idle() {
    Crew* crew = current;
    return crew && !crew->busy && crew->process == own_process() ? crew : nullptr;
  }
  void open() {
    if (!current) current = this;
  }
  void close() {
    if (current == this) current = nullptr;
    if (process != own_process()) return forget();
    {
      std::lock_guard<std::mutex> hold(lock);
      over = true;
    }
    awake.notify_all();
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
  ~Crew() { close(); }

  // How many helpers there are, after starting those that are missing.
  int ready(int helpers) {
    try {
      while (int(threads.size()) < helpers)
        threads.emplace_back(
            [this, index = int(threads.size()), seen = state.load()] { live(index, seen); });
    } catch (const std::exception&) {  // no more threads can be started
    }
    return std::min(helpers, int(threads.size()));
  }
  // Calls help() on that many helpers, and work() here; returns when all are done.
  template <class Help, class Work>
  void run(int helpers, const Help& help, const Work& work) {
    busy = true;
    call = [](const void* p) { (*static_cast<const Help*>(p))(); }, argument = &help;
    running = helpers;
    state = ((state >> 16) + 1) << 16 | uint64_t(helpers);
    bool some_sleep;
    {
      std::lock_guard<std::mutex> hold(lock);
      some_sleep = asleep > 0;
    }
    if (some_sleep) awake.notify_all();
    work();
    if (!soon([&] { return running == 0; })) {
      std::unique_lock<std::mutex> hold(lock);
      finished.wait(hold, [&] { return running == 0; });
    }
    busy = false;
  }

 private:
  static inline thread_local Crew* current = nullptr;
  const long process = own_process();
  bool busy = false;
  int asleep = 0;
  // The number of the call and, in the last 16 bits, how many helpers take part in it. One that
  // does not looks at nothing else: the next call may be under way.
  std::atomic<uint64_t> state{0};
  std::atomic<int> running{0};
  std::atomic<bool> over{false};
  void (*call)(const void*) = nullptr;
  const void* argument = nullptr;
  std::vector<std::thread> threads;
  std::mutex lock;
  std::condition_variable awake, finished;

  static long own_process() {
#ifdef _WIN32
    return 0;
#else
    return long(getpid());
#endif
  }
  void forget() {  // threads of another process: they can neither be joined nor destroyed
    new std::vector<std::thread>(std::move(threads));
  }
  void live(int index, uint64_t seen) {
    for (;;) {
      if (!soon([&] { return state != seen || over; })) {
        std::unique_lock<std::mutex> hold(lock);
        ++asleep;
        awake.wait(hold, [&] { return state != seen || over; });
        --asleep;
      }
      if (state == seen) return;  // it is over
      seen = state;
      if (index >= int(seen & 0xffff)) continue;
      call(argument);
      if (--running > 0) continue;
      std::lock_guard<std::mutex> hold(lock);
      finished.notify_all();
    }
  }
};

// The threads of one call. Each of them runs the same code; `each` shares out the pieces of a loop
// and ends when all are done.
class Team {
 public:
  // work(begin, end) for the pieces of [0, count), all but the last `grain` long, each taken by the
  // first thread that is free. The last piece is taken first: where the pieces of a triangle are
  // unequal, it is the longest.
  template <class Work>
  void each(int64_t count, int64_t grain, Work&& work) {
    const int64_t pieces = pieces_of(count, grain);
    for (int64_t piece; (piece = pieces - 1 - next++) >= 0;)
      work(piece * grain, std::min(count, (piece + 1) * grain));
    wait();
  }

 private:
  std::atomic<int64_t> next{0};
  std::atomic<uint64_t> round{0};
  int members = 1, arrived = 0;
  std::mutex lock;
  std::condition_variable turned;

  void turn() {  // all have arrived
    arrived = 0;
    next = 0;
    ++round;
    turned.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> hold(lock);
    const uint64_t mine = round;
    if (++arrived == members) return turn();
    hold.unlock();
    if (soon([&] { return round != mine; })) return;
    hold.lock();
    turned.wait(hold, [&] { return round != mine; });
  }
  void join(int added) {
    std::lock_guard<std::mutex> hold(lock);
    members += added;
  }
  void leave() {
    std::lock_guard<std::mutex> hold(lock);
    if (--members > 0 && arrived == members) turn();
  }

  template <class Work>
  friend void on_team(int threads, const Work& work);
};

// Calls work(team) on `threads` threads, this one among them; on fewer if no more can be started.
template <class Work>
void on_team(int threads, const Work& work) {
  Team team;
  std::exception_ptr error;
  auto run = [&]() noexcept {
    try {
      work(team);
    } catch (...) {
      std::lock_guard<std::mutex> hold(team.lock);
      error = std::current_exception();
    }
    team.leave();
  };
  auto help = [&]() noexcept {
    if (can_throw()) run();
    else team.leave();
  };
  can_throw();
  if (Crew* crew = threads > 1 ? Crew::idle() : nullptr) {
    const int helpers = crew->ready(threads - 1);
    team.join(helpers);
    crew->run(helpers, help, run);
    if (error) std::rethrow_exception(error);
    return;
  }
  std::vector<std::thread> others;
  others.reserve(size_t(std::max(threads, 1)));
  try {
    for (int t = 1; t < threads; ++t) {
      team.join(1);
      others.emplace_back(help);
    }
  } catch (const std::exception&) {  // no more threads can be started
    team.join(-1);
  }
  run();  // nobody passes the first barrier before this thread does
  for (auto& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

// Calls work(begin, end) for the pieces of [0, count); the work object is copied once a thread, so
// that it may own scratch memory.
template <class Work>
void parallel(int threads, int64_t count, int64_t grain, const Work& work) {
  on_team(team_size(threads, count, grain), [&](Team& team) {
    Work mine = work;
    team.each(count, grain, mine);
  });
}

}  // namespace maxmargin
