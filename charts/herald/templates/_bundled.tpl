{{/* What all containers of bundled stores have: (dict "root" $ "name" "nats" "settings" .bundled "disk" .persistence).
Without a volume, data counts as the pod's own use of its node's disk. */}}
{{- define "herald.bundledContainer" -}}
name: {{ .name }}
image: {{ include "herald.image" (dict "root" .root "image" .settings.image) }}
imagePullPolicy: {{ .settings.image.pullPolicy }}
args:
  {{- toYaml .settings.args | nindent 2 }}
securityContext:
  {{- toYaml .root.Values.containerSecurityContext | nindent 2 }}
resources:
  {{- $own := dict }}
  {{- if and .disk (not .disk.enabled) }}
  {{- $own = dict "limits" (dict "ephemeral-storage" .disk.size) }}
  {{- end }}
  {{- mergeOverwrite (deepCopy .settings.resources) $own | toYaml | nindent 2 }}
env:
  - name: PASSWORD
    valueFrom:
      secretKeyRef:
        name: {{ include "herald.bundledSecret" .root }}
        key: password
{{- end }}

{{/* FerretDB speaks MongoDB's protocol. It begins when its PostgreSQL answers. */}}
{{- define "herald.bundled.mongodb" -}}
initContainers:
  - {{ include "herald.bundledContainer" (dict "root" .root "name" "postgres" "settings" .settings.postgres "disk" .settings.persistence) | nindent 4 | trim }}
      - name: POSTGRES_USER
        value: herald
      - name: POSTGRES_DB
        value: postgres
      - name: POSTGRES_PASSWORD
        value: $(PASSWORD)
      - name: PGDATA
        value: /data/postgresql
    restartPolicy: Always # runs beside FerretDB, and ends after it
    startupProbe: # the first start makes the data folder
      exec: {command: &ready [pg_isready, --host, 127.0.0.1, --username, herald, --dbname, postgres, --quiet]}
      periodSeconds: 2
      timeoutSeconds: 5
      failureThreshold: 90
    readinessProbe:
      exec: {command: *ready}
      periodSeconds: 10
      timeoutSeconds: 5
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: tmp, mountPath: /tmp}
      - {name: run, mountPath: /var/run/postgresql}
containers:
  - {{ include "herald.bundledContainer" (dict "root" .root "name" "mongodb" "settings" .settings "disk" dict) | nindent 4 | trim }}
      - name: FERRETDB_POSTGRESQL_URL
        value: postgres://herald:$(PASSWORD)@127.0.0.1:5432/postgres
    ports:
      - name: mongodb
        containerPort: 27017
      - name: debug
        containerPort: 8088
    {{- include "herald.bundledProbes" "httpGet: {path: /debug/readyz, port: debug}" | nindent 4 }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "herald.bundled.nats" -}}
containers:
  - {{ include "herald.bundledContainer" (dict "root" .root "name" "nats" "settings" .settings "disk" .settings.persistence) | nindent 4 | trim }}
    ports:
      - name: nats
        containerPort: 4222
      - name: monitor
        containerPort: 8222
    {{- include "herald.bundledProbes" "httpGet: {path: /healthz, port: monitor}" | nindent 4 }}
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "herald.bundled.redis" -}}
containers:
  - {{ include "herald.bundledContainer" (dict "root" .root "name" "redis" "settings" .settings "disk" .settings.persistence) | nindent 4 | trim }}
    ports:
      - name: redis
        containerPort: 6379
    {{- include "herald.bundledProbes" "tcpSocket: {port: redis}" | nindent 4 }}
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* When a store is taken for started, and for ready, by one way to ask it. */}}
{{- define "herald.bundledProbes" -}}
startupProbe:
  {{ . }}
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  {{ . }}
  periodSeconds: 5
  timeoutSeconds: 2
{{- end }}
