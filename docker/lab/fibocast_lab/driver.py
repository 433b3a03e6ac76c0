"""Where the daemons of experiments run: processes of this host, or containers. What a driver needs lasts for a whole run."""
from contextlib import contextmanager
from functools import partial

from fibocast_lab.cluster import LocalCluster
from fibocast_lab.container_cluster import ContainerCluster
from fibocast_lab.container_engine import container_engine
from fibocast_lab.container_image import build_image
from fibocast_lab.containers import IMAGE
from fibocast_lab.interrupts import interruptible

DRIVERS = ("local", "docker")


@contextmanager
def driver(name, say):
    """Gives what makes clusters: a call with the arguments of EmulatedNodes."""
    with interruptible():
        if name == "local":
            yield LocalCluster
        else:
            with container_engine(say):
                build_image(IMAGE, say)
                yield partial(ContainerCluster, say=say)
