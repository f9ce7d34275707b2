"""The objects and requests that the workloads send; the same bytes for every target."""

from __future__ import annotations

import json
import random

NS = "bench"

_rng = random.Random(1)


def _text(n):
    return "".join(_rng.choice("abcdefghijklmnopqrstuvwxyz0123456789 -_/.") for _ in range(n))


_DATA = {f"setting-{i}.conf": _text(170) for i in range(2)}
_FILL = _text(500)


def dumps(obj):
    return json.dumps(obj, separators=(",", ":"))


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def service_account(ns):
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": ns}}


def configmap(name, labels=None, fill=_FILL, **data):
    """A ConfigMap of 1 KiB."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels or {"app": "web", "tier": "front"}},
        "data": {**_DATA, "setting-2.conf": fill, **data},
    }


def _container(name, port):
    probe = {
        "httpGet": {"path": "/healthz", "port": port, "scheme": "HTTP"},
        "periodSeconds": 10,
        "timeoutSeconds": 2,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    return {
        "name": name,
        "image": f"registry.example.com/shop/{name}:1.24.3",
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/bin/" + name],
        "args": ["--config=/etc/shop/config.yaml", "--log-level=info"],
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
            {"name": "LOG_FORMAT", "value": "json"},
            {"name": "REGION", "value": "eu-central-1"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "shop-db", "key": "password"}}},
        ],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/shop", "readOnly": True},
            {"name": "cache", "mountPath": "/var/cache/shop"},
        ],
        "livenessProbe": {**probe, "initialDelaySeconds": 15},
        "readinessProbe": probe,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "capabilities": {"drop": ["ALL"]},
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }


def _pod_spec():
    return {
        "containers": [_container("web", 8080), _container("proxy", 9090)],
        "volumes": [
            {"name": "config", "configMap": {"name": "shop-config", "defaultMode": 420}},
            {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 100,
                        "podAffinityTerm": {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "web"}},
                        },
                    }
                ]
            }
        },
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "shop", "effect": "NoSchedule"}],
    }


_LABELS = {"app": "web", "app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop", "tier": "front"}


def pod(name, labels=None):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**_LABELS, **(labels or {})},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"},
        },
        "spec": _pod_spec(),
    }


def deployment(name, n):
    spec = _pod_spec()
    spec["containers"][0]["env"][2]["value"] = n
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": _LABELS, "annotations": {"example.com/change": n}},
        "spec": {
            "replicas": 3,
            "revisionHistoryLimit": 10,
            "minReadySeconds": 5,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "template": {"metadata": {"labels": _LABELS}, "spec": spec},
        },
    }


_PATHS = {"configmaps": "/api/v1", "pods": "/api/v1", "deployments": "/apis/apps/v1"}


def path(resource, name="", ns=NS, query=""):
    return (
        f"{_PATHS[resource]}/namespaces/{ns}/{resource}" + (f"/{name}" if name else "") + (f"?{query}" if query else "")
    )
