#!/bin/bash
# Makes one tarball that runs wherever it is unpacked: bundle.sh BUILD VERSION [DIST].
#
#   bin/        the three programs; they look for libraries in ../lib first (RPATH $ORIGIN/../lib)
#   lib/        every shared library they need that is not glibc
#   share/      lessons, kernels, assets, terminal descriptions, man page, licences
#   stride      a link to bin/stride
#
# Nothing of the CUDA Toolkit is inside: its licence lets only some libraries be passed on, and neither
# nvdisasm nor cuobjdump is among them. The machine's own toolkit is used.
set -euo pipefail
cd "$(dirname "$0")"
build=$1
version=$2
dist=${3:-dist}
name=stride-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
top=$dist/$name

rm -rf "$top"
mkdir -p "$top"/{bin,lib,share/stride,share/man/man1,share/doc/stride/licences}
install -m 755 "$build/stride" "$build/stride-harness" "$build/stride-host" "$top/bin"
strip "$top"/bin/*
ln -s bin/stride "$top/stride"

package_of() { # the Debian package that a library file belongs to; paths are recorded with or without /usr
    local file
    for file in "$1" "/usr$1" "${1#/usr}"; do
        dpkg-query -S "$file" 2>/dev/null | head -1 | cut -d: -f1 | grep . && return
    done
}

declare -A seen
while read -r soname path; do
    package=$(package_of "$(realpath "$path")") || package=$(package_of "$path") || {
        echo "bundle: $path belongs to no package; install Debian's build of it" >&2
        exit 1
    }
    [ "$package" = libc6 ] && continue
    install -m 644 "$path" "$top/lib/$soname"
    strip --strip-unneeded "$top/lib/$soname"
    if [ -z "${seen[$package]:-}" ]; then
        seen[$package]=1
        cp -L "/usr/share/doc/$package/copyright" "$top/share/doc/stride/licences/$package.txt"
    fi
done < <(ldd "$top"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u)

cp -R lessons kernels assets "$top/share/stride"
cp README.md LICENSE docs/*.md "$top/share/doc/stride"
cp docs/stride.1 "$top/share/man/man1"

# For machines that do not know their user's terminal: ncurses' own descriptions of the common ones.
for folder in /usr/share/terminfo /lib/terminfo /etc/terminfo; do
    for entry in "$folder"/*/{xterm,xterm-256color,xterm-color,xterm-mono,xterm-kitty,xterm-ghostty,screen,screen-256color,screen.xterm-256color,tmux,tmux-256color,tmux-direct,linux,vt100,vt220,ansi,dumb,rxvt,rxvt-256color,rxvt-unicode,rxvt-unicode-256color,alacritty,foot,konsole-256color,st-256color,wezterm}; do
        [ -f "$entry" ] || continue
        folder_of=$top/share/stride/terminfo/$(basename "$(dirname "$entry")")
        mkdir -p "$folder_of"
        cp -L "$entry" "$folder_of/"
    done
done

tar -C "$dist" --sort=name --owner=0 --group=0 --numeric-owner -czf "$dist/$name.tar.gz" "$name"
glibc=$(objdump -T "$top"/bin/* "$top"/lib/* | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1)
echo "$dist/$name.tar.gz: $(du -h "$dist/$name.tar.gz" | cut -f1), needs ${glibc/GLIBC_/glibc } or newer"
