#!/bin/sh
# What a user would write without webarc: peer.sh URL FOLDER CONNECTIONS
set -eu
mkdir -p "$2/stage" "$2/archive"
cd "$2"
# 8: some page answered with an error, as on most sites
wget2 --quiet --recursive --level=inf --max-threads="$3" --directory-prefix=stage -- "$1" || test $? = 8
rsync --archive stage/ archive/
cd archive
git init --quiet
git add --all
# gc.auto=0: otherwise git begins to pack in the background, and that would fall into the next measurement
git -c user.name=peer -c user.email=peer@localhost -c gc.auto=0 commit --quiet --message "$1"
