"""The Debian packages in a clean Debian 12: package_test.py BUILD, the folder of the build `package`.

They are installed by apt, used as their users would - a service without systemd, a barrier, applications of others in C
and C++ - and removed. Only root can do that; without it the test is skipped (77).
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from clean_root import Booted, CleanRoot, cgroup_mount, eventually

BUILD = Path(sys.argv.pop(1)).resolve()
HERE = Path(__file__).resolve().parent
PACKAGES = ["fibocast", "libfibocast0", "libfibocast-dev", "python3-fibocast"]
FILES = ["/usr/bin/fibocast", "/usr/bin/fibocastd", "/usr/bin/fibocast-simulate", "/etc/fibocast/node.toml",
         "/lib/systemd/system/fibocastd.service", "/usr/share/man/man1/fibocast.1.gz",
         "/usr/share/man/man1/fibocast-simulate.1.gz", "/usr/share/man/man5/node.toml.5.gz",
         "/usr/share/man/man8/fibocastd.8.gz", "/usr/share/bash-completion/completions/fibocast",
         "/usr/share/doc/fibocast/REFERENCE.md"]
SAID = "passed as rank 0 of 1\nthe sum is 42\n"  # by each of the applications
LEFT = "find / -xdev -iname '*fibocast*' -not -path '/packages/*' -not -path '/proc/*'"
# Daemons as the service would have them, without systemd; they end with the script.
SERVE = """
rm -rf /run/fibocast
install -d -o fibocast -g fibocast /run/fibocast
serve() { runuser -u fibocast -- fibocastd "$@" 2>>/tmp/daemons.log & }
await() {
  local socket try
  for socket in "$@"; do
    for try in $(seq 600); do [ -S "$socket" ] && break; sleep 0.05; done
    [ -S "$socket" ] || { cat /tmp/daemons.log; exit 1; }
  done
}
"""
AS_INSTALLED = SERVE + """
serve --config /etc/fibocast/node.toml
export FIBOCAST_SOCKET=/run/fibocast/fibocast.sock
await $FIBOCAST_SOCKET
"""


def setUpModule():
    global root
    root = CleanRoot(BUILD)
    unittest.addModuleCleanup(root.remove)
    (root.folder / "packages").mkdir()
    for package in PACKAGES:
        found = list(BUILD.glob(f"{package}_*.deb"))
        assert len(found) == 1, f"{len(found)} files {package}_*.deb in {BUILD}: ./dev package makes them"
        shutil.copy(found[0], root.folder / "packages")
    shutil.copytree(HERE / "outside", root.folder / "outside")
    root.must("apt-get -qq update")
    root.must("apt-get -qq -y install --no-install-recommends /packages/fibocast_*.deb")


class Installed(unittest.TestCase):
    def test_files(self):
        self.assertEqual([path for path in FILES if not root.has(path)], [])
        self.assertEqual(root.must("dpkg-query -W -f '${db:Status-Status}' fibocast"), "installed")
        self.assertIn("/etc/fibocast/node.toml", root.must("dpkg-query -W -f '${Conffiles}' fibocast"))
        self.assertTrue(root.has("/etc/systemd/system/multi-user.target.wants/fibocastd.service"), "it is enabled")

    def test_the_user_of_the_service_cannot_log_in(self):
        self.assertRegex(root.must("getent passwd fibocast"), "^fibocast:x:[0-9]+:[0-9]+:.*:/var/lib/fibocast:.*nologin$")
        self.assertEqual(root.must("stat -c '%U:%G %a' /var/lib/fibocast"), "fibocast:fibocast 750\n")

    def test_programs_are_hardened_and_stripped(self):
        for program in ("fibocast", "fibocastd", "fibocast-simulate"):
            said = subprocess.run(["readelf", "-hdSW", root.folder / "usr/bin" / program], text=True, check=True,
                                  stdout=subprocess.PIPE).stdout
            self.assertIn("BIND_NOW", said)
            self.assertIn("DYN (Position-Independent", said)
            self.assertNotIn(".symtab", said)

    def test_the_settings_as_installed_serve_this_host_only(self):
        self.assertEqual(root.must("fibocastd --config /etc/fibocast/node.toml --check-config"), "the settings are good\n")
        said = root.must(AS_INSTALLED + """
            fibocast barrier gate && fibocast status
            stat -c '%U:%G %a' $FIBOCAST_SOCKET
            cat /proc/net/udp /proc/net/udp6""", alone=True)
        self.assertIn("fibocast:fibocast 660", said)
        self.assertIn("0100007F:", said)
        self.assertNotIn(" 00000000:", said.replace("00000000:0000", ""))

    def test_two_daemons_with_a_key_meet(self):
        said = root.must(SERVE + """
            fibocast key generate /etc/fibocast/key >/dev/null && chown fibocast: /etc/fibocast/key
            for rank in 0 1; do
              serve --rank $rank --nodes 127.0.0.1:7001,127.0.0.1:7002 --key-file /etc/fibocast/key \\
                --socket /run/fibocast/$rank.sock
            done
            await /run/fibocast/0.sock /run/fibocast/1.sock
            fibocast wait --nodes 2 --socket /run/fibocast/0.sock >/dev/null
            fibocast barrier gate --socket /run/fibocast/1.sock &
            fibocast barrier gate --socket /run/fibocast/0.sock
            wait $!
            fibocast allreduce all 5 --socket /run/fibocast/1.sock &
            fibocast allreduce all 7 --socket /run/fibocast/0.sock
            wait $!
            cat /tmp/daemons.log""", alone=True)
        self.assertEqual(said.split("\n")[:2], ["12", "12"], said)
        self.assertIn("sealed, key ", said)

    def test_a_local_cluster_of_an_ordinary_user(self):
        said = root.must("""useradd -m someone
            runuser -u someone -- sh -ec 'fibocast up -n 2 >/dev/null; fibocast status; fibocast down'
            userdel -r someone 2>/dev/null""", alone=True)
        self.assertIn("2 daemons stopped", said)

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_manuals(self):
        for page in [path for path in FILES if "/man/" in path]:
            shown = subprocess.run(["man", "--warnings", "-l", root.folder / page.lstrip("/")], capture_output=True,
                                   text=True, timeout=60, env=os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertIn("\nSEE ALSO\n", shown.stdout)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_the_unit(self):
        unit = "/lib/systemd/system/fibocastd.service"
        text = (root.folder / unit.lstrip("/")).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "fibocastd.service"  # its program and its pages are not on this host
            copy.write_text(text.replace("ExecStart=/usr/bin/fibocastd", f"ExecStart={root.folder}/usr/bin/fibocastd")
                            .replace("Documentation=", "#"), encoding="utf-8")
            verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, timeout=60)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""))
            judged = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", copy],
                                    capture_output=True, text=True, timeout=60)
        self.assertEqual(judged.returncode, 0, judged.stdout[-200:])  # at most 2.0 of 10


class Outside(unittest.TestCase):
    """Applications of others, which have nothing of this project but the package."""

    @classmethod
    def setUpClass(cls):
        root.must("apt-get -qq -y install --no-install-recommends /packages/*.deb g++ cmake make pkg-config")

    def test_c_by_pkg_config(self):
        root.must("""cc -std=c99 -Wall -Wextra -Werror /outside/c/application.c -o /tmp/c \\
            $(pkg-config --cflags --libs fibocast)""")
        self.assertIn("libfibocast.so.0 => /lib/", root.must("ldd /tmp/c"))
        self.assertEqual(root.must(AS_INSTALLED + "/tmp/c", alone=True), SAID)

    def test_c_by_find_package(self):
        root.must("cmake -S /outside/c -B /tmp/c-cmake && cmake --build /tmp/c-cmake")
        self.assertEqual(root.must(AS_INSTALLED + "/tmp/c-cmake/application", alone=True), SAID)

    def test_cxx_by_find_package(self):
        root.must("cmake -S /outside/cxx -B /tmp/cxx -DCMAKE_BUILD_TYPE=Debug && cmake --build /tmp/cxx")
        self.assertEqual(root.must(AS_INSTALLED + "/tmp/cxx/application", alone=True), SAID)

    def test_cxx_with_a_node_of_its_own(self):
        self.assertEqual(root.must("/tmp/cxx/embedded", alone=True), "passed as rank 0 of 1\n")

    def test_python(self):
        self.assertEqual(root.must(AS_INSTALLED + "python3 /outside/python/application.py", alone=True), SAID)


class Removed(unittest.TestCase):
    """After the others, by the name of the class."""

    def test_nothing_is_left(self):
        root.must(f"apt-get -qq -y remove {' '.join(PACKAGES)}")
        self.assertTrue(root.has("/etc/fibocast/node.toml"), "remove keeps the settings")
        self.assertFalse(root.has("/usr/bin/fibocastd"))
        root.must(f"dpkg --purge {' '.join(PACKAGES)}")
        self.assertEqual(root.must(LEFT), "")
        self.assertIn("fibocast", root.must("getent passwd fibocast"), "Debian keeps the users of services")


class Service(unittest.TestCase):
    """Under systemd; the last of the classes, for the others want to be without it. Installed again after the purge."""

    @classmethod
    def setUpClass(cls):
        if not cgroup_mount():
            raise unittest.SkipTest("this host has no cgroups of version 2")
        root.must("apt-get -qq -y install --no-install-recommends systemd systemd-sysv dbus /packages/fibocast_*.deb")
        cls.host = Booted(root)
        cls.addClassCleanup(cls.host.end)
        assert eventually(cls.host.is_up), cls.host.run("systemctl --failed").stdout

    def must(self, script):
        done = self.host.run(script)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}")
        return done.stdout

    def show(self, what):
        return self.must(f"systemctl show --value -p {what} fibocastd").strip()

    def passes(self, user):
        return self.host.run(f"runuser -u {user} -- fibocast barrier gate --socket /run/fibocast/fibocast.sock")

    def test_1_it_has_said_that_it_is_ready(self):
        self.assertEqual((self.show("ActiveState"), self.show("StatusText")), ("active", "serves"))

    def test_2_members_of_its_group_may_use_it_and_nobody_else(self):
        self.must("useradd member -G fibocast && useradd stranger")
        self.assertEqual((self.passes("root").returncode, self.passes("member").returncode), (0, 0))
        self.assertIn("Permission denied", self.passes("stranger").stdout)

    def test_3_with_a_key_it_locks_memory_and_reloads(self):
        self.must("""fibocast key generate /etc/fibocast/key && chown fibocast: /etc/fibocast/key &&
            printf '[security]\\nkey_file = "/etc/fibocast/key"\\n' >>/etc/fibocast/node.toml &&
            systemctl restart fibocastd && systemctl reload fibocastd""")
        self.assertRegex(self.must(f"cat /proc/{self.show('MainPID')}/status"), "VmLck:\\s+[1-9]")
        self.assertIn("the keys are read again: sealed", self.must("journalctl -b -u fibocastd"))
        self.assertEqual((self.show("ActiveState"), self.show("StatusText")), ("active", "serves"))

    def test_4_it_is_started_again_when_it_fails(self):
        self.must(f"kill -SEGV {self.show('MainPID')}")
        self.assertTrue(eventually(lambda: self.show("NRestarts") == "1" and self.show("ActiveState") == "active"))
        self.assertEqual(self.passes("root").returncode, 0)

    def test_5_it_stops_well_and_starts(self):
        self.must("systemctl stop fibocastd")
        self.assertEqual((self.show("ActiveState"), self.show("Result")), ("inactive", "success"))
        self.must("systemctl start fibocastd")

    def test_6_purged_while_it_runs_nothing_of_it_is_left(self):
        self.must("apt-get -qq -y purge fibocast")
        self.assertEqual(self.must("systemctl list-units --all --no-legend 'fibocast*'"), "")
        self.assertEqual(self.must(LEFT), "")
        self.assertEqual(self.must("grep -ls fibocast /proc/[0-9]*/comm || true"), "")


if os.geteuid() != 0:
    print("skipped: only root can make a root folder")
    sys.exit(77)
unittest.main(verbosity=2)
