#!/bin/sh
# Installs what the tests on real PortAudio need: a sound server, its ALSA plugin, PortAudio. Starts nothing (the tests
# start a daemon of their own, tests/audio/loop.py) and never fails: without the packages those tests skip and say so.

set -u

say() { echo "audio loop: $*" >&2; }

packages=""
for package in pulseaudio pulseaudio-utils libportaudio2 libasound2-plugins; do
    dpkg -s "$package" >/dev/null 2>&1 || packages="$packages $package"
done

if ! command -v apt-get >/dev/null 2>&1; then
    say "no apt-get here; the tests on real PortAudio run only if PulseAudio is installed already"
elif [ -z "$packages" ]; then
    say "all packages are there"
elif [ "$(id -u)" != 0 ]; then
    say "not root, cannot install$packages; the tests on real PortAudio will be skipped"
else
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # one word a package
    if { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages; } >/dev/null 2>&1; then
        say "installed$packages"
    else
        say "apt-get could not install$packages; the tests on real PortAudio will be skipped"
    fi
fi
exit 0
