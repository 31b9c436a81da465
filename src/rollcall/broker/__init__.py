"""THE EMBEDDED CLUSTER: brokers on this machine that speak all five proposals.

What it is: nodes, each a process, that answer from a metadata cache; the controller that feeds the
caches; the supervisor that keeps the processes running. Enough for a client to connect, log in,
look around and be counted.

What it is not: there are no topics, no groups and no records here. Sockets, TLS, SASL, the registry
of connections, metrics and the request log are the trade of `server`.

In reading order:

- `config`, `node_config`: what a cluster is told, and each of its nodes
- `document`, `config_listeners`, `config_file`: the file that tells it
- `cache`, `authorizer`: what a node knows of the cluster, and what a principal may do on it
- `answers/`: one module per API
- `roster`: the controller's book of live brokers
- `link`, `membership`, `controller`: how nodes and controller talk
- `handlers`, `node`: all of it put on listeners
- `process`, `keeper`: the process of a node, and who keeps it running
- `ports`, `data_folder`, `supervisor`: what all nodes agree on, and the cluster as a whole
- `security`: the numbers of the security protocols
"""

from rollcall.broker.config import ClusterConfig, ListenerSettings, NodeSettings, Software
from rollcall.broker.config_file import parse_config, read_config
from rollcall.broker.node_process import NodeState
from rollcall.broker.supervisor import ClusterSupervisor, NodeDescription

__all__ = [
    "ClusterConfig",
    "ClusterSupervisor",
    "ListenerSettings",
    "NodeDescription",
    "NodeSettings",
    "NodeState",
    "Software",
    "parse_config",
    "read_config",
]
