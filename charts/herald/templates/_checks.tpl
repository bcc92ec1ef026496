{{/* Says what is missing, or cannot be, before anything is installed. */}}
{{- define "herald.checkValues" -}}
{{- include "herald.checkStores" . }}
{{- include "herald.checkStorePorts" . }}
{{- include "herald.checkFiles" . }}
{{- include "herald.checkPlans" . }}
{{- include "herald.checkEdge" . }}
{{- include "herald.checkKeda" . }}
{{- include "herald.checkMonitors" . }}
{{- end }}

{{- define "herald.checkStores" -}}
{{- range $store := list "mongodb" "nats" "redis" }}
{{- $settings := index $.Values $store }}
{{- $given := list $settings.url $settings.existingSecret $settings.bundled.enabled | compact | len }}
{{- if ne $given 1 }}
{{- fail (printf "\n\n%s: give exactly one of %s.existingSecret (a Secret that holds its address), %s.url, or %s.bundled.enabled=true (a server for a try-out, not for messages that matter)\n" $store $store $store $store) }}
{{- end }}
{{- end }}
{{- if and .Values.nats.bundled.enabled (gt (int .Values.nats.replicas) 1) }}
{{- fail "\n\nnats.replicas: the bundled server is one and can keep but 1 copy; bring servers of your own for more\n" }}
{{- end }}
{{- end }}

{{/* A policy that leaves out the port of an address shuts the programs off from that store. */}}
{{- define "herald.checkStorePorts" -}}
{{- range $store := list "mongodb" "nats" "redis" }}
{{- $settings := index $.Values $store }}
{{- if and $.Values.networkPolicy.enabled $settings.url (not (hasPrefix "mongodb+srv:" $settings.url)) }}
{{- $hosts := regexReplaceAll "[a-z]+://" $settings.url "" | regexFind "^[^/?]*" }}
{{- range $host := regexReplaceAll "[^,@]*@" $hosts "" | splitList "," }}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" | default (include "herald.storePort" $store) | int }}
{{- $open := list }}
{{- range $settings.networkPolicy.ports }}
{{- $open = append $open (int .) }}
{{- end }}
{{- if not (has $port $open) }}
{{- fail (printf "\n\n%s.url asks for port %d, which %s.networkPolicy.ports does not open\n" $store $port $store) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Files are in one place; a policy that leaves out the port of its address shuts the programs off from it. */}}
{{- define "herald.checkFiles" -}}
{{- with .Values.files }}
{{- if gt (list .s3.bucket .existingClaim .bundled.enabled | compact | len) 1 }}
{{- fail "\n\nfiles: give one of files.s3.bucket, files.existingClaim and files.bundled.enabled\n" }}
{{- end }}
{{- if and (or .s3.endpoint .s3.existingSecret) (not .s3.bucket) }}
{{- fail "\n\nfiles.s3.bucket: is needed with files.s3.endpoint and files.s3.existingSecret\n" }}
{{- end }}
{{- $port := regexFind ":[0-9]+/?$" .s3.endpoint | trimAll ":/" | default (hasPrefix "http:" .s3.endpoint | ternary "80" "443") }}
{{- $open := list }}
{{- range .s3.networkPolicy.ports }}
{{- $open = append $open (int .) }}
{{- end }}
{{- if and $.Values.networkPolicy.enabled .s3.bucket (not (has (int $port) $open)) }}
{{- fail (printf "\n\nfiles.s3 asks for port %s, which files.s3.networkPolicy.ports does not open\n" $port) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "herald.checkPlans" -}}
{{- if and .Values.operator.labelSelector .Values.plans.enabled (not .Values.plans.labels) }}
{{- fail "\n\nplans.labels: give the labels that operator.labelSelector asks for, else the operator sees none of the chart's plans; or plans.enabled=false\n" }}
{{- end }}
{{- end }}

{{- define "herald.checkEdge" -}}
{{- with .Values.apiserver }}
{{- if lt (int .graceSeconds) (add .drainSeconds 30 | int) }}
{{- fail (printf "\n\napiserver.graceSeconds: %d is too short: a request may begin at the end of drainSeconds (%d) and take 30 more\n" (int .graceSeconds) (int .drainSeconds)) }}
{{- end }}
{{- if and (or .ingress.enabled .httpRoute.enabled) (eq (toString .trustedProxies) "0") }}
{{- fail "\n\napiserver.trustedProxies: 0 is wrong behind an Ingress or a Gateway: all requests would seem to come from its address and share one limit; leave it empty, or count the proxies\n" }}
{{- end }}
{{- if and .ingress.enabled (not .ingress.hosts) }}
{{- fail "\n\napiserver.ingress.hosts: give at least one\n" }}
{{- end }}
{{- if and .ingress.enabled .ingress.nginxLimits (not .edgeLimit.requestsPerSecond) }}
{{- fail "\n\napiserver.ingress.nginxLimits: there is nothing to hold while apiserver.edgeLimit.requestsPerSecond is 0\n" }}
{{- end }}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}
{{- fail "\n\napiserver.httpRoute.parentRefs: give at least one Gateway\n" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "herald.checkKeda" -}}
{{- $nats := .Values.nats }}
{{- with .Values.dispatcher.autoscaling }}
{{- if .keda.enabled }}
{{- if not .enabled }}
{{- fail "\n\ndispatcher.autoscaling.keda.enabled: set dispatcher.autoscaling.enabled=true too\n" }}
{{- end }}
{{- if .metrics }}
{{- fail "\n\ndispatcher.autoscaling.metrics: KEDA takes no metrics of a HorizontalPodAutoscaler; give dispatcher.autoscaling.keda.triggers\n" }}
{{- end }}
{{- if not (or $nats.bundled.enabled $nats.monitoringEndpoint) }}
{{- fail "\n\nnats.monitoringEndpoint: tell KEDA where your NATS shows what waits, e.g. nats.stores.svc:8222\n" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "herald.checkMonitors" -}}
{{- if and .Values.monitoring.serviceMonitor.enabled .Values.monitoring.podMonitor.enabled }}
{{- fail "\n\nmonitoring: enable serviceMonitor or podMonitor; with both every program would be scraped twice\n" }}
{{- end }}
{{- end }}
