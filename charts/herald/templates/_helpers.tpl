{{/* Name of the chart in labels. */}}
{{- define "herald.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* First part of every name: the release, with the chart's name unless it holds it already. */}}
{{- define "herald.fullname" -}}
{{- $name := include "herald.name" . }}
{{- $long := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $long | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that a selector may use: they never change. */}}
{{- define "herald.selectorLabels" -}}
app.kubernetes.io/name: {{ include "herald.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of an object: (dict "root" $ "component" "apiserver"). */}}
{{- define "herald.labels" -}}
{{ include "herald.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: herald
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Name and labels of an object: (dict "root" $ "component" "apiserver" "name" "…"); name follows from the component. */}}
{{- define "herald.metadata" -}}
name: {{ .name | default (printf "%s-%s" (include "herald.fullname" .root) .component) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "herald.labels" . | nindent 2 }}
{{- end }}

{{/* The same for an object of the whole cluster: two releases of one name in two namespaces do not meet. */}}
{{- define "herald.clusterMetadata" -}}
name: {{ printf "%s-%s" (include "herald.fullname" .root) .component }}-{{ .root.Release.Namespace }}
labels:
  {{- include "herald.labels" . | nindent 2 }}
{{- end }}

{{/* Reference of an image: a digest goes before a tag. (dict "root" $ "image" .Values.image) */}}
{{- define "herald.image" -}}
{{- with .image.registry }}{{ . }}/{{ end }}{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Name of a program's ServiceAccount: (dict "root" $ "component" "operator"). */}}
{{- define "herald.serviceAccountName" -}}
{{- $account := (index .root.Values .component).serviceAccount }}
{{- $own := printf "%s-%s" (include "herald.fullname" .root) .component }}
{{- $account.create | ternary ($account.name | default $own) ($account.name | default "default") }}
{{- end }}

{{/* Annotations of the CustomResourceDefinitions. */}}
{{- define "herald.crdAnnotations" -}}
{{- $keep := .Values.crds.keep | ternary (dict "helm.sh/resource-policy" "keep") dict }}
{{- with merge $keep .Values.crds.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Checks of kube-score that do not hold here, and why: (dict "more" ",pod-probes"). */}}
{{- define "herald.scoreExceptions" -}}
# CPU has no limit: a limit throttles bursts, and what is requested already shares a node fairly.
# An image is not fetched each time: its tag is a version and never moved.
kube-score/ignore: container-resources,container-image-pull-policy{{ .more }}
{{- end }}

{{/* What of the apiserver is reached from outside: the interface, callbacks of providers, links in texts and in mails, the
client for browsers, and files, which are downloaded from it unless a bucket has them. */}}
{{- define "herald.publicPaths" -}}
/v1 /sdk /ingress /l /c /o /u /status /status.json /docs{{ if include "herald.filesClaim" . }} /files{{ end }}
{{- end }}
