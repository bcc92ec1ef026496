{{/* The stores that a program needs: the dispatcher and the operator go without Redis. */}}
{{- define "herald.storesOf" -}}
{{ . | eq "apiserver" | ternary "mongodb nats redis" "mongodb nats" }}
{{- end }}

{{- define "herald.storePort" -}}
{{ get (dict "mongodb" "27017" "nats" "4222" "redis" "6379") . }}
{{- end }}

{{/* Address of a store that the chart knows: the one given, or that of the bundled server. (dict "root" $ "store" "nats") */}}
{{- define "herald.storeUrl" -}}
{{- $settings := index .root.Values .store }}
{{- $host := printf "%s-%s.%s.svc" (include "herald.fullname" .root) .store .root.Release.Namespace }}
{{- if $settings.url }}{{ $settings.url }}
{{- else if $settings.bundled.enabled }}
{{- .store }}://{{ $host }}:{{ include "herald.storePort" .store }}{{ .store | eq "mongodb" | ternary "/?directConnection=true" "" }}
{{- end }}
{{- end }}

{{/* Where a store's address is kept, as a source of a projected volume. */}}
{{- define "herald.storeSecret" -}}
{{- $settings := index .root.Values .store -}}
secret:
  name: {{ $settings.existingSecret | default (printf "%s-stores" (include "herald.fullname" .root)) }}
  items:
    - key: {{ $settings.existingSecret | empty | ternary (printf "%s-url" .store) $settings.existingSecretKey }}
      path: {{ .store }}-url
{{- end }}

{{- define "herald.keyRingSecret" -}}
{{ .Values.keyRing.existingSecret | default (printf "%s-key-ring" (include "herald.fullname" .)) }}
{{- end }}
