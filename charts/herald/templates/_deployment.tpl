{{/* Deployment of one program: (dict "root" $ "program" "apiserver"). Its values stand under the program's name. */}}
{{- define "herald.deployment" -}}
{{- $root := .root }}
{{- $own := index $root.Values .program }}
{{- $at := dict "root" $root "component" .program }}
{{- $scaling := $own.autoscaling | default dict -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "herald.metadata" $at | nindent 2 }}
  annotations:
    # Pods are kept apart by topologySpreadConstraints instead of podAntiAffinity. How few there are, values or KEDA say.
    {{- $few := and $scaling.enabled ($scaling.keda | default dict).enabled | default (lt (int $own.replicas) 2) }}
    {{- include "herald.scoreExceptions" (dict "more" (print ",deployment-has-host-podantiaffinity" ($few | ternary ",deployment-replicas" ""))) | nindent 4 }}
    {{- with $own.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- if not $scaling.enabled }}
  replicas: {{ $own.replicas }}
  {{- else }}
  {{- with lookup "apps/v1" "Deployment" $root.Release.Namespace (printf "%s-%s" (include "herald.fullname" $root) .program) }}
  replicas: {{ .spec.replicas }} # those that run; a member that a manifest no longer has would become its default, 1
  {{- end }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      {{- include "herald.selectorLabels" $at | nindent 6 }}
  strategy:
    {{- $isRecreate := eq ($own.updateStrategy.type | default "") "Recreate" }}
    {{- toYaml ($isRecreate | ternary (omit $own.updateStrategy "rollingUpdate") $own.updateStrategy) | nindent 4 }}
  template:
    metadata:
      labels:
        {{- include "herald.labels" $at | nindent 8 }}
        {{- with $own.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        kubectl.kubernetes.io/default-container: {{ .program }}
        checksum/stores: {{ include "herald.storeUrls" (dict "root" $root "password" "") | sha256sum }}
        {{- with $own.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "herald.podSpec" . | nindent 6 }}
{{- end }}

{{- define "herald.podSpec" -}}
{{- $root := .root }}
{{- $own := index $root.Values .program }}
{{- $at := dict "root" $root "component" .program -}}
serviceAccountName: {{ include "herald.serviceAccountName" $at }}
automountServiceAccountToken: {{ eq .program "operator" }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ add $own.graceSeconds 5 }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- include "herald.scheduling" . }}
containers:
  - name: {{ .program }}
    image: {{ include "herald.image" (dict "root" $root "image" $root.Values.image) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: [{{ .program }}.js]
    securityContext:
      {{- toYaml $root.Values.containerSecurityContext | nindent 6 }}
    env:
      {{- include "herald.env" . | trim | nindent 6 }}
    {{- with $own.extraEnvFrom }}
    envFrom:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      {{- if eq .program "apiserver" }}
      - name: http
        containerPort: 8080
      {{- if $own.smtp.domain }}
      - name: smtp
        containerPort: 2525
      {{- end }}
      {{- end }}
      - name: health
        containerPort: 9090
    {{- include "herald.probes" $own | nindent 4 }}
    resources:
      {{- toYaml $own.resources | nindent 6 }}
    volumeMounts:
      - name: settings
        mountPath: /etc/herald
        readOnly: true
      - name: cache
        mountPath: /var/cache/herald
      {{- if and (include "herald.filesClaim" $root) (ne .program "operator") }}
      - name: files
        mountPath: /var/lib/herald/files
      {{- end }}
      {{- range $use, $_ := include "herald.tlsSecrets" . | fromYaml }}
      - name: {{ $use }}-tls
        mountPath: /etc/herald-tls/{{ $use }}
        readOnly: true
      {{- end }}
      {{- if $root.Values.trustedCertificates.configMap }}
      - name: certificates
        mountPath: /etc/herald-certificates
        readOnly: true
      {{- end }}
      {{- with $own.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- include "herald.volumes" . | nindent 2 }}
  {{- with $own.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* /healthz answers while the process does; /readyz asks each store and answers within a second. */}}
{{- define "herald.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 5
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{/* Where the pods may stand. Unless values say otherwise they spread over nodes and zones. */}}
{{- define "herald.scheduling" }}
{{- $own := index .root.Values .program }}
{{- $selector := include "herald.selectorLabels" (dict "root" .root "component" .program) }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
{{- if $own.affinity }}
  {{- toYaml $own.affinity | nindent 2 }}
{{- else }}
  # A second spread constraint would do: but where nodes have no zone the scheduler would then heed neither.
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels:
              {{- $selector | nindent 14 }}
{{- if and .root.Values.files.bundled.enabled (ne .program "operator") }}
  podAffinity: # one node at a time can write the claim of files.bundled
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          {{- include "herald.podsOf" (dict "root" .root "components" (list "apiserver" "dispatcher")) | nindent 10 }}
{{- end }}
{{- end }}
topologySpreadConstraints:
{{- if $own.topologySpreadConstraints }}
  {{- toYaml $own.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{/* Secrets with certificates that a program uses, by what for. They are mounted as folders, not as single files: those
would not follow the Secret. */}}
{{- define "herald.tlsSecrets" -}}
{{- $values := .root.Values }}
{{- range $store := include "herald.storesOf" .program | splitList " " }}
{{- with (index $values $store).tls.existingSecret }}
{{ $store }}: {{ . }}
{{- end }}
{{- end }}
{{- if eq .program "apiserver" }}
{{- with $values.apiserver.tls.existingSecret }}
http: {{ . }}
{{- end }}
{{- if and $values.apiserver.smtp.domain $values.apiserver.smtp.existingSecret }}
smtp: {{ $values.apiserver.smtp.existingSecret }}
{{- end }}
{{- end }}
{{- end }}

{{/* How the apiserver's Service is spoken to. */}}
{{- define "herald.restScheme" -}}
{{ empty .Values.apiserver.tls.existingSecret | ternary "http" "https" }}
{{- end }}

{{/* One read-only folder with what is secret, and a folder that Node keeps compiled code in across restarts. */}}
{{- define "herald.volumes" -}}
{{- $root := .root }}
{{- $values := $root.Values -}}
- name: settings
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ include "herald.keyRingSecret" $root }}
          items:
            - key: {{ $values.keyRing.existingSecretKey }}
              path: key-ring
      {{- range $store := include "herald.storesOf" .program | splitList " " }}
      - {{ include "herald.storeSecret" (dict "root" $root "store" $store) | nindent 8 | trim }}
      {{- end }}
      {{- with $values.nats.credentials }}
      {{- if .existingSecret }}
      - secret:
          name: {{ .existingSecret }}
          items:
            - key: {{ .existingSecretKey }}
              path: nats.creds
      {{- end }}
      {{- end }}
      {{- if and (eq .program "dispatcher") $values.dispatcher.mail.existingSecret }}
      - secret:
          name: {{ $values.dispatcher.mail.existingSecret }}
          items:
            - key: {{ $values.dispatcher.mail.existingSecretKey }}
              path: mail-url
      {{- end }}
      {{- with $values.tracing }}
      {{- if and .endpoint .existingSecret (ne $.program "operator") }}
      - secret:
          name: {{ .existingSecret }}
          items:
            - key: {{ .existingSecretKey }}
              path: otlp-headers
      {{- end }}
      {{- end }}
      {{- with $values.files.s3 }}
      {{- if and .bucket .existingSecret (ne $.program "operator") }}
      - secret:
          name: {{ .existingSecret }}
          items:
            - key: {{ .accessKeyIdKey }}
              path: s3-access-key-id
            - key: {{ .secretAccessKeyKey }}
              path: s3-secret-access-key
      {{- end }}
      {{- end }}
- name: cache
  emptyDir:
    sizeLimit: 64Mi
{{- if and (include "herald.filesClaim" $root) (ne .program "operator") }}
- name: files
  persistentVolumeClaim:
    claimName: {{ include "herald.filesClaim" $root }}
{{- end }}
{{- range $use, $secret := include "herald.tlsSecrets" . | fromYaml }}
- name: {{ $use }}-tls
  secret:
    secretName: {{ $secret }}
    defaultMode: 0440
{{- end }}
{{- with $values.trustedCertificates }}
{{- if .configMap }}
- name: certificates
  configMap:
    name: {{ .configMap }}
    items:
      - key: {{ .key }}
        path: {{ .key }}
{{- end }}
{{- end }}
{{- end }}
