#!/bin/bash
# Proves the README on a machine that has nothing: tests/fresh.sh [FOLDER] [TARGET...]
#
# Makes a fresh Debian 12 root below FOLDER (default /var/tmp/stride-fresh) with only git, make and
# python3 added, clones the committed HEAD there, and runs `make run` (in a pseudo-terminal, leaving
# with q), then `make test`; or the make targets given. Needs root, debootstrap and this machine's way
# to its Debian mirror and Python index, both taken from this machine's own settings.
set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-/var/tmp/stride-fresh}")
shift || true
targets=${*:-run test}
suite=bookworm
base=$folder/base
root=$folder/root

mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(CREATED_BY)' |
    awk -v suite=$suite '$2 == suite && $3 == "Packages" { print $1; exit }')
[ -n "$mirror" ] || { echo "fresh: this machine's apt knows no $suite" >&2; exit 1; }

settings() { # this machine's way to its package registries
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/auth.conf.d /etc/apt/keyrings \
        /etc/apt/apt.conf.d/*[Aa]cquire* /etc/apt/apt.conf.d/*[Pp]roxy* /etc/apt/apt.conf.d/99* \
        /etc/pip.conf /etc/resolv.conf /etc/hosts; do
        [ -e "$file" ] || continue
        mkdir -p "$1$(dirname "$file")"
        cp -RL "$file" "$1$(dirname "$file")/"
    done
    # A copy of its own, since installing ca-certificates would replace one in /etc.
    cp -L /etc/ssl/certs/ca-certificates.crt "$1/srv/certificates"
    # Only Debian's own sources: others may need what a fresh root lacks.
    grep -rLs "$suite" "$1"/etc/apt/sources.list.d | xargs -r rm -f
}

if [ ! -e "$base/etc/debian_version" ]; then
    rm -rf "$base"
    mkdir -p "$base"
    debootstrap --variant=minbase --include=git,make,python3 $suite "$base" "$mirror" >"$folder/debootstrap.log"
fi
rm -rf "$root"
cp -a "$base" "$root"
settings "$root"
git clone -q --no-hardlinks "$repo" "$root/srv/stride.git"
echo "fresh: $(git -C "$repo" rev-parse --short HEAD) in Debian $(cat "$root/etc/debian_version")"

cat >"$root/srv/go" <<'GO'
#!/bin/bash
set -uo pipefail
git config --global --add safe.directory '*'
git clone -q /srv/stride.git ~/stride && cd ~/stride || exit 1
status=0
for target in "$@"; do
    start=$SECONDS
    if [ "$target" = run ]; then
        # Wait for the screen, then leave: the reader's own keys, through a real terminal.
        (while ! grep -qsa 'Stride' /tmp/screen; do sleep 1; done; sleep 2; printf q; sleep 2) |
            TERM=xterm-256color timeout 900 script -qefc 'stty rows 24 cols 80; make run' /tmp/screen >/dev/null
    else
        make "$target" </dev/null
    fi
    result=$?
    echo "fresh: make $target ended with status $result after $((SECONDS - start)) s"
    [ $result = 0 ] || { status=1; [ "$target" = run ] && tail -c 3000 /tmp/screen | cat -v; }
done
exit $status
GO
chmod 755 "$root/srv/go"

vars=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PIP_CERT=/srv/certificates)
for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || vars+=("$name=${!name}")
done
# The mounts end with the name space.
exec unshare --mount --pid --fork bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    exec chroot "$root" env -i "$@"' fresh "$root" "${vars[@]}" /srv/go $targets
