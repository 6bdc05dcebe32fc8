// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <set>
#include <string>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "network/allow_list.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace commands {
namespace {

/// Of a word in an error.
constexpr std::size_t kMaxShown = 60;

network::Site ReadSite(const std::string& word) {
  if (const auto site = network::ParseSite(word, network::kHttpsPort)) return *site;
  throw support::Error(
      "\"{}\" cannot be allowed: give HOST or HOST:PORT, where HOST is a full name such as "
      "pypi.org, without wildcards, addresses and URLs",
      support::Printable(support::CutText(word, kMaxShown)));
}

}  // namespace

int Allow(const Parsed& parsed) {
  const std::string instance = parsed.Positional(0);
  if (instance.empty()) throw support::Error("name the instance: limactl mcp allow INSTANCE HOST");
  const auto configuration = lima::LoadConfiguration(lima::HomeDirectory(), instance);
  if (!configuration.closed())
    throw support::Error("the network of {} is not restricted", instance);
  std::set<network::Site> named;
  for (std::size_t i = 1; i < parsed.unmatched().size(); ++i)
    named.insert(ReadSite(parsed.unmatched()[i]));
  const std::set<network::Site> before = network::ReadAllowList(configuration.directory()).sites;
  const bool removes = parsed["remove"].as<bool>();
  if (named.empty() && removes) throw support::Error("--remove needs the names to remove");
  if (named.empty()) {
    for (const network::Site& site : before) std::cout << site.Text() << '\n';
    return 0;
  }
  if (!removes) {
    network::ChangeAllowList(configuration.directory(), named, {});
    return 0;
  }
  network::ChangeAllowList(configuration.directory(), {}, named);
  for (const network::Site& site : named) {
    if (!before.contains(site)) std::cout << site.Text() << " was not allowed.\n";
  }
  std::cout << "Open connections go on until they are closed.\n";
  return 0;
}

}  // namespace commands
