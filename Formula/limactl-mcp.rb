# Builds the checkout that this file lies in, as there is no release yet:
#   brew install --HEAD --formula ./Formula/limactl-mcp.rb
class LimactlMcp < Formula
  desc "MCP server that hands a Lima virtual machine to an AI agent"
  homepage "https://lima-vm.io/"
  license "Apache-2.0"
  head "file://#{File.expand_path("..", __dir__)}", using: :git, branch: "main"

  depends_on "cmake" => :build
  depends_on "cxxopts" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "tomlplusplus" => :build
  depends_on "libssh"
  depends_on "lima"
  depends_on "re2"
  depends_on "yaml-cpp"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
                    "-DLIMACTL_MCP_BUILD_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match "limactl-mcp version", shell_output("#{bin}/limactl-mcp --version")
    assert_match "run_shell_command", shell_output("#{bin}/limactl-mcp info")
  end
end
