// The files of the status page (page/), which are part of the program.
#pragma once

#include <string_view>

namespace fibocast {

struct PageFile {
  std::string_view path;  // "/page.css"
  std::string_view type;
  std::string_view bytes;
};

// Null: there is none. Made by page/embed.cmake.
const PageFile* find_page_file(std::string_view path);

}  // namespace fibocast
