// Threads that live for one call: nothing is kept between calls, so fork, signals and nested pools cannot meet a stale pool.
#pragma once
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace maxmargin {

// Calls work(begin, end) on disjoint ranges that cover [0, count); every range but the last is a multiple of `grain` long.
template <class Work>
void parallel(int threads, int64_t count, int64_t grain, const Work& work) {
  const int64_t pieces = (count + grain - 1) / grain;
  if (threads > pieces) threads = int(pieces);
  if (threads <= 1) {
    if (count > 0) work(int64_t(0), count);
    return;
  }
  auto bound = [&](int t) { return t == threads ? count : pieces * t / threads * grain; };
  std::vector<std::exception_ptr> errors(static_cast<size_t>(threads));
  auto run = [&](int t) noexcept {
    try {
      work(bound(t), bound(t + 1));
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

}  // namespace maxmargin
