"""Pods of Kubernetes manifests as containers of this host, as a kubelet would run them: a container that holds network and
host name, volumes with the owners and modes that fsGroup gives them, then init containers, sidecars and containers with
their users, capabilities, environment and probes. What is made is removed by its label."""
import os
import re
import secrets
import subprocess
import time

from engine import docker

IMAGE = "fibocast"
LABEL = f"fibocasttest={os.getpid()}"


def must(*arguments):
    done = docker(*arguments)
    if done.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout.strip()


class Namespace:
    """A network with names, and the Secret of all pods in it."""

    def __init__(self, name):
        self.name = f"fibocasttest{os.getpid()}{name}"
        self.key = f"primary {secrets.token_hex(32)}\n"

    def __enter__(self):
        must("network", "create", "--label", LABEL, self.name)
        return self

    def __exit__(self, *_):
        for listing, remove in ((("ps", "--all"), ("rm", "--force", "--volumes")), (("network", "ls"), ("network", "rm")),
                                (("volume", "ls"), ("volume", "rm"))):
            if left := docker(*listing, "--quiet", "--filter", f"label={LABEL}").stdout.split():
                docker(*remove, *left)  # at a time: each takes a second


class Pod:
    """`domain`: the headless service. `node`: whose folders a hostPath is; `index`: of an Indexed Job."""

    def __init__(self, namespace, name, domain, spec, claims=(), node="", index=None):
        self.namespace, self.name, self.spec, self.index, self.node = namespace, name, spec, index, node
        self.claims = {claim["metadata"]["name"]: {} for claim in claims}
        self.holder = f"{namespace.name}-{name}"
        self.running = {}
        must("run", "--detach", "--name", self.holder, "--label", LABEL, "--hostname", name, "--network", namespace.name,
             "--network-alias", domain, "--network-alias", f"{name}.{domain}", "--entrypoint", "sleep", IMAGE, "infinity")

    def start(self, deadline=None):
        """Up to its last container; `deadline` replaces that of a gate. Returns the init container that failed, or None."""
        self.make_volumes()
        for container in self.spec.get("initContainers", []):
            if container.get("restartPolicy") == "Always":
                self.detach(container)
                continue
            done = self.run(container, deadline)
            if done.returncode != 0:
                return done
        for container in self.spec["containers"]:
            self.detach(container)
        return None

    def run(self, container, deadline=None):
        """To its end."""
        arguments = self.arguments(container)
        if deadline and "--deadline" in arguments:
            arguments[arguments.index("--deadline") + 1] = deadline
        return docker("run", "--rm", *arguments)

    def detach(self, container):
        self.running[container["name"]] = must("run", "--detach", *self.arguments(container))
        if "startupProbe" in container:
            self.probe(container, "startupProbe")

    def probe(self, container, kind):
        """Within the time that the probe gives."""
        probe = container[kind]
        until = time.monotonic() + probe["periodSeconds"] * probe["failureThreshold"]
        while self.execute(*probe["exec"]["command"], container=container["name"]).returncode != 0:
            if time.monotonic() > until:
                raise AssertionError(f"{self.name}: {docker('logs', self.running[container['name']]).stderr}")
            time.sleep(0.5)

    def execute(self, *command, container="fibocastd"):
        return docker("exec", self.running[container], *command)

    def result(self, name):
        """Exit code and output of a container that ends by itself."""
        code = must("wait", self.running[name])
        logs = docker("logs", self.running[name])
        return int(code), logs.stdout + logs.stderr

    def delete(self):
        """Without what outlives a pod: claims and folders of the host."""
        must("rm", "--force", "--volumes", *self.running.values(), self.holder)  # volumes: those without a name
        self.running = {}

    def volume(self, name):
        kind = next((v for v in self.spec["volumes"] if v["name"] == name), self.claims)
        if "hostPath" in kind:
            return self.namespace.name + self.node + re.sub("[^a-z]", "-", kind["hostPath"]["path"])
        return f"{self.holder}-{name}"

    def make_volumes(self):
        """fsGroup: empty folders and claims belong to the group, files of Secrets too and with 0440 at least. Folders of the
        host are as they were; new ones are root's."""
        group = self.spec["securityContext"].get("fsGroup", 0)
        command = ["run", "--rm", "--label", LABEL, "--user", "0", "--entrypoint", "sh"]
        script = ["cat >/key"]
        for name in [volume["name"] for volume in self.spec["volumes"]] + list(self.claims):
            must("volume", "create", "--label", LABEL, self.volume(name))
            command += ["--volume", f"{self.volume(name)}:/v/{name}"]
            kind = next((v for v in self.spec["volumes"] if v["name"] == name), {})
            if "secret" in kind:
                script.append(f"cp /key /v/{name}/key && chgrp {group} /v/{name}/key && chmod 0440 /v/{name}/key")
            elif "hostPath" not in kind:
                script.append(f"chgrp {group} /v/{name} && chmod 2775 /v/{name}")
        done = subprocess.run(["docker", *command, "--interactive", IMAGE, "-ec", "\n".join(script)], text=True,
                              input=self.namespace.key, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def arguments(self, container):
        """Of `docker run`, as its securityContext and the pod's say."""
        both = self.spec["securityContext"] | container["securityContext"]
        words = ["--label", LABEL, "--network", f"container:{self.holder}",
                 "--user", f"{both['runAsUser']}:{both.get('runAsGroup', 0)}"]
        for group in [*both.get("supplementalGroups", []), *([both["fsGroup"]] if "fsGroup" in both else [])]:
            words += ["--group-add", str(group)]
        words += ["--read-only"] if both.get("readOnlyRootFilesystem") else []
        words += [] if both.get("allowPrivilegeEscalation", True) else ["--security-opt", "no-new-privileges"]
        for what, option in (("drop", "--cap-drop"), ("add", "--cap-add")):
            for capability in both.get("capabilities", {}).get(what, []):
                words += [option, capability]
        values = {entry["name"]: self.value(entry) for entry in container.get("env", [])}
        for name, value in values.items():
            words += ["--env", f"{name}={value}"]
        for mount in container["volumeMounts"]:
            read_only = ":ro" if mount.get("readOnly") else ""
            words += ["--volume", f"{self.volume(mount['name'])}:{mount['mountPath']}{read_only}"]
        command = [re.sub(r"\$\((\w+)\)", lambda name: values[name[1]], word) for word in container.get("command", [])]
        return words + (["--entrypoint", command[0], IMAGE, *command[1:]] if command else [IMAGE])

    def value(self, entry):
        if "value" in entry:
            return entry["value"]
        field = entry["valueFrom"]["fieldRef"]["fieldPath"]
        return {"metadata.annotations['batch.kubernetes.io/job-completion-index']": str(self.index)}[field]
