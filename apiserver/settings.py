"""The settings of the core, as data. Plugins add theirs through the hook ``apiserver_settings``.

:mod:`apiserver.flags` makes flags, environment variables and keys of the config file of them, the documentation page
``docs/reference/settings.md`` lists them. Names, meanings and notation are kube-apiserver's where it has a flag for
the purpose; defaults that differ say so. A flag of kube-apiserver that would do nothing here is unknown here, except
for those with a ``note``, which common start commands contain.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any

from apiserver.api.settings import Config, Setting
from apiserver.minors import minors

GENERAL = "General"
SERVING = "Serving"
STORAGE = "Storage"
REQUESTS = "Requests"
SHUTDOWN = "Shutdown"
AUTHENTICATION = "Authentication"
CLUSTER = "Cluster"
PLUGINS = "Plugins"
LOGGING = "Logging"


def at_least(low: float) -> Callable[[Any], None]:
    """A check that a number is not below ``low``."""

    def check(value: float) -> None:
        if value < low:
            raise ValueError(f"must be {low:g} or more, not {value:g}")

    return check


def _port(value: int) -> None:
    if not 0 <= value <= 65535:
        raise ValueError(f"must be a port number, 0 to 65535, not {value}")


def _address(value: str) -> None:
    if value:
        ipaddress.ip_address(value)


def _networks(values: tuple[str, ...]) -> None:
    for value in values:
        ipaddress.ip_network(value)
    if len(values) > 2:
        raise ValueError("must be one range, or one for IPv4 and one for IPv6")


def _port_range(value: str) -> None:
    """COMPAT: util/net.ParsePortRange, the forms ``a-b`` and ``a+n``"""
    match = re.fullmatch(r"(\d+)(?:([-+])(\d+))?", value)
    if match is None:
        raise ValueError(f"{value!r} is not a port range such as 30000-32767")
    low = int(match[1])
    high = low if not match[2] else int(match[3]) + (low if match[2] == "+" else 0)
    if not 0 <= low <= high <= 65535:
        raise ValueError(f"{value!r} is not a range of port numbers")


_EMULATED = re.compile(r"(?:kube=)?v?1\.(\d+)(?:\.\d+)?")


def emulated_minor(value: str) -> int:
    """36 for ``1.36``, ``v1.36``, ``1.36.2`` or ``kube=1.36``, the values of ``--emulated-version``."""
    return int(value.split(".")[1])


def _emulated(value: str) -> None:
    if not _EMULATED.fullmatch(value) or emulated_minor(value) not in minors():
        raise ValueError(f"{value!r} is not one of {', '.join(f'1.{minor}' for minor in minors())}")


def _servers(values: tuple[str, ...]) -> None:
    for value in values:
        if not re.match(r"https?://[^/]+", value):
            raise ValueError(f"{value!r} is not of the form http://host:port or https://host:port")


def _issuers(values: tuple[str, ...]) -> None:
    for value in values:
        if ":" in value and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]", value):
            raise ValueError(f"{value!r} has a colon but is not a URL")


def _token_lifetime(seconds: float) -> None:
    """COMPAT: BuiltInAuthenticationOptions.Validate"""
    if seconds and not 3600 <= seconds <= 1 << 32:
        raise ValueError("must be between 1 hour and 2^32 seconds, or 0")


def _jwks(value: str) -> None:
    if value and not re.match(r"https://[^/]", value):
        raise ValueError(f"{value!r} is not a URL that begins with https")


CORE: tuple[Setting, ...] = (
    # -- general ---------------------------------------------------------------------------------------------------
    Setting(
        "config", "path", group=GENERAL, metavar="file",
        help="YAML file with a mapping of setting names (as the flags, without hyphens in front) to values.",
    ),
    Setting(
        "data-dir", "path", "./.apiserver", group=GENERAL,
        help="Folder for what the server keeps: the SQLite database, certificates, admin.kubeconfig.",
    ),
    Setting(
        "emulated-version", "str", "1.36", group=GENERAL, metavar="1.N", check=_emulated,
        help="Kubernetes minor version to answer as, 1.25 to 1.37: what is served, explained and accepted.",
    ),
    # -- serving ---------------------------------------------------------------------------------------------------
    Setting(
        "bind-address", "str", "127.0.0.1", group=SERVING, metavar="ip", check=_address,
        help="IP address to listen on. kube-apiserver listens on all by default; say 0.0.0.0 or :: for that.",
    ),
    Setting(
        "secure-port", "int", 6443, group=SERVING, metavar="port", check=_port,
        help="Port to listen on with TLS. 0 lets the system choose a free one, which the printed line says.",
    ),
    Setting(
        "advertise-address", "str", group=SERVING, metavar="ip", check=_address,
        help="IP address by which clients and members of the cluster reach this server; default: the bind address.",
    ),
    Setting(
        "cert-dir", "path", group=SERVING,
        help="Folder for the certificates that are made when none are given; default: pki in the data folder.",
    ),
    Setting(
        "tls-cert-file", "path", group=SERVING, metavar="file",
        help="Serving certificate, PEM, with its chain; needs --tls-private-key-file. Default: one is made.",
    ),
    Setting(
        "tls-private-key-file", "path", group=SERVING, metavar="file",
        help="Private key of --tls-cert-file, PEM.",
    ),
    Setting(
        "workers", "int", 1, group=SERVING, check=at_least(1),
        help="Worker processes that share the port and the store.",
    ),
    Setting(
        "threads", "int", 32, group=SERVING, check=at_least(1),
        help="Most requests one worker process works on at once; idle connections and watches need no thread.",
    ),
    Setting(
        "pin-workers", "bool", True, group=SERVING,
        help="Keep each worker process on one core, which makes small requests cheaper. Only with two or more cores.",
    ),
    # -- storage ---------------------------------------------------------------------------------------------------
    Setting(
        "etcd-servers", "list", group=STORAGE, metavar="url,...", check=_servers,
        help="etcd servers (scheme://ip:port) to keep objects in. Default: a SQLite database in the data folder.",
    ),
    Setting(
        "storage-url", "str", group=STORAGE, metavar="url",
        help="Where to keep objects, for stores without a flag of their own: the scheme names the storage driver.",
    ),
    Setting(
        "etcd-prefix", "str", "/registry", group=STORAGE, metavar="prefix",
        help="What all keys begin with, in etcd as in other stores.",
    ),
    Setting("etcd-cafile", "path", group=STORAGE, metavar="file", help="CA bundle to verify etcd's certificate with."),
    Setting("etcd-certfile", "path", group=STORAGE, metavar="file", help="Client certificate for etcd."),
    Setting("etcd-keyfile", "path", group=STORAGE, metavar="file", help="Key of the client certificate for etcd."),
    Setting(
        "etcd-compaction-interval", "duration", "5m", group=STORAGE, check=at_least(0),
        help="How often superseded revisions are removed from the store, whichever it is. 0 = never.",
    ),
    # -- requests --------------------------------------------------------------------------------------------------
    Setting(
        "request-timeout", "duration", "1m", group=REQUESTS, check=at_least(0.001),
        help="How long a request that is not a watch or the like may take, unless it says so itself.",
    ),
    Setting(
        "min-request-timeout", "int", 1800, group=REQUESTS, metavar="seconds", check=at_least(0),
        help="Least number of seconds after which a watch ends that does not say when; up to twice that, at random.",
    ),
    # -- shutdown --------------------------------------------------------------------------------------------------
    Setting(
        "shutdown-delay-duration", "duration", "0s", group=SHUTDOWN, check=at_least(0),
        help="How long to go on serving after the signal to stop, with /readyz failing, so that clients can leave.",
    ),
    Setting(
        "shutdown-send-retry-after", "bool", group=SHUTDOWN,
        help="While the server stops, answer new requests with 429 and Retry-After, and close their connections.",
    ),
    Setting(
        "shutdown-watch-termination-grace-period", "duration", "0s", group=SHUTDOWN, check=at_least(0),
        help="How long watches may go on while the server stops; they are ended one after the other in that time.",
    ),
    # -- authentication: what serving needs to know of it; authenticators declare the rest ---------------------------
    Setting(
        "client-ca-file", "path", group=AUTHENTICATION, metavar="file",
        help="CAs whose client certificates are accepted: user = common name, groups = organizations. "
        "The CA in --cert-dir is always accepted.",
    ),
    Setting(
        "service-account-issuer", "list", "https://kubernetes.default.svc", group=AUTHENTICATION, metavar="issuer,...",
        check=_issuers, help="Issuers of service account tokens; the first one issues.",
    ),
    Setting(
        "service-account-key-file", "items", group=AUTHENTICATION, metavar="file",
        help="PEM files with public keys, or certificates, to verify service account tokens with, beside the key "
        "that signs them.",
    ),
    Setting(
        "service-account-signing-key-file", "path", group=AUTHENTICATION, metavar="file",
        help="PEM file with the private key that signs service account tokens, RSA or ECDSA. Default: sa.key in "
        "--cert-dir, made when the first token is issued; servers with other data folders need the same key.",
    ),
    Setting(
        "service-account-max-token-expiration", "duration", "0s", group=AUTHENTICATION, check=_token_lifetime,
        help="Longest life of a service account token that is asked for; longer ones are shortened. 0 = no limit.",
    ),
    Setting(
        "service-account-extend-token-expiration", "bool", True, group=AUTHENTICATION,
        help="Let the tokens that pods get by default live for a year, so that programs that never read them again "
        "go on working; their use after the time asked for is noted in the audit log.",
    ),
    Setting(
        "service-account-lookup", "bool", True, group=AUTHENTICATION,
        help="Accept tokens that are kept in Secrets only while the Secret and the service account exist.",
    ),
    Setting(
        "service-account-jwks-uri", "str", group=AUTHENTICATION, metavar="url", check=_jwks,
        help="Where /.well-known/openid-configuration says the keys are; default: /openid/v1/jwks of this server.",
    ),
    Setting(
        "api-audiences", "list", group=AUTHENTICATION, metavar="audience,...",
        help="Audiences of tokens meant for this server; default: the service account issuers.",
    ),
    *(
        Setting(
            f"requestheader-{name}", kind, group=AUTHENTICATION, metavar=metavar, help=text,
            note="Front proxies are not trusted yet: their headers are removed from every request.",
        )
        for name, kind, metavar, text in (
            ("client-ca-file", "path", "file", "CA bundle to verify the certificate of a front proxy with."),
            ("allowed-names", "list", "name,...", "Common names of front proxies; none = any."),
            ("username-headers", "list", "header,...", "Headers that hold the user's name."),
            ("group-headers", "list", "header,...", "Headers that hold the user's groups."),
            ("extra-headers-prefix", "list", "prefix,...", "Prefixes of the headers that hold the user's extra data."),
        )
    ),
    # -- the cluster -----------------------------------------------------------------------------------------------
    Setting(
        "service-cluster-ip-range", "list", "10.96.0.0/16", group=CLUSTER, metavar="cidr,...", check=_networks,
        help="Addresses that services get: one range, or one for IPv4 and one for IPv6. kube-apiserver: 10.0.0.0/24.",
    ),
    Setting(
        "service-node-port-range", "str", "30000-32767", group=CLUSTER, metavar="from-to", check=_port_range,
        help="Ports that services of type NodePort get.",
    ),
    Setting(
        "endpoint-reconciler-type", "str", "lease", group=CLUSTER, choices=("lease", "none"),
        help="How the endpoints of the service kubernetes are kept: each server has a key in the store that ends soon "
        "after it (lease), or not at all (none).",
    ),
    Setting(
        "allow-privileged", "bool", True, group=CLUSTER,
        help="Allow privileged containers. kube-apiserver: false.",
        note="Privileged containers are always allowed.",
    ),
    Setting(
        "runtime-config", "map", group=CLUSTER, metavar="api=bool,...",
        help="Versions and resources to switch on or off: api/all, api/ga, api/beta, api/alpha, group/version, "
        "group/version/resource. Stable versions are on by default.",
    ),
    Setting(
        "feature-gates", "map", group=CLUSTER, metavar="gate=bool,...",
        help="Feature gates of Kubernetes.",
        note="What is implemented is on; gates matter only for resources that are not served without.",
    ),
    # -- plugins ---------------------------------------------------------------------------------------------------
    Setting(
        "disable-plugins", "list", group=PLUGINS, metavar="name,...",
        help="Plugins to leave out, built-in ones or others; `apiserver plugins` lists them. "
        "What others require can't be left out.",
    ),
    Setting(
        "plugin-priority", "list", group=PLUGINS, metavar="name.hook=N,...",
        help="Other numbers for plugins in ordered hooks, such as cors.filter=1850; checked like all.",
    ),
    Setting(
        "enable-admission-plugins", "list", group=PLUGINS, metavar="Name,...",
        help="Admission plugins to switch on beside those that are on by default, by kube-apiserver's names.",
    ),
    Setting(
        "disable-admission-plugins", "list", group=PLUGINS, metavar="Name,...",
        help="Admission plugins to leave out, by kube-apiserver's names such as NamespaceLifecycle.",
    ),
    # -- logging ---------------------------------------------------------------------------------------------------
    Setting(
        "v", "int", 0, group=LOGGING, metavar="level", short="v",
        help="How much to log: 3 each request, 6 each request with the filters and admission plugins it passed.",
    ),
    Setting(
        "logging-format", "str", "text", group=LOGGING, choices=("text", "json"),
        help="How log lines are written.",
    ),
)  # fmt: skip
"""Every setting of the core, in the order of ``--help``."""

KUBERNETES_ADMISSION = frozenset((
    "AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning",
    "CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass",
    "DefaultTolerationSeconds", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
    "ImagePolicyWebhook", "JobValidation", "LimitPodHardAntiAffinityTopology", "LimitRanger",
    "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists",
    "NamespaceLifecycle", "NodeDeclaredFeatureValidator", "NodeRestriction", "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize", "PodGroupProtection", "PodGroupWorkloadExists", "PodNodeSelector",
    "PodResizeValidator", "PodSecurity", "PodTolerationRestriction", "PodTopologyLabels", "Priority",
    "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
))  # fmt: skip
"""Names that start commands for kube-apiserver may disable, whether or not the plugin is here."""

_TOGETHER = (("tls-cert-file", "tls-private-key-file"), ("etcd-certfile", "etcd-keyfile"))


def contradictions(config: Config) -> list[str]:
    """What is wrong with the core's settings taken together, one sentence each."""
    found = [
        f"--{one} and --{two} are given together or not at all"
        for one, two in _TOGETHER
        if bool(config.text(one)) != bool(config.text(two))
    ]
    if config.text("storage-url") and config.strings("etcd-servers"):
        found.append("--storage-url and --etcd-servers: give one of them")
    return found
