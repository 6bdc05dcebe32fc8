# Runs the test block of Formula/limactl-mcp.rb without Homebrew, against a built program:
#   ruby packaging/test-formula.rb PROGRAM
# Implements what that block uses of Homebrew's Formula and assertions.
require "fileutils"
require "json"
require "open3"
require "pathname"
require "tmpdir"

class Formula
  class << self
    attr_reader :fields, :test_block

    %i[desc homepage license head depends_on].each do |name|
      define_method(name) { |*arguments| (@fields ||= {})[name] = arguments }
    end
    def on_linux = yield
    def test(&block) = @test_block = block
  end

  attr_reader :bin, :testpath

  def initialize(bin, testpath)
    @bin = bin
    @testpath = testpath
  end

  def shell_output(command, status = 0)
    output = `#{command}`
    raise "#{command}: exit #{$?.exitstatus}, #{output}" if $?.exitstatus != status

    output
  end

  def pipe_output(command, input, status)
    output, result = Open3.capture2(command, stdin_data: input)
    raise "#{command}: exit #{result.exitstatus}, #{output}" if result.exitstatus != status

    output
  end

  def assert_match(expected, actual) = actual.include?(expected) || raise("no #{expected} in #{actual}")
  def assert_equal(expected, actual) = expected == actual || raise("#{actual} is not #{expected}")
  def assert_includes(list, item) = list.include?(item) || raise("no #{item} in #{list}")
end

# Homebrew's also makes the directory.
class Pathname
  def write(text)
    dirname.mkpath
    File.write(self, text)
  end
end

require_relative "../Formula/limactl-mcp"
raise "desc is longer than 80 characters" if "limactl-mcp: #{LimactlMcp.fields[:desc][0]}".size > 80

Dir.mktmpdir do |directory|
  ENV["HOME"] = directory
  ENV.delete("LIMA_HOME")
  bin = Pathname(directory)/"bin"
  bin.mkpath
  FileUtils.cp(ARGV.fetch(0), bin/"limactl-mcp")
  LimactlMcp.new(bin, Pathname(directory)).instance_exec(&LimactlMcp.test_block)
end
puts "the formula's test passes"
