# The formula of the tap. `release/finish` fills in version and checksums.
class Photic < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["Apache-2.0", "MIT"]

  on_macos do
    on_arm do
      url "@URL:aarch64-apple-darwin@"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL:x86_64-apple-darwin@"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL:aarch64-unknown-linux-musl@"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL:x86_64-unknown-linux-musl@"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "photic"
    man1.install "man/photic.1"
    bash_completion.install "completions/photic.bash" => "photic"
    fish_completion.install "completions/photic.fish"
    zsh_completion.install "completions/_photic"
    doc.install "THIRD-PARTY-NOTICES", "photic.cdx.json", "CHANGELOG.md"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/photic --version")
    request = '{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}'
    assert_match "clean", pipe_output("#{bin}/photic check -", request, 0)
  end
end
