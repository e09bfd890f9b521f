#!/bin/sh
# Installs the latest release of slipstitch: downloads the archive for this system, verifies its checksum, and copies the
# program, its manual pages and nothing else.
#
#   curl -fsSL https://github.com/slipstitch/slipstitch/releases/latest/download/install.sh | sh
#
# SLIPSTITCH_PREFIX    where to (default: ~/.local, or /usr/local for root)
# SLIPSTITCH_VERSION   which version (default: the one this script came with)
# SLIPSTITCH_TARGET    which build (default: chosen for this system)
# SLIPSTITCH_URL       where the archives are (default: the release on GitHub)
#
# To uninstall: `slipstitch uninstall`, then delete the files this script lists.
set -eu

main() {
  version=${SLIPSTITCH_VERSION:-@VERSION@}
  url=${SLIPSTITCH_URL:-@HOMEPAGE@/releases/download/v$version}
  target=${SLIPSTITCH_TARGET:-$(this_system)}
  if [ -n "${SLIPSTITCH_PREFIX:-}" ]; then prefix=$SLIPSTITCH_PREFIX
  elif [ "$(id -u)" = 0 ]; then prefix=/usr/local
  else prefix=$HOME/.local
  fi
  name=slipstitch-$version-$target
  archive=$name.tar.gz

  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$url/$archive" "$folder/$archive"
  download "$url/SHA256SUMS" "$folder/SHA256SUMS"
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$folder/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS has no line for $archive"
  actual=$(sha256 "$folder/$archive")
  [ "$actual" = "$expected" ] ||
    fail "the checksum of $archive is $actual, not $expected; nothing was installed"
  tar -xzf "$folder/$archive" -C "$folder"
  "$folder/$name/slipstitch" --version >/dev/null || fail "the program does not run here; nothing was installed"

  mkdir -p "$prefix/bin" "$prefix/share/man/man1"
  # Copied next to its place and renamed, so that a running server keeps its program.
  cp "$folder/$name/slipstitch" "$prefix/bin/.slipstitch.new"
  chmod 755 "$prefix/bin/.slipstitch.new"
  mv -f "$prefix/bin/.slipstitch.new" "$prefix/bin/slipstitch"
  cp "$folder/$name"/man/*.1 "$prefix/share/man/man1/"
  echo "installed slipstitch $version:"
  echo "  $prefix/bin/slipstitch"
  echo "  $prefix/share/man/man1/slipstitch*.1"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in your PATH; add it in your shell's settings." ;;
  esac
  echo "Next: slipstitch mcp install"
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

this_system() {
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no build for $(uname -m); try: cargo install slipstitch-cli" ;;
  esac
  case $(uname -s) in
    # The static build, which runs on every distribution.
    Linux) echo "$machine-unknown-linux-musl" ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) fail "there is no build for $(uname -s); on Windows, use install.ps1" ;;
  esac
}

download() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "cannot download $1"
  else
    fail "curl or wget is needed"
  fi
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null; then openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else fail "sha256sum, shasum or openssl is needed to verify the download"
  fi
}

# In a function, so that a download that breaks off runs nothing.
main
