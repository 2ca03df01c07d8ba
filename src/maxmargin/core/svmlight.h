// svmlight text: lines "target [qid:q] index:value index:value ... # comment". Strict: whatever is not of this form is an error at a byte.
//
// Numbers are read by hand where that is exact (at most 19 digits, mantissa below 2^53, power of ten up to 22: one multiplication or division of
// exact doubles rounds once) and by from_chars, which rounds correctly, elsewhere. Nothing depends on the locale.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace maxmargin {

enum class TextError : int {
  none, target, target_end, index, colon, value, value_end, not_finite, too_large, order, query, query_mixed
};

// What some lines hold: a compressed sparse row for each, indices as they are written.
struct TextRows {
  std::vector<double> targets, values;
  std::vector<int64_t> ends, queries;  // one past each row's last entry; queries are empty if there are none
  std::vector<int32_t> indices;
  int64_t least = INT64_MAX, greatest = -1;
  int64_t error_at = -1;
  TextError error = TextError::none;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return unsigned(c) - unsigned('0') < 10; }

constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// A decimal number at p; returns past its end, or nullptr if there is none. Words (nan, inf) and hexadecimal digits are no numbers.
inline const char* read_number(const char* p, const char* end, double& out) {
  const char* start = p;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* unsigned_start = p;
  uint64_t mantissa = 0;
  int digits = 0, power = 0;
  for (; p < end && is_digit(*p); ++p) mantissa = mantissa * 10 + uint64_t(*p - '0'), digits += mantissa != 0;
  bool any = p > unsigned_start;
  if (p < end && *p == '.') {
    const char* point = ++p;
    for (; p < end && is_digit(*p); ++p) mantissa = mantissa * 10 + uint64_t(*p - '0'), digits += mantissa != 0;
    power = -int(p - point);
    any |= p > point;
  }
  if (!any) return nullptr;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char* mark = p++;
    const bool down = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p == end || !is_digit(*p)) return mark;  // "1e" is the number 1 and then something else: the caller will object
    int written = 0;
    for (; p < end && is_digit(*p); ++p) written = written < 100000 ? written * 10 + (*p - '0') : written;
    power += down ? -written : written;
  }
  if (digits <= 19 && mantissa < (uint64_t(1) << 53) && power >= -22 && power <= 22) {
    const double whole = double(mantissa);
    const double size = power < 0 ? whole / exact_powers[-power] : whole * exact_powers[power];
    out = negative ? -size : size;
    return p;
  }
  const char* from = *start == '+' ? start + 1 : start;  // from_chars knows no plus
  const auto [stop, code] = std::from_chars(from, p, out);
  if (code == std::errc::result_out_of_range) {
    // too small is zero (or the nearest denormal), too large is infinite: tell them apart by the power
    out = power + digits > 0 ? INFINITY : 0.0;
    if (negative) out = -out;
    return p;
  }
  return code == std::errc() && stop == p ? p : nullptr;
}

// Digits only; -1 for what is above the limit.
inline const char* read_index(const char* p, const char* end, int64_t limit, int64_t& out) {
  const char* start = p;
  int64_t value = 0;
  for (; p < end && is_digit(*p); ++p) value = value > limit ? value : value * 10 + (*p - '0');
  out = value > limit ? -1 : value;
  return p > start ? p : nullptr;
}

class TextParser {
 public:
  TextParser(const char* text, const char* end, int64_t limit, TextRows& rows) : begin(text), p(text), end(end), limit(limit), rows(rows) {}

  void run() {
    const size_t guess = size_t(end - begin) / 12 + 16;
    rows.indices.reserve(guess);
    rows.values.reserve(guess);
    while (p < end && rows.error == TextError::none) line();
  }

 private:
  const char *begin, *p, *end;
  const int64_t limit;
  TextRows& rows;

  void fail(TextError what, const char* where) {
    rows.error = what;
    rows.error_at = where - begin;
  }
  void blanks() {
    while (p < end && is_blank(*p)) ++p;
  }
  bool line_is_over() const { return p == end || is_line_end(*p) || *p == '#'; }
  void to_next_line() {
    while (p < end && !is_line_end(*p)) ++p;
    if (p < end) ++p;
  }

  void line() {
    blanks();
    if (line_is_over()) return to_next_line();
    double number = 0;
    const char* after = read_number(p, end, number);
    if (!after) return fail(TextError::target, p);
    if (after < end && !is_blank(*after) && !is_line_end(*after) && *after != '#') return fail(TextError::target_end, after);
    if (!std::isfinite(number)) return fail(TextError::not_finite, p);
    rows.targets.push_back(number);
    p = after;
    blanks();
    if (!query()) return;
    for (int64_t last = -1; !line_is_over();) {
      const char* start = p;
      int64_t index = 0;
      after = read_index(p, end, limit, index);
      if (!after) return fail(TextError::index, p);
      if (after == end || *after != ':') return fail(TextError::colon, after);
      if (index < 0) return fail(TextError::too_large, start);
      if (index <= last) return fail(TextError::order, start);
      last = index;
      p = after + 1;
      after = read_number(p, end, number);
      if (!after) return fail(TextError::value, p);
      if (after < end && !is_blank(*after) && !is_line_end(*after) && *after != '#') return fail(TextError::value_end, after);
      if (!std::isfinite(number)) return fail(TextError::not_finite, p);
      rows.indices.push_back(int32_t(index));
      rows.values.push_back(number);
      rows.least = index < rows.least ? index : rows.least;
      p = after;
      blanks();
      if (line_is_over()) rows.greatest = index > rows.greatest ? index : rows.greatest;
    }
    rows.ends.push_back(int64_t(rows.indices.size()));
    to_next_line();
  }

  // "qid:7" right after the target; all lines have one or none has
  bool query() {
    const bool here = end - p > 4 && p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':';
    if (here != (rows.queries.size() + 1 == rows.targets.size()) && rows.targets.size() > 1) return fail(TextError::query_mixed, p), false;
    if (!here) return true;
    p += 4;
    int64_t q = 0;
    const char* after = read_index(p, end, INT64_MAX / 20, q);
    if (!after || q < 0 || (after < end && !is_blank(*after) && !is_line_end(*after) && *after != '#')) return fail(TextError::query, p), false;
    rows.queries.push_back(q);
    p = after;
    blanks();
    return true;
  }
};

// Rows as text; numbers in the shortest form that reads back as the same double.
struct TextWriter {
  std::string text;

  void number(double value) {
    char buffer[32];
    const auto [stop, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
    (void)code;  // 32 characters hold any double
    text.append(buffer, stop);
  }
  void integer(int64_t value) {
    char buffer[24];
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
};

}  // namespace maxmargin
