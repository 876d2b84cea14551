#!/bin/sh
# Installs photic: downloads the archive for this machine, compares its checksum, and puts the program into a folder.
#
#   curl --proto '=https' --tlsv1.2 -LsSf @REPOSITORY@/releases/download/v@VERSION@/install.sh | sh
#
# PHOTIC_INSTALL_DIR   the folder; ~/.local/bin if it is not set
# PHOTIC_DOWNLOAD_URL  where the archives are, for a mirror
#
# Nothing is changed but that folder: no shell profile, no other file.
set -eu

version=@VERSION@
base=${PHOTIC_DOWNLOAD_URL:-@REPOSITORY@/releases/download/v$version}
folder=${PHOTIC_INSTALL_DIR:-${HOME:?HOME is not set; set PHOTIC_INSTALL_DIR}/.local/bin}

fail() {
  printf 'error: %s\n' "$1" >&2
  [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

target() {
  system=$(uname -s) machine=$(uname -m)
  # A program under Rosetta sees an Intel machine.
  if [ "$system-$machine" = Darwin-x86_64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
    machine=arm64
  fi
  case $system-$machine in
    Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-arm64 | Darwin-aarch64) echo aarch64-apple-darwin ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    *) fail "there is no photic for $system on $machine" "build from source: \`cargo install --locked photic-cli\`" ;;
  esac
}

# download ADDRESS FILE. Without TLS only from this machine.
download() {
  if command -v curl >/dev/null; then
    case $1 in
      http://127.0.0.1:* | http://localhost:*) curl -fsS -o "$2" "$1" ;;
      *) curl --proto '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1" ;;
    esac
  elif command -v wget >/dev/null; then
    case $1 in
      http://127.0.0.1:* | http://localhost:* | https://*) wget -q -O "$2" "$1" ;;
      *) fail "$1 is not https" ;;
    esac
  else
    fail "neither curl nor wget is here" "install one of them"
  fi || fail "cannot download $1"
}

checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1"
  else
    fail "neither sha256sum nor shasum is here: the download cannot be checked" "install coreutils"
  fi | cut -d ' ' -f 1
}

main() {
  name=photic-$version-$(target)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$base/SHA256SUMS" "$work/SHA256SUMS"
  download "$base/$name.tar.gz" "$work/$name.tar.gz"
  expected=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS names no $name.tar.gz"
  found=$(checksum "$work/$name.tar.gz")
  [ "$found" = "$expected" ] ||
    fail "$name.tar.gz has the checksum $found, and SHA256SUMS says $expected" "nothing was installed; download again, and report it if it stays so"
  tar -xzf "$work/$name.tar.gz" -C "$work"
  mkdir -p "$folder"
  # Beside the old one, then in its place: a program that runs is not written over.
  cp "$work/$name/photic" "$folder/.photic.$$"
  chmod 755 "$folder/.photic.$$"
  mv -f "$folder/.photic.$$" "$folder/photic"
  printf 'installed %s\n' "$("$folder/photic" --version) as $folder/photic"
  case :$PATH: in
    *:"$folder":*) ;;
    *) printf 'hint: %s is not in PATH; add it, or set PHOTIC_INSTALL_DIR\n' "$folder" ;;
  esac
}

# Everything is defined before anything runs: a download of this script that broke off does nothing.
main
