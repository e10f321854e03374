#!/bin/sh
# usage: run.sh CASE.sh GPH
# Runs a case in an empty folder, with $GPH the command and $CASES this folder, and compares
# what it prints, standard error included, with CASE.out. Exit status 77 of the case: skipped.
# CLI_UPDATE=1 writes CASE.out instead.
set -u
CASES=$(cd "$(dirname "$1")" && pwd)
name=$(basename "$1" .sh)
GPH=$2
export CASES GPH
unset GPH_DRIVER GPH_SOFTCUDA_PATH GPH_LOG
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir work && cd work || exit 1
sh "$CASES/$name.sh" >../out 2>&1
code=$?
[ $code = 77 ] && { cat ../out; exit 77; }
if [ "${CLI_UPDATE:-}" = 1 ]; then
    cp ../out "$CASES/$name.out"
else
    diff -u "$CASES/$name.out" ../out || exit 1
fi
[ $code = 0 ] || { echo "the case ended with $code"; exit 1; }
