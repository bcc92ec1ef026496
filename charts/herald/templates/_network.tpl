{{/* Opens a NetworkPolicy over the pods of some components: (dict "root" $ "name" "programs" "components" (list "operator")). */}}
{{- define "herald.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "herald.metadata" (dict "root" .root "component" .name) | nindent 2 }}
spec:
  podSelector:
    {{- include "herald.podsOf" . | nindent 4 }}
{{- end }}

{{/* Pods of some components of this release; without components, all of them. */}}
{{- define "herald.podsOf" -}}
matchLabels:
  app.kubernetes.io/name: {{ include "herald.name" .root }}
  app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .components }}
matchExpressions:
  - key: app.kubernetes.io/component
    operator: In
    values:
      {{- toYaml . | nindent 6 }}
{{- end }}
{{- end }}

{{/* TCP ports as a list of a rule. */}}
{{- define "herald.ports" -}}
{{- range . }}
- protocol: TCP
  port: {{ . }}
{{- end }}
{{- end }}
