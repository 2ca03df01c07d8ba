// Threads that live for one call: nothing is kept between calls, so fork, signals and nested pools cannot meet a stale pool.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace maxmargin {

// Calls work(t) for t = 0, ..., threads - 1, each on a thread of its own, t = 0 on this one.
template <class Work>
void on_threads(int threads, const Work& work) {
  if (threads <= 1) return work(0);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(threads));
  auto run = [&](int t) noexcept {
    try {
      work(t);
    } catch (...) {
      errors[size_t(t)] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(size_t(threads - 1));
  int started = 1;
  try {
    for (; started < threads; ++started) others.emplace_back(run, started);
  } catch (const std::system_error&) {  // no more threads to be had: the caller does their share
  }
  run(0);
  for (int t = started; t < threads; ++t) run(t);
  for (auto& thread : others) thread.join();
  for (auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// Calls work(begin, end) for the pieces of [0, count), all but the last `grain` long, each taken by the first thread that is free; the
// work object is copied once a thread, so that it may own scratch memory.
template <class Work>
void parallel(int threads, int64_t count, int64_t grain, const Work& work) {
  const int64_t pieces = (count + grain - 1) / grain;
  std::atomic<int64_t> next{0};
  on_threads(int(std::min<int64_t>(threads, pieces)), [&](int) {
    Work mine = work;
    for (int64_t piece; (piece = next++) < pieces;) mine(piece * grain, std::min(count, (piece + 1) * grain));
  });
}

}  // namespace maxmargin
