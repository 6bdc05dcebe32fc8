// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_key.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "lima/sandbox.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/join.h"
#include "support/printable.h"

namespace ssh {
namespace {

constexpr std::size_t kMaxShown = 100;  // bytes of names in an error

std::vector<std::string> ReadFiles(const Endpoint& endpoint) {
  std::vector<std::string> texts;
  for (const std::string& file : endpoint.host_key.files) {
    try {
      texts.push_back(support::ReadFile(file, kMaxKnownHosts).value_or(""));
    } catch (const support::Error& error) {
      throw support::Error("the guest's host key cannot be checked: {}. Restart the instance: `{}`",
                           error.what(), lima::RestartCommand(endpoint.instance));
    }
  }
  return texts;
}

/// "SHA256:…", as ssh-keygen -l shows it.
std::string Fingerprint(const Key& key) {
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK)
    return "?";
  const std::unique_ptr<char, decltype(&ssh_string_free_char)> text(
      ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size), &ssh_string_free_char);
  ssh_clean_pubkey_hash(&hash);
  return text ? text.get() : "?";
}

}  // namespace

bool HasRecordedHostKey(const Endpoint& endpoint) {
  return !RecordedHostKeys(endpoint).empty();
}

RecordedHostKeys::RecordedHostKeys(const Endpoint& endpoint)
    : endpoint_(endpoint), texts_(ReadFiles(endpoint)) {
  const lima::HostKeyRules& rules = endpoint_.host_key;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    std::istringstream lines(texts_[i]);
    for (std::string line; std::getline(lines, line);) ReadLine(std::move(line), rules.files[i]);
  }
  if (!rules.is_strict || !keys_.empty()) return;
  throw support::Error(
      "StrictHostKeyChecking is yes in ssh.config, but no host key of the guest is recorded: {} "
      "has none of {}. Nothing was sent; restart the instance: `{}`",
      rules.files.empty() ? "UserKnownHostsFile" : support::Join(rules.files), rules.name,
      lima::RestartCommand(endpoint_.instance));
}

void RecordedHostKeys::ReadLine(std::string line, const std::string& file) {
  // libssh knows neither tabs nor comments.
  std::ranges::replace_if(
      line, [](char c) { return c == '\t' || c == '\r'; }, ' ');
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  if (line.starts_with('#')) return;
  const std::string names = line.substr(0, line.find(' '));
  ssh_knownhosts_entry* entry = nullptr;
  const bool is_of_guest =
      ssh_known_hosts_parse_line(endpoint_.host_key.name.c_str(), line.c_str(), &entry) == SSH_OK;
  if (is_of_guest) {
    keys_.push_back({Key(std::exchange(entry->publickey, nullptr)), file});
    ssh_knownhosts_entry_free(entry);
  }
  // libssh skips lines with a marker, and does not see that a name is negated.
  if (!names.starts_with('@') && (!is_of_guest || names.find('!') == std::string::npos)) return;
  throw support::Error(
      "the guest's host key cannot be checked: {} has a line that begins with {}, which is not "
      "supported. Restart the instance: `{}`",
      file, support::Printable(names.substr(0, kMaxShown)),
      lima::RestartCommand(endpoint_.instance));
}

std::string RecordedHostKeys::Algorithms() const {
  std::set<std::string> names;
  for (const Recorded& each : keys_) {
    const std::string type = ssh_key_type_to_char(ssh_key_type(each.key.get()));
    names.insert(type == "ssh-rsa" ? "rsa-sha2-512,rsa-sha2-256" : type);
  }
  return support::Join({names.begin(), names.end()}, ",");
}

void RecordedHostKeys::Check(ssh_session session) const {
  if (keys_.empty()) return;
  ssh_key shown = nullptr;
  ssh_get_server_publickey(session, &shown);
  const Key key(shown);
  if (!key) throw support::ConnectionLost("the guest's sshd has shown no host key", false);
  const auto equals = [&key](const Recorded& each) {
    return ssh_key_cmp(key.get(), each.key.get(), SSH_KEY_CMP_PUBLIC) == 0;
  };
  if (std::ranges::any_of(keys_, equals)) return;
  const auto same_type = std::ranges::find_if(keys_, [&key](const Recorded& each) {
    return ssh_key_type(each.key.get()) == ssh_key_type(key.get());
  });
  Refuse(Fingerprint(key), same_type == keys_.end() ? keys_.front() : *same_type);
}

void RecordedHostKeys::CheckFailure(const std::string& error) const {
  // libssh's name of what was not agreed on.
  if (keys_.empty() || error.find("server host key algo") == std::string::npos) return;
  Refuse("of another type", keys_.front());
}

void RecordedHostKeys::Refuse(const std::string& shown, const Recorded& recorded) const {
  if (ReadFiles(endpoint_) != texts_) {
    throw support::ConnectionLost("the recorded host keys of the guest have just changed", false);
  }
  throw support::Error(
      "the program at {}:{} is not the guest that Lima started: its host key is {}, but {} has {} "
      "for {}. Nothing was sent to it; restart the instance: `{}`",
      endpoint_.host, endpoint_.port, shown, recorded.file, Fingerprint(recorded.key),
      support::Printable(endpoint_.host_key.name), lima::RestartCommand(endpoint_.instance));
}

}  // namespace ssh
