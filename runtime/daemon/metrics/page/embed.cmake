# Makes page_files.cc of the files of the status page: cmake -DFROM=FOLDER -DTO=FILE -P embed.cmake
file(GLOB names RELATIVE ${FROM} ${FROM}/*.html ${FROM}/*.css ${FROM}/*.js ${FROM}/*.svg)
list(SORT names)
set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_svg "image/svg+xml")

file(WRITE ${TO}.new "// Made of runtime/daemon/metrics/page by embed.cmake.\n#include \"runtime/daemon/metrics/page_files.h\"\n\n")
file(APPEND ${TO}.new "namespace fibocast {\nnamespace {\n\nconstexpr PageFile kPageFiles[] = {\n")
foreach(name IN LISTS names)
  file(READ ${FROM}/${name} bytes)
  string(REGEX REPLACE ".*\\." "" ending ${name})
  set(path /${name})
  if(name STREQUAL "index.html")
    set(path /)
  endif()
  file(APPEND ${TO}.new "    {\"${path}\", \"${types_${ending}}\", R\"~page~(${bytes})~page~\"},\n")
endforeach()
file(APPEND ${TO}.new "};\n\n}  // namespace\n
const PageFile* find_page_file(std::string_view path) {
  for (const PageFile& file : kPageFiles)
    if (file.path == path) return &file;
  return nullptr;
}

}  // namespace fibocast\n")
file(COPY_FILE ${TO}.new ${TO} ONLY_IF_DIFFERENT)
file(TOUCH_NOCREATE ${TO})
