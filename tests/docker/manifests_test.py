"""The Kubernetes manifests without a cluster: what the API would refuse, and what it would take but would not work. Skipped
(77) where kubectl or Debian's Kubernetes client for Python is missing: ./dev install kubernetes kubectl."""
import copy
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
try:
    import yaml
    from manifests import FOLDER, VARIANTS, kustomize, mistakes_of
except ImportError as error:
    print(f"skipped: {error}: ./dev install kubernetes")
    sys.exit(77)
if shutil.which("kubectl") is None:
    print("skipped: kubectl is missing: ./dev install kubectl")
    sys.exit(77)

DAEMON_PORTS = {(7117, "UDP"), (7117, "TCP"), (7118, "UDP")}
ALL = {variant: kustomize(variant) for variant in VARIANTS}


def of(variant, kind):
    return next(document for document in ALL[variant] if document["kind"] == kind)


def workload(variant):
    return next(document for document in ALL[variant] if "template" in document["spec"])


def application():
    return yaml.safe_load((FOLDER / "daemonset" / "application.yaml").read_text(encoding="utf-8"))


def pods():
    """(name, spec) of each."""
    return [(variant, workload(variant)["spec"]["template"]["spec"]) for variant in VARIANTS] + [
        ("application", application()["spec"])]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def environment(variant):
    daemon = next(c for c in containers(workload(variant)["spec"]["template"]["spec"]) if c["name"] == "fibocastd")
    return {entry["name"]: entry.get("value") for entry in daemon["env"]}


class TheApi(unittest.TestCase):
    def test_it_would_take_every_object(self):
        for document in [d for variant in VARIANTS for d in ALL[variant]] + [application()]:
            with self.subTest(document["kind"]):
                self.assertEqual(mistakes_of(document), [])

    def test_a_planted_mistake_is_found(self):
        pod = ("spec", "template", "spec")
        container = (*pod, "containers", 0)
        planted = [
            ("StatefulSet", ("spec", "replica"), 3, "spec.replica: no such field"),
            ("StatefulSet", ("spec", "replicas"), "3", "'3' is no int"),
            ("StatefulSet", ("spec", "podManagementPolicy"), "Paralel", "is none of"),
            ("StatefulSet", (*container, "securityContext", "readOnlyRootFileSystem"), True, "no such field"),
            ("StatefulSet", (*container, "securityContext", "capabilities", "drop"), "ALL", "is no list"),
            ("StatefulSet", (*container, "env", 1, "value"), 3, "3 is no str"),
            ("StatefulSet", (*container, "livenessProbe", "exec", "command"), "fibocast status", "is no list"),
            ("StatefulSet", (*container, "resources", "limits", "memory"), "512Mb", "is no quantity"),
            ("StatefulSet", (*pod, "initContainers", 0, "restartPolicy"), "Sometimes", "is none of"),
            ("StatefulSet", (*pod, "volumes", 0, "emptydir"), {}, "no such field"),
            ("StatefulSet", ("apiVersion",), "apps/v1beta1", "no such kind"),
            ("Service", ("spec", "publishNotReadyAddresses"), "yes", "is no bool"),
            ("Service", ("spec", "ports", 0, "protocol"), "udp", "is none of"),
            ("NetworkPolicy", ("spec", "ingress", 0, "ports", 0, "port"), [7117], "neither number nor name"),
            ("NetworkPolicy", ("spec", "podSelector"), None, "None is no V1LabelSelector"),
            ("PodDisruptionBudget", ("metadata", "name"), "Fibocast_1", "no name"),
        ]
        for kind, path, value, sentence in planted:
            with self.subTest(path):
                document = copy.deepcopy(of("statefulset", kind))
                inner = document
                for step in path[:-1]:
                    inner = inner[step]
                inner[path[-1]] = value
                self.assertIn(sentence, " ".join(mistakes_of(document)))

    def test_a_missing_field_is_found(self):
        document = copy.deepcopy(of("gate", "Job"))
        del document["spec"]["template"]["spec"]["containers"][0]["name"]
        self.assertIn("`name`, must not be `None`", " ".join(mistakes_of(document)))


class WhatTheyMean(unittest.TestCase):
    def test_every_container_is_confined(self):
        for name, spec in pods():
            self.assertIs(spec["securityContext"]["runAsNonRoot"], True, name)
            self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"}, name)
            self.assertIs(spec["automountServiceAccountToken"], False, name)
            for container in containers(spec):
                context = container["securityContext"]
                self.assertIs(context["readOnlyRootFilesystem"], True, container["name"])
                self.assertIs(context["allowPrivilegeEscalation"], False, container["name"])
                self.assertEqual(context["capabilities"]["drop"], ["ALL"], container["name"])
        roots = [c["name"] for _, spec in pods() for c in containers(spec) if c["securityContext"].get("runAsUser") == 0]
        self.assertEqual(roots, ["folders"], "only folders of the host are made by root")

    def test_every_mount_has_its_volume(self):
        for name, spec in pods():
            claims = [claim["metadata"]["name"] for claim in ALL.get(name, []) and workload(name)["spec"].get(
                "volumeClaimTemplates", [])]
            volumes = {volume["name"] for volume in spec["volumes"]} | set(claims)
            mounted = {mount["name"] for container in containers(spec) for mount in container["volumeMounts"]}
            self.assertEqual(mounted, volumes, name)

    def test_the_service_finds_pods_before_they_are_ready_and_the_policy_guards_the_same(self):
        for variant in VARIANTS:
            labels = workload(variant)["spec"]["template"]["metadata"]["labels"]
            service, policy = of(variant, "Service")["spec"], of(variant, "NetworkPolicy")["spec"]
            self.assertEqual(service["clusterIP"], "None")
            self.assertIs(service["publishNotReadyAddresses"], True)
            self.assertEqual(service["selector"], labels)
            self.assertEqual(policy["podSelector"]["matchLabels"], labels)
            self.assertEqual([rule["from"] for rule in policy["ingress"]], [[{"podSelector": {"matchLabels": labels}}]])
            wanted = {port for port in DAEMON_PORTS if port[0] == 7117 or variant != "gate"}
            for ports in (service["ports"], policy["ingress"][0]["ports"]):
                self.assertEqual({(port["port"], port["protocol"]) for port in ports}, wanted)

    def test_numbers_and_names_agree(self):
        stateful, job = workload("statefulset")["spec"], workload("gate")["spec"]
        self.assertEqual(environment("statefulset")["FIBOCAST_NODE_EXPECT"], str(stateful["replicas"]))
        self.assertEqual(stateful["podManagementPolicy"], "Parallel")
        for variant in ("statefulset", "daemonset"):
            service = of(variant, "Service")["metadata"]["name"]
            self.assertEqual(environment(variant)["FIBOCAST_NODE_DISCOVER"], f"dns:{service}")
        self.assertEqual(stateful["serviceName"], of("statefulset", "Service")["metadata"]["name"])
        name, domain = of("gate", "Job")["metadata"]["name"], of("gate", "Service")["metadata"]["name"]
        self.assertEqual(job["template"]["spec"]["subdomain"], domain)
        self.assertEqual(environment("gate")["FIBOCAST_CLUSTER_NODES"],
                         ",".join(f"{name}-{index}.{domain}:7117" for index in range(job["completions"])))
        self.assertEqual(job["parallelism"], job["completions"])

    def test_the_gate_comes_after_the_daemon_and_gives_up_before_the_job_does(self):
        spec = workload("gate")["spec"]
        names = [container["name"] for container in spec["template"]["spec"]["initContainers"]]
        self.assertEqual(names, ["key", "fibocastd", "gate"])
        command = spec["template"]["spec"]["initContainers"][2]["command"]
        self.assertLess(int(command[command.index("--deadline") + 1].rstrip("s")), spec["activeDeadlineSeconds"])


unittest.main(verbosity=2)
