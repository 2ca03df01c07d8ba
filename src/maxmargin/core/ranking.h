// The pairs of a ranking loss, counted and not enumerated (structured/ranking.py).
//
// The samples of a query stand in ascending order of their levels. A pair of a sample i and a
// sample j of a lower level is active if the keys k break its margin:  k_i - k_j < margin.
//
//   below_i = sum of v_j over the active pairs (i, j) in which i is the higher one
//   above_j = sum of v_i over the active pairs (i, j) in which j is the lower one
//
// Merge sort by keys over the levels: where two sorted halves of a query meet, the lower levels in
// one and the higher levels in the other, the active partners of a sample are a suffix of the lower
// half or a prefix of the upper one. They grow along the other half, so that one pass adds them up.
// n samples take O(n log n) steps, whatever the number of levels (Joachims 2006 has it for few).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "threads.h"

namespace maxmargin::MAXMARGIN_LEVEL {

struct Ranking {
  const double *key, *weight;
  const int64_t* level_begin;  // the samples of each level of each query
  const int64_t* query_begin;  // the levels of each query
  int64_t queries;
  double margin;
  double *below, *above;  // out
};

class RankPairs {
 public:
  explicit RankPairs(const Ranking& ranking) : r(ranking) {}

  void operator()(int64_t begin, int64_t end) {  // queries
    for (int64_t q = begin; q < end; ++q) query(r.query_begin[q], r.query_begin[q + 1]);
  }

 private:
  struct Item {
    double key, weight, below, above;
    int64_t sample;
    bool operator<(const Item& other) const { return key < other.key; }
  };

  Ranking r;
  std::vector<Item> items, room;

  void query(int64_t first_level, int64_t end_level) {
    const int64_t begin = r.level_begin[first_level], end = r.level_begin[end_level];
    if (begin == end) return;
    items.resize(size_t(end - begin));
    room.resize(items.size());
    for (int64_t i = begin; i < end; ++i)
      items[size_t(i - begin)] = {r.key[i], r.weight[i], 0.0, 0.0, i};
    sort(first_level, end_level, begin);
    for (const Item& item : items) {
      r.below[item.sample] = item.below;
      r.above[item.sample] = item.above;
    }
  }

  // Sorts the items of some levels, and adds up the pairs among these levels.
  void sort(int64_t first_level, int64_t end_level, int64_t origin) {
    const auto at = [&](int64_t level) { return items.data() + (r.level_begin[level] - origin); };
    Item *const begin = at(first_level), *const end = at(end_level);
    if (end_level - first_level <= 1) return std::sort(begin, end);
    const int64_t middle = halfway(first_level, end_level);
    sort(first_level, middle, origin);
    sort(middle, end_level, origin);
    Item* const between = at(middle);
    add(begin, between, end);
    std::merge(begin, between, between, end, room.data());
    std::copy(room.data(), room.data() + (end - begin), begin);
  }

  // The level, neither the first nor the end, that leaves halves of most equal sizes.
  int64_t halfway(int64_t first_level, int64_t end_level) const {
    const int64_t* const begin = r.level_begin;
    const int64_t half = begin[first_level] + (begin[end_level] - begin[first_level]) / 2;
    const int64_t* const place =
        std::lower_bound(begin + first_level + 1, begin + end_level - 1, half);
    const int64_t level = place - begin;
    const bool earlier = level - 1 > first_level && half - begin[level - 1] < begin[level] - half;
    return earlier ? level - 1 : level;
  }

  // The pairs between the lower and the upper half.
  void add(Item* lower, Item* upper, Item* end) {
    double sum = 0;
    Item* j = upper;
    for (Item* i = end; i != upper;) {
      --i;
      for (; j > lower && i->key - (j - 1)->key < r.margin; --j) sum += (j - 1)->weight;
      i->below += sum;
    }
    sum = 0;
    Item* i = upper;
    for (j = lower; j < upper; ++j) {
      for (; i < end && i->key - j->key < r.margin; ++i) sum += i->weight;
      j->above += sum;
    }
  }
};

inline void rank_pairs(const Ranking& ranking, int threads) {
  const int64_t grain = std::max<int64_t>(1, ranking.queries / 256);
  parallel(threads, ranking.queries, grain, RankPairs(ranking));
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
