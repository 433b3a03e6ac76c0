#!/usr/bin/env bash
# fresh_root.sh FOLDER: the newcomer's path. Makes an empty Debian 12 in FOLDER (kept and used again if it is
# there), puts a clone of this repository in it and runs `./dev test` and `./dev run` as a newcomer would.
# Needs root, a network and a few minutes; without root it is skipped (77). The mirror is the host's own.
set -euo pipefail
source_folder=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
root=${1:?usage: fresh_root.sh FOLDER}
mounts=(proc sys dev dev/pts dev/shm)

leave() {
  for ((i = ${#mounts[@]} - 1; i >= 0; --i)); do
    mountpoint -q "$root/${mounts[i]}" && umount "$root/${mounts[i]}"
  done
  return 0
}

# The mirror that the host's apt takes Debian 12 from.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Codename: bookworm' |
    awk 'NR == 1'
}

make_root() {
  local from
  "$source_folder/dev" install fresh-root
  from=$(mirror)
  [[ -n $from ]] || { echo "the host's apt knows no Debian 12 mirror: run apt-get update first" >&2; exit 1; }
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$from" >"$root.log" ||
    { tail "$root.log" >&2; exit 1; }
}

# Network settings of the host, and nothing else of it.
copy_network() {
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -L /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
}

enter() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }

[[ $EUID -eq 0 ]] || { echo "only root can make a root folder"; exit 77; }
trap leave EXIT
[[ -x $root/usr/bin/apt-get ]] || make_root
copy_network
for folder in "${mounts[@]}"; do
  mkdir -p "$root/$folder"
  mountpoint -q "$root/$folder" || mount --bind "/$folder" "$root/$folder"
done
enter apt-get -qq update
enter env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install git >/dev/null

rm -rf "$root/root/fibocast"
git clone -q --no-hardlinks "$source_folder" "$root/root/fibocast"
failed=0
for command in test run; do  # the second also when the first failed: each is a finding of its own
  enter bash -c "cd /root/fibocast && time ./dev $command </dev/null" || failed=1
done
exit "$failed"
