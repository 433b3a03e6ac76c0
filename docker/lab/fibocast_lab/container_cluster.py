"""The daemons of an experiment in containers, one in each, with their sockets in a folder of this host: the measured loop
talks to each of them as it does to processes. All containers of a host share its monotonic clock."""
import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from fibocast_lab.cluster import Cluster, EmulatedNodes
from fibocast_lab.containers import IMAGE, containers
from fibocast_lab.neighbour_table import neighbour_table
from fibocast_lab.programs import find_fibocast

PORT = 7117
CONNECT_SECONDS = 120


class ContainerCluster(EmulatedNodes):
    """Has the face of LocalCluster. `say` hears of what takes its time."""

    def __init__(self, *arguments, say, **more):
        super().__init__(*arguments, **more)
        self.say = say

    def addresses(self):
        return [f"n{rank}:{PORT}" for rank in range(len(self.nodes))]

    def environment(self, rank, folder):
        settings = self.settings(rank, folder) | {
            "node.rank": rank, "node.socket": socket_path(folder, rank), "cluster.nodes": ",".join(self.addresses()),
            "cluster.transport": self.transport, "cluster.name": "laboratory",
            "security.key_file": "/etc/fibocast/key"}
        names = {"FIBOCAST_" + key.replace(".", "_").upper(): str(value) for key, value in settings.items()}
        return names | {"FIBOCAST_SOCKET": socket_path(folder, rank)}

    def compose_table(self, folder):
        """A service for each rank, as they differ. Nothing but the daemon runs in a container while it is measured."""
        volumes = [f"{folder}:{folder}", "${FIBOCAST_KEYS}:/etc/fibocast:ro"]  # containers() makes the key
        common = {"image": IMAGE, "networks": ["cluster"], "volumes": volumes,
                  "user": f"{os.getuid()}:{os.getgid()}", "healthcheck": {"disable": True}}
        services = {f"n{rank}": common | {"environment": self.environment(rank, folder)}
                    for rank in range(len(self.nodes))}
        return {"version": "3.8", "services": services, "networks": {"cluster": {}}}

    def record(self, folder):
        """What `fibocast` looks for in --dir."""
        nodes = [{"rank": rank, "pid": 0, "address": address, "socket": socket_path(folder, rank)}
                 for rank, address in enumerate(self.addresses())]
        return {"transport": self.transport, "machine": "none", "scale": self.scale, "nodes": nodes}

    @contextmanager
    def up(self, quiet):
        """Up on entry; down, and its folder gone, however the block ends. `quiet`: the engine shows no progress anyway."""
        with tempfile.TemporaryDirectory(prefix="fibocast-lab-") as folder:
            file = Path(folder) / "compose.json"
            file.write_text(json.dumps(self.compose_table(folder)), encoding="utf-8")
            (Path(folder) / "cluster.json").write_text(json.dumps(self.record(folder)), encoding="utf-8")
            with neighbour_table(len(self.nodes), self.say), \
                    containers(len(self.nodes), f"fibocastlab{os.getpid()}", file) as cluster:
                cluster.up()
                cluster.find_ranks(CONNECT_SECONDS)
                yield Cluster(find_fibocast(), folder)


def socket_path(folder, rank):
    return f"{folder}/node-{rank}.sock"
