// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "support/errors.h"

namespace support {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteText(const std::filesystem::path& path, const std::string& text) {
  // Another process may write the same file.
  const std::filesystem::path temporary =
      path.string() + "." + std::to_string(::getpid()) + ".lock";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error("cannot write {}", temporary.string());
  std::filesystem::rename(temporary, path);
}

}  // namespace support
