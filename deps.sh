#!/bin/sh
# Installs what Stride needs and this machine lacks; says nothing and is quick when nothing is missing.
#
#   ./deps.sh run     to build and run (also what `make run` calls)
#   ./deps.sh test    to test as well (`make deps`, `make test`)
#   ./deps.sh lint    clang's tools too (`make lint`, `make fuzz`)
#
# System packages come through apt-get, as root or with sudo. The parts of the CUDA Toolkit that are
# missing come as pinned wheels (deps-cuda.txt) through pip into .deps/cuda, which has the shape of a
# toolkit: bin include lib64 nvvm. A part that the machine has is never fetched. Remove .deps to undo.
set -u
cd "$(dirname "$0")" || exit 1
level=${1:-test}

say() { printf 'deps: %s\n' "$*" >&2; }

# ---- system packages: what is tested is that the thing works, not that a package has a certain name

missing=
want() { # want PACKAGE COMMAND...: the package is missing when the command fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
has() { command -v "$1"; }
header() { printf '#include <%s>\n' "$1" | gcc -E -x c -; }

want gcc has gcc
want g++ has g++
want make has make
want git has git
want python3 has python3
if has gcc >/dev/null && has pkg-config >/dev/null; then
    want libc6-dev header stdlib.h
    want libncurses-dev pkg-config --exists ncursesw
    want libgit2-dev pkg-config --exists libgit2
    want libmd4c-dev pkg-config --exists md4c
    want libcyaml-dev pkg-config --exists libcyaml
    want libjansson-dev pkg-config --exists jansson
    want libunistring-dev header unistr.h
    [ "$level" = run ] || want libcmocka-dev header cmocka.h
else
    missing="$missing libc6-dev pkg-config libncurses-dev libgit2-dev libmd4c-dev libcyaml-dev"
    missing="$missing libjansson-dev libunistring-dev"
    [ "$level" = run ] || missing="$missing libcmocka-dev"
fi
if [ "$level" != run ]; then
    want tmux has tmux
    want clang-format-14 has clang-format-14
    want procps has ps
fi
if [ "$level" = lint ]; then
    want clang has clang
    want clang-tidy has clang-tidy
    # libFuzzer and the sanitizers' run time of whichever clang there is
    has clang >/dev/null && fuzzer=$(clang -print-file-name=libclang_rt.fuzzer-x86_64.a) &&
        [ ! -f "$fuzzer" ] && missing="$missing libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    has clang >/dev/null || missing="$missing libclang-rt-dev"
fi

# ---- the CUDA Toolkit: a machine's own toolkit counts from CUDA 12 on

homes=
nvcc=$(command -v nvcc) && nvcc=$(dirname "$(dirname "$(realpath "$nvcc")")")
for home in "${STRIDE_CUDA:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" "$nvcc" /usr/local/cuda /usr/local/cuda-* \
    /opt/cuda; do
    [ -n "$home" ] && [ -f "$home/include/cuda.h" ] &&
        awk '/define CUDA_VERSION/ { exit !($3 >= 12000) }' "$home/include/cuda.h" &&
        homes="$homes $home"
done

toolkit_has() { # toolkit_has FILE...: one of the toolkits has them all (patterns allowed)
    for home in $homes; do
        for file in "$@"; do
            found=
            for path in "$home"/$file; do [ -e "$path" ] && found=1; done
            [ "$found" ] || continue 2
        done
        return 0
    done
    return 1
}

pins() { awk -v part="$1" '$NF == part && $1 !~ /^#/ { print $1, $2 }' deps-cuda.txt; }

parts=
lacks() { # lacks PART FILE...
    part=$1
    shift
    toolkit_has "$@" && return
    [ "$(pins "$part")" = "$(cat ".deps/cuda/$part.pin" 2>/dev/null)" ] || parts="$parts $part"
}
lacks compiler bin/nvcc nvvm/bin/cicc include/cuda_runtime.h include/cuda_fp16.h
lacks nvrtc 'lib64/libnvrtc.so*' 'lib64/libnvrtc-builtins.so*'
toolkit_has 'extras/CUPTI/lib64/libcupti.so*' || lacks cupti 'lib64/libcupti.so*'
lacks nvdisasm bin/nvdisasm
lacks cuobjdump bin/cuobjdump
toolkit_has compute-sanitizer/compute-sanitizer || lacks sanitizer bin/compute-sanitizer

has_pip() { python3 -m pip --version >/dev/null 2>&1 || [ -x .deps/venv/bin/pip ]; }
[ -z "$parts" ] || has_pip || want python3-venv python3 -c 'import ensurepip, venv'

[ -n "$missing$parts" ] || exit 0

install_packages() {
    if ! has apt-get >/dev/null; then
        say "this machine has no apt-get; install what these Debian packages hold, then try again:"
        say " $missing"
        return 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        if has sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            sudo=sudo
        else
            say "system packages are missing and this user may not install them. Ask for:"
            say "  apt-get install$missing"
            return 1
        fi
    fi
    say "installing$missing"
    apt="env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
    # shellcheck disable=SC2086 # lists of words
    {
        $sudo $apt install -y --no-install-recommends $missing </dev/null >/dev/null 2>&1 ||
            { $sudo $apt update </dev/null >/dev/null &&
                $sudo $apt install -y --no-install-recommends $missing </dev/null >/dev/null; }
    } || { say "apt-get could not install$missing"; return 1; }
}

# Unpacks the wheels of one part into .deps/cuda.
install_part() {
    part=$1
    rm -rf .deps/new
    new=.deps/new/nvidia/cu13
    pins "$part" >.deps/pins.txt
    PIP_RETRIES=${PIP_RETRIES:-2} PIP_ROOT_USER_ACTION=ignore $pip install -q --no-deps --require-hashes --no-compile \
        --disable-pip-version-check --target .deps/new -r .deps/pins.txt || return 1
    # Stride uses neither NVRTC's alternative build nor what CUPTI's profiling half brings.
    rm -rf $new/.metadata $new/lib/*.alt.so* $new/lib/libnvperf* $new/lib/libpcsampling* \
        $new/lib/libcheckpoint*
    mkdir -p .deps/cuda/lib64 .deps/cuda/licenses
    ln -sfn lib64 .deps/cuda/lib
    if [ -d $new/lib ]; then mv $new/lib $new/lib64; fi
    cp -Rlf $new/. .deps/cuda/ || return 1
    for file in .deps/new/*.dist-info/licenses/License.txt; do
        [ -f "$file" ] && cp "$file" .deps/cuda/licenses/
    done
    for file in .deps/cuda/lib64/lib*.so.*; do # what a linker looks for
        [ -e "$file" ] && ln -sf "${file##*/}" "${file%%.so.*}.so"
    done
    chmod -R u+w .deps/cuda
    for file in .deps/cuda/bin/* .deps/cuda/nvvm/bin/*; do
        [ -f "$file" ] && chmod 755 "$file"
    done
    mv .deps/pins.txt ".deps/cuda/$part.pin"
    rm -rf .deps/new
}

if [ -n "$missing" ]; then
    install_packages || exit 1
fi
[ -n "$parts" ] || exit 0

case $(uname -sm) in
"Linux x86_64") ;;
*)
    say "no wheels for $(uname -sm); install a CUDA Toolkit, or do without:$parts"
    exit 0
    ;;
esac
mkdir -p .deps
exec 9>.deps/lock
has flock >/dev/null && flock 9
pip="python3 -m pip"
if ! $pip --version >/dev/null 2>&1; then
    [ -x .deps/venv/bin/pip ] || python3 -m venv .deps/venv || exit 1
    pip=.deps/venv/bin/pip
fi
failed=
for part in $parts; do
    say "fetching the CUDA Toolkit's $part into .deps/cuda"
    install_part "$part" || failed="$failed $part"
done
[ -z "$failed" ] && exit 0
say "could not fetch:$failed. What needs them will say so; \`make deps\` tries again."
[ "$level" = run ]
