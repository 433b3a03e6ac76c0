#!/usr/bin/env bash
# machine.sh PROJECT SCRIPT [HOST...]: runs SCRIPT in a copy of the folder PROJECT on a machine that is nobody else's: own
# network, own /etc, /run, /tmp, /usr/local/bin, /var/lib. Expects new mount, network and process namespaces (unshare), with
# which all of it ends. With HOSTs there is one more machine for each; SCRIPT runs on the first, ssh and scp reach the others.
set -euo pipefail
project=$1 script=$2
shift 2

mount --make-rprivate /
mount -t tmpfs none /mnt
cp -a "$project" /mnt/project
cp "$script" /mnt/session
mkdir /mnt/dpkg
mount --bind /var/lib/dpkg /mnt/dpkg
ip link set lo up

# What a machine writes, its own.
own_files() {
  mkdir -p "/mnt/etc$1"
  mount -t tmpfs none "/mnt/etc$1"
  cp -a /etc/. "/mnt/etc$1" 2>/dev/null || true
  printf '127.0.0.1 localhost\n' >"/mnt/etc$1/hosts"
  local number=0 host
  for host in "${@:2}"; do printf '10.77.0.%d %s\n' $((number += 1)) "$host" >>"/mnt/etc$1/hosts"; done
  mount --bind "/mnt/etc$1" /etc
  local folder
  for folder in /run /tmp /usr/local/bin /var/lib; do mount -t tmpfs none "$folder"; done
  mkdir /var/lib/dpkg
  mount --bind /mnt/dpkg /var/lib/dpkg  # what is installed is asked for
}
export -f own_files

cat >/mnt/ssh <<'TEXT'
#!/usr/bin/env bash
# ssh HOST COMMAND: another host is a namespace of this one.
exec nsenter --target "$(cat "/mnt/pid-${1#*@}")" --mount --net --uts -- sh -c "cd /; ${*:2}"
TEXT
cat >/mnt/scp <<'TEXT'
#!/usr/bin/env bash
# scp -p FILE... HOST:PLACE: with their modes.
[[ $1 == -p ]] && shift
files=("${@:1:$#-1}") to=${!#}
for file in "${files[@]}"; do
  place=${to#*:}
  [[ $place != */ ]] || place+=$(basename "$file")
  /mnt/ssh "${to%%:*}" install -m "$(stat -c %a "$file")" /dev/stdin "$place" <"$file"
done
TEXT
mkdir /mnt/bin
install -m 755 /mnt/ssh /mnt/scp /mnt/bin/
chmod 755 /mnt/ssh
export PATH=/mnt/bin:$PATH

if [[ $# -eq 0 ]]; then
  own_files /here
  cd /mnt/project
  exec bash /mnt/session
fi

ip link add fibocast type bridge
ip link set fibocast up
number=0
for host in "$@"; do
  number=$((number + 1))
  unshare --mount --net --uts bash -c "hostname $host; own_files /$host $*; echo \$\$ >/mnt/pid-$host; exec sleep infinity" &
  until [[ -s /mnt/pid-$host ]]; do read -rt 0.02 <> <(:) || true; done
  pid=$(cat "/mnt/pid-$host")
  ip link add "v$number" type veth peer name eth0 netns "$pid"
  ip link set "v$number" master fibocast up
  nsenter --target "$pid" --net bash -c "ip link set lo up; ip address add 10.77.0.$number/24 dev eth0; ip link set eth0 up"
done
exec nsenter --target "$(cat "/mnt/pid-$1")" --mount --net --uts -- bash -c "cd /mnt/project && exec bash /mnt/session"
