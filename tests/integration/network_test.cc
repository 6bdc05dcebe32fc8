// SPDX-License-Identifier: Apache-2.0
// A closed guest and its only way out. This process has a network of its own, with a public
// address: the real program resolves names and connects as it always does, and nothing leaves this
// machine.

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <fstream>

#include "integration/fixture.h"
#include "testing/client_hello.h"
#include "testing/private_network.h"
#include "testing/sockets.h"

namespace integration {
namespace {

using testing_support::ClientHello;
using testing_support::ConnectToLoopback;
using testing_support::HelloMessage;
using testing_support::kPublicAddress;
using testing_support::RecordingNameServer;
using testing_support::RecordingServer;
using testing_support::TlsRecords;

/// A client of the proxy in the guest.
class Client {
 public:
  explicit Client(std::uint16_t port = 3128) : socket_(ConnectToLoopback(port)) {}

  Client& Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return *this;
  }
  Client& Connect(const std::string& target, const std::string& more = "") {
    return Send("CONNECT " + target + " HTTP/1.1\r\n" + more + "\r\n");
  }
  void End() { ::shutdown(socket_.get(), SHUT_WR); }

  /// What comes until `end` has come; without one, until the server closes.
  std::string Receive(const std::string& end = "", std::chrono::milliseconds limit = 20s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::string text;
    std::array<char, 65536> piece;
    while (end.empty() || text.find(end) == std::string::npos) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd readable{socket_.get(), POLLIN, 0};
      if (left <= 0ms || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0)
        return text + "[still open]";
      const ssize_t count = ::recv(socket_.get(), piece.data(), piece.size(), 0);
      if (count <= 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  support::FileDescriptor socket_;
};

class ClosedNetworkTest : public IntegrationTest {
 protected:
  void SetUp() override {
    static const testing_support::TemporaryDirectory files;
    static const std::string problem = testing_support::EnterPrivateNetwork(files.path());
    if (!problem.empty()) GTEST_SKIP() << Skipping(problem);
    hosts_ = files.path() / "hosts";
    names_ = std::make_unique<RecordingNameServer>();
    https_ = std::make_unique<RecordingServer>(443);
    other_port_ = std::make_unique<RecordingServer>(8443);
    SetHosts({{"ok.example", kPublicAddress},
              {"other.example", kPublicAddress},
              {"third.example", kPublicAddress}});
    LoopbackInstance::Options options;
    options.name = "closed";
    options.mounts = {{root, "", true}};
    options.lima_yaml = "param: {agentNetwork: closed}\n";
    StartInstance(std::move(options));
    Serve({.arguments = {"closed"}});
    (void)Run({"true"});  // the connection is there
  }

  void SetHosts(const std::vector<std::pair<std::string, std::string>>& hosts) {
    std::ofstream file(hosts_);
    for (const auto& [name, address] : hosts) file << address << ' ' << name << '\n';
  }

  void Allow(std::vector<std::string> words) {
    words.insert(words.begin(), {LIMACTL_MCP_PROGRAM, "allow", "closed"});
    const ProcessResult result =
        RunProcess({.arguments = words, .environment = {{"LIMA_HOME", LimaHome().string()}}});
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }

  /// No connection and no look-up was made meanwhile.
  void ExpectNothingWasReached() {
    for (const RecordingServer* server : {https_.get(), other_port_.get()})
      EXPECT_THAT(server->Received(), IsEmpty());
    EXPECT_THAT(names_->Queries(), IsEmpty());
  }

  /// The note of a command that ran while the client was refused.
  std::string NoteOn(const std::function<void()>& work) {
    const std::int64_t id = BeginShell("echo >started; until [ -e done ]; do sleep 0.02; done");
    (void)Await("started");
    work();
    MakeFile("root/done", "");
    const std::string text = TextOf(client().EndCall(id, 60s));
    for (const char* name : {"root/started", "root/done"}) fs::remove(Path(name));
    const std::size_t note = text.find("network: ");
    return note == std::string::npos ? "" : text.substr(note, text.find('\n', note) - note);
  }

  RecordingServer& https() { return *https_; }
  RecordingServer& other_port() { return *other_port_; }
  RecordingNameServer& names() { return *names_; }
  fs::path ListFile() { return Instance().directory() / "network.allow"; }

 private:
  fs::path hosts_;
  std::unique_ptr<RecordingNameServer> names_;
  std::unique_ptr<RecordingServer> https_;
  std::unique_ptr<RecordingServer> other_port_;
};

TEST_F(ClosedNetworkTest, AllowedNameIsReachedAndGetsOnlyTls) {
  Allow({"ok.example", "ok.example:8443"});
  const std::string hello = ClientHello("ok.example");
  for (const char* request :
       {"CONNECT ok.example:443 HTTP/1.1\r\n\r\n", "CONNECT ok.example:443 HTTP/1.0\r\n\r\n",
        "CONNECT OK.Example.:443 HTTP/1.1\r\nHost: other.example\r\n\r\n",
        "CONNECT ok.example:8443 HTTP/1.1\r\nProxy-Authorization: x\r\nContent-Length: 5\r\n"
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n folded\r\nno colon\r\n"
        "Expect: 100-continue\r\n\r\n"}) {
    Client client;
    EXPECT_EQ(client.Send(request).Receive("\r\n\r\n"),
              "HTTP/1.1 200 Connection established\r\n\r\n");
    EXPECT_EQ(client.Send(hello).Receive("\n"), "answer\n") << request;
  }
  EXPECT_THAT(https().Received(), ::testing::Each(hello));
  EXPECT_THAT(other_port().Received(), ElementsAre(hello));
  EXPECT_THAT(names().Queries(), IsEmpty());
}

TEST_F(ClosedNetworkTest, ClientHelloMayComeInAnyPieces) {
  Allow({"ok.example"});
  const std::string hello = ClientHello("ok.example");
  const std::string small =
      TlsRecords(HelloMessage(testing_support::TlsExtension(21, std::string(900, '\0')) +
                              testing_support::ServerNameExtension("ok.example")),
                 100);
  Client at_once;
  at_once.Send("CONNECT ok.example:443 HTTP/1.1\r\n\r\n" + hello);
  EXPECT_THAT(at_once.Receive("answer\n"), ::testing::EndsWith("\r\n\r\nanswer\n"));
  Client records;
  EXPECT_THAT(records.Connect("ok.example:443").Send(small).Receive("answer\n"),
              HasSubstr("answer"));
  Client bytes;
  bytes.Connect("ok.example:443").Receive("\r\n\r\n");
  for (const char byte : hello) bytes.Send({&byte, 1});
  EXPECT_EQ(bytes.Receive("\n"), "answer\n");
  EXPECT_THAT(https().Received(), ElementsAre(hello, small, hello));
}

TEST_F(ClosedNetworkTest, BothEndsOfADirectionArePassedOn) {
  Allow({"ok.example"});
  const std::string hello = ClientHello("ok.example");
  Client client;
  client.Connect("ok.example:443").Send(hello).Send(std::string(70'000, 'x')).End();
  EXPECT_THAT(client.Receive(),
              ::testing::EndsWith("answer\n" + std::to_string(hello.size() + 70'000) + " bytes\n"));
}

TEST_F(ClosedNetworkTest, OtherTlsNameOrNoTlsGetsNothing) {
  Allow({"ok.example", "ok.example:8443"});
  const std::string hello = ClientHello("ok.example");
  const std::string note = NoteOn([&] {
    for (const std::string& bytes : std::vector<std::string>{
             ClientHello("other.example"), TlsRecords(HelloMessage("")),
             std::string("SSH-2.0-x\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
             std::string("\x15\x03\x01\x00\x02\x01\x00", 7), hello.substr(0, hello.size() - 1)}) {
      for (const char* target : {"ok.example:443", "ok.example:8443"}) {
        Client client;
        client.Connect(target).Receive("\r\n\r\n");
        client.Send(bytes).End();
        EXPECT_EQ(client.Receive(), "") << bytes;
      }
    }
  });
  EXPECT_EQ(note,
            "network: denied ok.example:443 (no TLS, or with another server name), "
            "ok.example:8443 (no TLS, or with another server name)");
  EXPECT_THAT(https().Received(), ::testing::Each(""));
  EXPECT_THAT(other_port().Received(), ::testing::Each(""));
}

TEST_F(ClosedNetworkTest, RefusalNamesTheCommandThatHelps) {
  Allow({"ok.example"});
  std::string answer;
  EXPECT_EQ(NoteOn([&] { answer = Client().Connect("third.example:443").Receive(); }),
            "network: denied third.example:443. The user can run on the host: limactl mcp allow "
            "closed third.example");
  EXPECT_THAT(answer,
              StartsWith("HTTP/1.1 403 Not allowed: limactl mcp allow closed third.example\r\n"));
  EXPECT_THAT(answer, HasSubstr("here is no other way out"));
  EXPECT_THAT(Client().Connect("ok.example:8443").Receive(),
              StartsWith("HTTP/1.1 403 Not allowed: limactl mcp allow closed ok.example:8443\r\n"));
  EXPECT_THAT(Client().Connect("secret.ok.example:443").Receive(), HasSubstr(" 403 "));
  ExpectNothingWasReached();
}

TEST_F(ClosedNetworkTest, NothingIsReachedByAnotherRequest) {
  Allow({"ok.example"});
  const std::string only_https = "HTTP/1.1 400 only https is reached from here\r\n";
  for (const std::string& request : std::vector<std::string>{
           "GET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
           "POST http://ok.example/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody",
           "GET https://ok.example/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
           "SSH-2.0-OpenSSH_9.2\r\n", ClientHello("ok.example"), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
           "connect ok.example:443 HTTP/1.1\r\n\r\n", "CONNECT ok.example:443 HTTP/2.0\r\n\r\n",
           "CONNECT ok.example:443 HTTP/1.2\r\n\r\n", "CONNECT ok.example:443\r\n\r\n",
           "CONNECT  ok.example:443 HTTP/1.1\r\n\r\n", "CONNECT\tok.example:443\tHTTP/1.1\r\n\r\n",
           "CONNECT ok.example:443 HTTP/1.1 x\r\n\r\n", "CONNECT ok.example:443 HTTP/1.1\n\n",
           "\r\nCONNECT ok.example:443 HTTP/1.1\r\n\r\n",
           "CONNECT ok.example:443 HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"})
    EXPECT_THAT(Client().Send(request).Receive(), StartsWith(only_https)) << request;
  for (const std::string& target : std::vector<std::string>{
           "a@ok.example:443", "ok.example", "ok.example:44x", "ok.example:4294967739",
           "ok.example:0", std::string("ok.example\0:443", 15), "https://ok.example:443",
           "93.184.215.14:443", "2130706433:443", "0x7f000001:443", "127.1:443", "[::1]:443",
           "wpad:443", "*.example:443"}) {
    const std::string answer = Client().Connect(target).Receive();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << target;
    EXPECT_THAT(answer, Not(HasSubstr("limactl"))) << target;
  }
  ExpectNothingWasReached();
}

TEST_F(ClosedNetworkTest, ChangeOfTheListHoldsAtOnce) {
  const auto answer = [] { return Client().Connect("ok.example:443").Receive("\r\n"); };
  EXPECT_THAT(answer(), HasSubstr(" 403 "));
  Allow({"ok.example"});
  EXPECT_THAT(answer(), HasSubstr(" 200 "));
  Allow({"--remove", "ok.example"});
  EXPECT_THAT(answer(), HasSubstr(" 403 "));
  std::ofstream(ListFile()) << "*\n*.example:443\nok.example\nother.example:443\n";
  EXPECT_THAT(answer(), HasSubstr(" 403 "));
  const std::string line = "ok.example:443\n";
  std::ofstream(ListFile()) << line;
  EXPECT_THAT(answer(), HasSubstr(" 200 "));
  // Exactly the limit, and one byte more.
  const auto padded = [&](std::size_t size) {
    return line + std::string(size - line.size(), '\n');
  };
  std::ofstream(ListFile()) << padded(std::size_t{64} * 1024);
  EXPECT_THAT(answer(), HasSubstr(" 200 "));
  std::ofstream(ListFile()) << padded(std::size_t{64} * 1024 + 1);
  EXPECT_THAT(answer(), HasSubstr(" 403 "));
  fs::remove(ListFile());
  MakeFile("elsewhere", line);
  fs::create_symlink(Path("elsewhere"), ListFile());
  EXPECT_THAT(answer(), AllOf(HasSubstr(" 403 "), Not(HasSubstr("limactl"))));
}

TEST_F(ClosedNetworkTest, PrivateAddressIsNeverConnected) {
  Allow({"ok.example"});
  for (const char* address :
       {"127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.5.2"}) {
    SetHosts({{"ok.example", address}});
    EXPECT_THAT(Client().Connect("ok.example:443").Receive(),
                AllOf(StartsWith("HTTP/1.1 403 Not allowed: ok.example has a private address\r\n"),
                      Not(HasSubstr("limactl"))))
        << address;
  }
  ExpectNothingWasReached();
  SetHosts({{"ok.example", "127.0.0.1"}, {"ok.example", kPublicAddress}});
  EXPECT_THAT(Client().Connect("ok.example:443").Receive("\r\n"), HasSubstr(" 200 "));
  SetHosts({{"ok.example", "2606:2800:21f:cb07::1"}});
  EXPECT_THAT(Client().Connect("ok.example:443").Receive("\r\n"), HasSubstr(" 502 "));
}

TEST_F(ClosedNetworkTest, UnreachableNameIsNamedInTheAnswer) {
  Allow({"gone.example", "ok.example:81"});
  EXPECT_THAT(Client().Connect("gone.example:443").Receive(),
              StartsWith("HTTP/1.1 502 gone.example has no IPv4 address\r\n"));
  EXPECT_THAT(names().Queries(), ElementsAre(::testing::Pair("gone.example", 1)));
  EXPECT_THAT(Client().Connect("ok.example:81").Receive(),
              StartsWith("HTTP/1.1 502 ok.example:81 does not answer\r\n"));
}

TEST_F(ClosedNetworkTest, ManyClientsAreServedAndSilentOnesClosed) {
  Allow({"ok.example"});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<Client>());
    clients.back()->Connect("ok.example:443");
  }
  int served = 0;
  for (const auto& client : clients)
    served += client->Receive("\r\n\r\n").find(" 200 ") != std::string::npos ? 1 : 0;
  EXPECT_EQ(served, 128);
  // Those are silent now, as these are from the beginning.
  for (const auto& client : clients) EXPECT_EQ(client->Receive(), "");
  clients.clear();
  for (int i = 0; i < 128; ++i) clients.push_back(std::make_unique<Client>());
  clients.front()->Send("CONNECT ok.example:443 HTTP/1.1\r\n");
  for (const auto& client : clients) EXPECT_EQ(client->Receive(), "");
  EXPECT_THAT(Client().Connect("ok.example:443").Receive("\r\n"), HasSubstr(" 200 "));
}

TEST_F(ClosedNetworkTest, ServersHaveTheirOwnPortsAndDenials) {
  const auto port = [this] { return Shell("echo $https_proxy")["stdout"].get<std::string>(); };
  EXPECT_EQ(port(), "http://127.0.0.1:3128\n");
  Serve({.arguments = {"closed"}});
  const std::string second = port();
  EXPECT_NE(second, "http://127.0.0.1:3128\n");
  EXPECT_EQ(NoteOn([] { Client().Connect("third.example:443").Receive(); }), "");
  EXPECT_THAT(NoteOn([&] {
                Client(static_cast<std::uint16_t>(std::stoi(second.substr(17))))
                    .Connect("third.example:443")
                    .Receive();
              }),
              HasSubstr("third.example:443"));
}

TEST_F(ClosedNetworkTest, PortIsFreeAfterAKillAndStaysTheSameAfterAReconnect) {
  client().process().Signal(SIGKILL);
  ForgetServer();
  ASSERT_TRUE(Eventually([] {
    try {
      Client client;
      return false;
    } catch (const std::system_error&) {
      return true;
    }
  }));
  Serve({.arguments = {"closed"}});
  EXPECT_EQ(Shell("echo $https_proxy")["stdout"], "http://127.0.0.1:3128\n");
  for (const pid_t pid : Instance().SessionPids()) ::kill(pid, SIGKILL);
  ASSERT_TRUE(Eventually([this] { return Instance().SessionPids().empty(); }));
  EXPECT_EQ(Shell("echo $https_proxy")["stdout"], "http://127.0.0.1:3128\n");
}

}  // namespace
}  // namespace integration
