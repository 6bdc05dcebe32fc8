# SPDX-License-Identifier: Apache-2.0
# `head` builds the checkout that this tap is a clone of, from its branch main.
class LimactlMcp < Formula
  desc "MCP server that hands a Lima virtual machine to an AI agent"
  homepage "https://github.com/limactl-mcp/limactl-mcp"
  # Without a revision: this file is in the commit that has the tag.
  url "https://github.com/limactl-mcp/limactl-mcp.git", tag: "v1.0.0"
  license "Apache-2.0"
  head "file://#{File.expand_path("..", __dir__)}", using: :git, branch: "main"

  depends_on "cmake" => :build
  depends_on "cxxopts" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "tomlplusplus" => :build
  depends_on "libssh"
  depends_on "lima"
  depends_on "re2"
  depends_on "yaml-cpp"

  on_linux do
    depends_on "openssl@4" # libssh's
  end

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
                    "-DLIMACTL_MCP_BUILD_TESTS=OFF", "-DLIMACTL_MCP_WARNINGS_ARE_ERRORS=OFF",
                    *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    # Shells read this after limactl's own, so that it also completes `limactl mcp`.
    bash_completion.install share/"bash-completion/completions/limactl-mcp"
  end

  test do
    assert_match "there is no Lima instance", shell_output("#{bin}/limactl-mcp serve absent 2>&1", 1)

    # The server answers and lists its tools before there is any connection.
    (testpath/".lima/default/lima.yaml").write "mounts: []\n"
    requests = [
      { jsonrpc: "2.0", id: 1, method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "brew", version: "1" } } },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
    ]
    answers = pipe_output("#{bin}/limactl-mcp serve default", requests.map { |r| "#{JSON.generate(r)}\n" }.join, 0)
    answers = answers.lines.map { |line| JSON.parse(line) }
    assert_equal "lima", answers.find { |answer| answer["id"] == 1 }.dig("result", "serverInfo", "name")
    assert_includes answers.find { |answer| answer["id"] == 2 }.dig("result", "tools").map { |tool| tool["name"] },
                    "run_shell_command"
  end
end
