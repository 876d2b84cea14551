"""The chart of deploy/helm, rendered by Helm and judged by Kubernetes' own schemas.

Helm is a package of somebody who is not Helm: it gets no network and no home but an empty one.

    chart.py PHOTIC HELM       the binaries
"""
import os, pathlib, re, shlex, subprocess, sys, tempfile

import kubernetes_validate, yaml

import settings

photic, helm = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parents[3]
CHART = root / "deploy/helm/photic"
# The oldest that the chart admits, and the newest that is known here.
VERSIONS = ["1.30", "1.37"]

NEEDED = {"fleet": {"postgres": "postgres://photic@db.example/photic?sslmode=verify-full",
                    "bucket": "s3://photic?endpoint=https://s3.example&region=eu-central-1"}}
FULL = {
    "replicas": 2,
    "image": {"repository": "images.example/photic", "digest": "sha256:" + "0" * 64},
    "imagePullSecrets": [{"name": "pull"}],
    "fleet": {**NEEDED["fleet"], "days": 7, "postgresPassword": {"secret": "pg"}, "bucketKeys": {"secret": "s3"}},
    "timeouts": {"drain_s": 120, "answer_s": 900},
    "settings": "[limits]\nbody_mib = 32\n\n[[upstream]]\nurl = \"http://models:8000\"\n",
    "autoscaling": {"enabled": False},
    "disruption": {"maxUnavailable": "25%"},
    "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
    "serviceAccount": {"annotations": {"role": "r"}},
    "networkPolicy": {"stores": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}], "ports": [{"port": 5432}]}]},
    "retention": {"schedule": "0 4 * * 1-5"},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "podAnnotations": {"a": "b"}, "podLabels": {"team": "vision"},
    "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
    "volumes": [{"name": "ca", "secret": {"secretName": "ca"}}],
    "volumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
    "nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}], "priorityClassName": "high",
}
WRONG = {
    "no servers": {},
    "a password in an address": {"fleet": {**NEEDED["fleet"], "postgres": "postgres://photic:secret@db.example/photic"}},
    "keys in an address": {"fleet": {**NEEDED["fleet"], "bucket": "s3://id:secret@photic"}},
    "a setting that means nothing": {**NEEDED, "replica": 3},
    "a part that the chart writes": {**NEEDED, "settings": "[fleet]\ndays = 1\n"},
    "no time to finish": {**NEEDED, "timeouts": {"drain_s": -1}},
}


def run(*arguments, values):
    with tempfile.TemporaryDirectory() as home:
        file = pathlib.Path(home) / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        return subprocess.run(["unshare", "--net", helm, *arguments, "--values", file], capture_output=True, text=True,
                              env={"HOME": home, "PATH": os.environ["PATH"]})


def rendered(values, version):
    done = run("template", "one", CHART, "--kube-version", version, values=values)
    assert done.returncode == 0, done.stderr
    documents = [document for document in yaml.safe_load_all(done.stdout) if document]
    for document in documents:
        # No part of Kubernetes: it is judged below.
        if document["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(document, version, strict=True)
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def judge(found, values):
    deployment = found["Deployment", "one-photic"]["spec"]
    pod = deployment["template"]
    [container] = pod["spec"]["containers"]
    labels, ports = pod["metadata"]["labels"], {port["name"] for port in container["ports"]}
    selectors = [deployment["selector"]["matchLabels"]]
    for (kind, _), document in found.items():
        spec = document.get("spec", {})
        if kind == "Service":
            selectors.append(spec["selector"])
            assert all(port["targetPort"] in ports for port in spec["ports"])
        if kind in ("PodDisruptionBudget", "NetworkPolicy"):
            selectors.append(spec.get("selector", spec.get("podSelector"))["matchLabels"])
        assert kind != "Secret", "a chart that is handed secrets keeps them in its releases"
    assert all(selector.items() <= labels.items() for selector in selectors)
    for probe, path in (("livenessProbe", "/health"), ("readinessProbe", "/ready"), ("startupProbe", "/health")):
        assert container[probe]["httpGet"] == {"path": path, "port": "admin"}
    drain = values.get("timeouts", {}).get("drain_s", 30)
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["spec"]["terminationGracePeriodSeconds"] > drain + pause
    assert container["securityContext"]["readOnlyRootFilesystem"] and pod["spec"]["securityContext"]["runAsNonRoot"]
    assert ("HorizontalPodAutoscaler", "one-photic") in found or deployment["replicas"] == values["replicas"]
    if ("CronJob", "one-photic-retention") in found:
        job = found["CronJob", "one-photic-retention"]["spec"]["jobTemplate"]["spec"]["template"]
        assert not any(selector.items() <= job["metadata"]["labels"].items() for selector in selectors), "it gets requests"
        [retiring] = job["spec"]["containers"]
        assert retiring["env"] == container["env"] and retiring["securityContext"] == container["securityContext"]
    settings.check(photic, found["ConfigMap", "one-photic"]["data"]["photic.toml"])
    if ("ServiceMonitor", "one-photic") in found:
        wanted = found["ServiceMonitor", "one-photic"]["spec"]
        chosen = [name for (kind, name), document in found.items() if kind == "Service"
                  and wanted["selector"]["matchLabels"].items() <= document["metadata"]["labels"].items()]
        assert chosen == ["one-photic-admin"], chosen
    # Every kind of reference to a secret, and no value of one.
    environment = {entry["name"]: entry for entry in container["env"] or []}
    for name in ("PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert name not in environment or "value" not in environment[name]
    return environment


assert run("lint", "--strict", CHART, values=FULL).returncode == 0
count = 0
for version in VERSIONS:
    for values in (NEEDED, FULL):
        found = rendered(values, version)
        environment = judge(found, values)
        count += len(found)
    assert {"PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} < environment.keys(), environment
for why, values in WRONG.items():
    assert run("template", "one", CHART, values=values).returncode != 0, f"{why}: it renders"
# The command of the page, as it stands there.
page = (CHART.parents[1] / "README.md").read_text()
[words] = [shlex.split(block.replace("\\\n", "")) for block in re.findall(r"^(helm install .*?[^\\])\n", page, re.S | re.M)]
assert words[2:4] == ["photic", str(CHART.relative_to(root))]
done = run("template", "photic", CHART, *words[4:], values={})
assert done.returncode == 0 and "secretKeyRef" in done.stdout, done.stderr
one, other = ({**NEEDED, "settings": text} for text in ("[limits]\nbody_mib = 1\n", "[limits]\nbody_mib = 2\n"))
sums = [rendered(values, VERSIONS[0])["Deployment", "one-photic"]["spec"]["template"]["metadata"]["annotations"]
        for values in (one, other)]
assert sums[0] != sums[1], "other settings leave the pods as they are"
print(f"chart: {count} objects pass for Kubernetes {' and '.join(VERSIONS)}; {len(WRONG)} wrong values are refused")
