{{/* A program's settings (docs/settings.md): (dict "root" $ "program" "apiserver"). */}}
{{- define "herald.env" -}}
{{- $values := .root.Values }}
{{- $own := index $values .program }}
{{- range $store := include "herald.storesOf" .program | splitList " " }}
- name: HERALD_{{ upper $store }}_URL_FILE
  value: /etc/herald/{{ $store }}-url
{{- end }}
{{- range $use, $_ := include "herald.tlsSecrets" . | fromYaml }}
- name: HERALD_{{ upper $use }}_TLS_DIR
  value: /etc/herald-tls/{{ $use }}
{{- end }}
- name: HERALD_MONGODB_DATABASE
  value: {{ $values.mongodb.database | quote }}
- name: HERALD_NATS_PREFIX
  value: {{ $values.nats.prefix | quote }}
{{- if $values.nats.credentials.existingSecret }}
- name: HERALD_NATS_CREDENTIALS_FILE
  value: /etc/herald/nats.creds
{{- end }}
- name: HERALD_KEY_RING_FILE
  value: /etc/herald/key-ring
{{- with $values.keyRing.lost }}
- name: HERALD_LOST_KEYS
  value: {{ join "," . | quote }}
{{- end }}
{{- with $values.outgoing.allowedRanges }}
- name: HERALD_ALLOWED_RANGES
  value: {{ join "," . | quote }}
{{- end }}
- name: HERALD_ALLOWED_PORTS
  value: {{ join "," $values.outgoing.allowedPorts | quote }}
- name: HERALD_PUBLIC_URL
  value: {{ include "herald.publicUrl" .root | quote }}
- name: HERALD_EVENT_PARTITIONS
  value: {{ $values.nats.eventPartitions | quote }}
- name: HERALD_LOG_LEVEL
  value: {{ $values.logLevel | quote }}
- name: HERALD_GRACE_SECONDS
  value: {{ $own.graceSeconds | quote }}
- name: NODE_COMPILE_CACHE
  value: /var/cache/herald
{{- if $values.trustedCertificates.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/herald-certificates/{{ $values.trustedCertificates.key }}
{{- end }}
{{- include (printf "herald.env.%s" .program) .root }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- with $own.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* How streams are kept, for the programs that make them. */}}
{{- define "herald.env.streams" }}
- name: HERALD_NATS_REPLICAS
  value: {{ .Values.nats.replicas | quote }}
{{- end }}

{{/* Where traces go, for the programs that make them. */}}
{{- define "herald.env.tracing" }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: HERALD_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
{{- if .existingSecret }}
- name: HERALD_OTLP_HEADERS_FILE
  value: /etc/herald/otlp-headers
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where files are, for the programs that write and serve them. */}}
{{- define "herald.env.files" }}
{{- with .Values.files.s3 }}
{{- if .bucket }}
- name: HERALD_S3_BUCKET
  value: {{ .bucket | quote }}
- name: HERALD_S3_PREFIX
  value: {{ .prefix | quote }}
- name: HERALD_S3_REGION
  value: {{ .region | quote }}
{{- with .endpoint }}
- name: HERALD_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .publicEndpoint }}
- name: HERALD_S3_PUBLIC_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- if .existingSecret }}
- name: HERALD_S3_ACCESS_KEY_ID_FILE
  value: /etc/herald/s3-access-key-id
- name: HERALD_S3_SECRET_ACCESS_KEY_FILE
  value: /etc/herald/s3-secret-access-key
{{- end }}
{{- end }}
{{- end }}
{{- if include "herald.filesClaim" . }}
- name: HERALD_FILES_DIR
  value: /var/lib/herald/files
{{- end }}
{{- end }}

{{- define "herald.env.operator" }}
{{- include "herald.env.streams" . }}
- name: HERALD_OPERATOR_NAMESPACE
  value: {{ .Release.Namespace | quote }}
- name: HERALD_OPERATOR_LEASE
  value: {{ include "herald.fullname" . }}-operator
{{- with .Values.operator.rbac.namespaces }}
{{- $names := list }}
{{- $secrets := list }}
{{- range $namespace := . }}
{{- $names = append $names $namespace.name }}
{{- range $namespace.secrets }}
{{- $secrets = append $secrets (printf "%s/%s" $namespace.name .) }}
{{- end }}
{{- end }}
- name: HERALD_OPERATOR_WATCH_NAMESPACES
  value: {{ join "," $names | quote }}
{{- with $secrets }}
- name: HERALD_OPERATOR_WATCH_SECRETS
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- with .Values.operator.labelSelector }}
- name: HERALD_OPERATOR_SELECTOR
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{/* While Redis is away each replica lets its share of a key's rate through. With autoscaling: what runs at least. */}}
{{- define "herald.env.apiserver" }}
{{- include "herald.env.files" . }}
{{- include "herald.env.tracing" . }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: HERALD_TRACE_RATIO
  value: {{ .ratio | quote }}
- name: HERALD_CALLER_TRACES_PER_SECOND
  value: {{ .callerTracesPerSecond | quote }}
{{- end }}
{{- end }}
{{- $own := .Values.apiserver }}
- name: HERALD_REPLICAS
  value: {{ $own.autoscaling.enabled | ternary $own.autoscaling.minReplicas $own.replicas | quote }}
- name: HERALD_DRAIN_SECONDS # no preStop hook: the program itself serves on while proxies learn that it goes
  value: {{ $own.drainSeconds | quote }}
- name: HERALD_TRUSTED_PROXIES
  value: {{ toString $own.trustedProxies | default (or $own.ingress.enabled $own.httpRoute.enabled | ternary "1" "0") | quote }}
- name: HERALD_EDGE_RATE_PER_SECOND
  value: {{ $own.edgeLimit.requestsPerSecond | quote }}
- name: HERALD_EDGE_BURST
  value: {{ $own.edgeLimit.burst | quote }}
{{- with $own.smtp }}
{{- if .domain }}
- name: HERALD_SMTP_DOMAIN
  value: {{ .domain | quote }}
{{- end }}
{{- end }}
{{- with $own.status }}
{{- with .operatingTenant }}
- name: HERALD_OPERATING_TENANT
  value: {{ . | quote }}
{{- end }}
{{- with .prometheusUrl }}
- name: HERALD_PROMETHEUS_URL
  value: {{ . | quote }}
{{- end }}
- name: HERALD_PROMETHEUS_SELECTOR
  value: {{ .prometheusSelector | default (printf "namespace=%q" $.Release.Namespace) | quote }}
{{- end }}
{{- end }}

{{- define "herald.env.dispatcher" }}
{{- include "herald.env.streams" . }}
{{- include "herald.env.files" . }}
{{- include "herald.env.tracing" . }}
- name: HERALD_EXPORT_HOURS
  value: {{ .Values.files.exportHours | quote }}
{{- with .Values.dispatcher.mail }}
{{- if .existingSecret }}
- name: HERALD_MAIL_URL_FILE
  value: /etc/herald/mail-url
- name: HERALD_MAIL_FROM
  value: {{ required "dispatcher.mail.from is needed with dispatcher.mail.existingSecret" .from | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Address of the REST interface as apps reach it: as given, else what Ingress or route say, else the Service's. */}}
{{- define "herald.publicUrl" -}}
{{- $own := .Values.apiserver }}
{{- if .Values.publicUrl }}{{ .Values.publicUrl }}
{{- else if and $own.ingress.enabled $own.ingress.hosts }}http{{ if $own.ingress.tls }}s{{ end }}://{{ first $own.ingress.hosts }}
{{- else if and $own.httpRoute.enabled $own.httpRoute.hostnames }}https://{{ first $own.httpRoute.hostnames }}
{{- else }}{{ include "herald.restScheme" . }}://{{ include "herald.fullname" . }}-apiserver.{{ .Release.Namespace }}.svc:{{ $own.service.port }}
{{- end }}
{{- end }}
