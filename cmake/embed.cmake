# cmake -DSCRIPT=app.js -DSTYLE=app.css -DOUT=bundle.cpp -P embed.cmake: the files as bytes of src/html/bundle.h.
function(bytes_of file out)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()
bytes_of(${SCRIPT} script)
bytes_of(${STYLE} style)
file(WRITE ${OUT} "#include \"html/bundle.h\"
namespace offwait::html {
namespace {
constexpr unsigned char kScript[] = {${script}};
constexpr unsigned char kStyle[] = {${style}};
}  // namespace
std::string_view script() { return {reinterpret_cast<const char*>(kScript), sizeof kScript}; }
std::string_view style() { return {reinterpret_cast<const char*>(kStyle), sizeof kStyle}; }
}  // namespace offwait::html
")
