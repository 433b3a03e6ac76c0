#include "runtime/cli/progress_bar.h"

#include <iostream>

namespace fibocast {

void draw_progress(std::size_t done, std::size_t all, const std::string& what) {
  constexpr std::size_t kWidth = 40;
  const std::size_t filled = kWidth * done / all;
  std::cerr << "\r[" << std::string(filled, '#') << std::string(kWidth - filled, '.') << "] " << done << " of " << all
            << " " << what << (done == all ? "\n" : "") << std::flush;
}

}  // namespace fibocast
