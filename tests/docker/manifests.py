"""The Kubernetes manifests as `kubectl kustomize` prints them, and what is wrong with one by the types of Debian's Kubernetes
client for Python (python3-kubernetes, generated from the API's own description): a field that does not exist, a value of a
wrong type, a missing or impossible one. No cluster is asked."""
import datetime
import re
import subprocess
from pathlib import Path

import yaml
from kubernetes import client

FOLDER = Path(__file__).resolve().parents[2] / "docker" / "kubernetes"
VARIANTS = ("statefulset", "daemonset", "gate")
MODELS = {("v1", "Service"): "V1Service", ("v1", "Pod"): "V1Pod", ("v1", "Secret"): "V1Secret",
          ("apps/v1", "StatefulSet"): "V1StatefulSet", ("apps/v1", "DaemonSet"): "V1DaemonSet",
          ("batch/v1", "Job"): "V1Job", ("networking.k8s.io/v1", "NetworkPolicy"): "V1NetworkPolicy",
          ("policy/v1", "PodDisruptionBudget"): "V1PodDisruptionBudget"}
# What the API has had since 1.28 or later, and Debian's client, of 1.22, does not know: model -> field -> allowed values.
NEWER = {"V1Container": {"restartPolicy": ("Always",)}}
# The client says `object` for what is a number or a name.
NUMBER_OR_NAME = {"port", "targetPort", "maxUnavailable", "minAvailable", "maxSurge"}
# The client checks no values; these are those of the API's reference.
ALLOWED = {"protocol": ("UDP", "TCP", "SCTP"), "podManagementPolicy": ("Parallel", "OrderedReady"),
           "completionMode": ("Indexed", "NonIndexed"), "medium": ("", "Memory"), "clusterIP": ("None",),
           "fsGroupChangePolicy": ("OnRootMismatch", "Always")}
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float), "datetime": (str, datetime.datetime)}
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|[KMGT]i?)?")


def kustomize(variant):
    """The objects of a variant."""
    text = subprocess.run(["kubectl", "kustomize", str(FOLDER / variant)], check=True, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True).stdout
    return list(yaml.safe_load_all(text))


def mistakes_of(document):
    """A sentence for each; none if the API would take the object."""
    kind = (document.get("apiVersion"), document.get("kind"))
    if kind not in MODELS:
        return [f"no such kind: {kind}"]
    found = list(look_into(MODELS[kind], document, document["kind"]))
    if not NAME.fullmatch(str(document.get("metadata", {}).get("name"))):
        found.append("metadata.name: missing, or no name")
    return found


def look_at(kind, value, where):
    if (inner := re.fullmatch(r"list\[(.+)\]", kind)) or (inner := re.fullmatch(r"dict\(str, (.+)\)", kind)):
        wanted = list if kind.startswith("list") else dict
        if not isinstance(value, wanted):
            yield f"{where}: {value!r} is no {wanted.__name__}"
            return
        for at, item in enumerate(value) if wanted is list else value.items():
            yield from look_at(inner[1], item, f"{where}[{at}]")
    elif kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or (kind != "bool" and isinstance(value, bool)):
            yield f"{where}: {value!r} is no {kind}"
    elif kind == "object":
        if where.rsplit(".", 1)[-1] in NUMBER_OR_NAME and (isinstance(value, bool) or not isinstance(value, (int, str))):
            yield f"{where}: {value!r} is neither number nor name"
    else:
        yield from look_into(kind, value, where)


def look_into(model, value, where):
    if not isinstance(value, dict):
        yield f"{where}: {value!r} is no {model}"
        return
    known = getattr(client, model)
    attributes = {name: attribute for attribute, name in known.attribute_map.items()}
    for name, inner in value.items():
        here = f"{where}.{name}"
        if name in NEWER.get(model, {}):
            if inner not in NEWER[model][name]:
                yield f"{here}: {inner!r} is none of {NEWER[model][name]}"
        elif name not in attributes:
            yield f"{here}: no such field in {model}"
        else:
            yield from look_at(known.openapi_types[attributes[name]], inner, here)
            yield from look_at_words(name, inner, here)
    given = {attributes[name]: inner for name, inner in value.items() if name in attributes}
    try:
        known(**given)  # required fields, and values where the client knows them
    except ValueError as error:
        yield f"{where}: {error}"


def look_at_words(name, value, where):
    if name in ALLOWED and value not in ALLOWED[name]:
        yield f"{where}: {value!r} is none of {ALLOWED[name]}"
    if name in ("requests", "limits") and isinstance(value, dict):
        for what, much in value.items():
            if not QUANTITY.fullmatch(str(much)):
                yield f"{where}.{what}: {much!r} is no quantity"
    if name == "sizeLimit" and not QUANTITY.fullmatch(str(value)):
        yield f"{where}: {value!r} is no quantity"
