#!/bin/sh
# Installs the system packages that webarc cannot get with pip: with apt-get where that is possible, and otherwise says
# exactly what to install and stops.
#
#   scripts/bootstrap.sh run       what webarc needs to run: git, rsync, a Python that can make a venv
#   scripts/bootstrap.sh libmagic  libmagic of the system, for machines where pylibmagic does not serve
#   scripts/bootstrap.sh test      what some tests need, and are skipped without: PostgreSQL, Chromium, strace, wget,
#                                  zsh, fish
#   scripts/bootstrap.sh bench     what the benchmarks need: nginx, wget2, wget
#   scripts/bootstrap.sh python    prints the Python that the rest uses
set -eu

has() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ]; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

# sudo is used where it works, or where somebody sits who can type a password.
may_be_root() { [ "$(id -u)" = 0 ] || { has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

install() {
    has apt-get && may_be_root || return 1
    echo "installing with apt-get: $*" >&2
    log=$(mktemp)
    for attempt in without-update with-update; do
        [ "$attempt" = without-update ] || as_root apt-get -qq update >>"$log" 2>&1 || true
        if as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >>"$log" 2>&1
        then
            rm -f "$log"
            return 0
        fi
    done
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
}

must() { # must PACKAGE... : install, or say what is missing and stop
    install "$@" && return 0
    echo "webarc needs these packages: $*" >&2
    echo "install them (on Debian or Ubuntu: sudo apt-get install $*) and run make again." >&2
    exit 1
}

may() { # may WHAT PACKAGE... : install if it can be done without asking anybody, else go on without it
    what=$1
    shift
    if [ "$(id -u)" = 0 ] && install "$@"; then return 0; fi
    echo "note: $what (to have it: sudo apt-get install $*)" >&2
}

missing_for_run() {
    has git || echo git
    has rsync || echo rsync
    python=$(find_python)
    if [ -z "$python" ]; then
        echo python3 python3-venv
    elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo python3-venv
    fi
}

case ${1:-run} in
run)
    packages=$(missing_for_run | tr '\n' ' ')
    # shellcheck disable=SC2086
    [ -z "$packages" ] || must $packages
    if [ -z "$(find_python)" ]; then
        echo "webarc needs Python 3.11 or newer; install it and name it: make PYTHON=/path/to/python3" >&2
        exit 1
    fi
    ;;
libmagic) must libmagic1 ;;
test)
    if ! has postgres && ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
        may "without a PostgreSQL server its tests are skipped" postgresql
    fi
    has chromium || has google-chrome || may "without a browser the tests of pages in it are skipped" chromium
    has strace || may "without strace nothing is killed in the middle of a system call" strace
    has wget || may "without wget its engine is not tried" wget
    has zsh && has fish || may "without zsh and fish completion in them is not tried" zsh fish
    ;;
bench)
    packages=$(for tool in nginx wget2 wget; do has "$tool" || echo "$tool"; done | tr '\n' ' ')
    # shellcheck disable=SC2086
    [ -z "$packages" ] || must $packages
    ;;
python) find_python ;;
*)
    sed -n '2,10p' "$0" >&2
    exit 2
    ;;
esac
