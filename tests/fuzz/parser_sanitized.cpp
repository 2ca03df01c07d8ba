// The parser under the address and undefined-behaviour sanitizers, on random pieces of the format, in a buffer without a byte to spare:
//   g++ -std=c++17 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I src/maxmargin/core tests/fuzz/parser_sanitized.cpp -o run/parser
//   run/parser 600      seconds
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "svmlight.h"

int main(int count, char** arguments) {
  const char* tokens[] = {"0", "1", "2", "9", "17", "12345678", "99999999999999999999", ":", ":", ":", ".", "-", "+", "e", "e-324", "e308", "e999", "1:1", "2:0.5",
                          "3:-1e-3", "qid:", "qid:7", " ", " ", " ", "\t", "\n", "\n", "\r", "\r\n", "#", "# x", ",", "nan", "0x1", "\xef\xbb\xbf", "\xd9\xa1",
                          "0.12345678901234567", "123456789012345678901234567890", "1.7976931348623157e308", "4.9e-324", "00000000000000000001"};
  const double seconds = count > 1 ? std::atof(arguments[1]) : 60;
  std::mt19937_64 random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0);
  const auto began = std::chrono::steady_clock::now();
  long runs = 0, rows = 0, errors = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() < seconds) {
    for (int k = 0; k < 1000; ++k, ++runs) {
      std::string text;
      for (size_t pieces = random() % 60; pieces > 0; --pieces) {
        if (random() % 20 == 0) text += char(random());
        else text += tokens[random() % (sizeof tokens / sizeof *tokens)];
      }
      text += random() % 2 ? '\n' : '\r';
      const size_t size = text.size();
      char* buffer = new char[size + size_t(maxmargin::text_padding)];
      std::memcpy(buffer, text.data(), size);
      for (int64_t j = 0; j < maxmargin::text_padding; ++j) buffer[size + size_t(j)] = "0:\n1 "[random() % 5];
      maxmargin::TextRows found;
      maxmargin::TextParser(buffer, buffer + size, int64_t(random() % 2 ? 100 : INT32_MAX - 1), int(random() % 3) - 1, found).run();
      if (found.error != maxmargin::TextError::none && (found.error_at < 0 || found.error_at >= int64_t(size))) return std::puts("error outside the text"), 1;
      if (found.ends.size() != found.targets.size() || (!found.ends.empty() && found.ends.back() != found.entries)) return std::puts("rows differ"), 1;
      rows += long(found.targets.size()), errors += found.error != maxmargin::TextError::none;
      delete[] buffer;
    }
  }
  std::printf("%ld texts, %ld rows, %ld errors\n", runs, rows, errors);
}
