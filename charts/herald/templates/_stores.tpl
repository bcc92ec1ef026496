{{/* The stores that a program needs: the dispatcher and the operator go without Redis. */}}
{{- define "herald.storesOf" -}}
{{ . | eq "apiserver" | ternary "mongodb nats redis" "mongodb nats" }}
{{- end }}

{{- define "herald.storePort" -}}
{{ get (dict "mongodb" "27017" "nats" "4222" "redis" "6379") . }}
{{- end }}

{{/* Address of a store that the chart knows: the one given, or that of the bundled server, with its password.
(dict "root" $ "store" "nats" "password" "…") */}}
{{- define "herald.storeUrl" -}}
{{- $settings := index .root.Values .store }}
{{- $host := printf "%s-%s.%s.svc" (include "herald.fullname" .root) .store .root.Release.Namespace }}
{{- if $settings.url }}{{ $settings.url }}
{{- else if $settings.bundled.enabled }}
{{- $user := .store | eq "redis" | ternary "" "herald" }}
{{- .store }}://{{ $user }}:{{ .password }}@{{ $host }}:{{ include "herald.storePort" .store }}{{ .store | eq "mongodb" | ternary "/?directConnection=true" "" }}
{{- end }}
{{- end }}

{{/* The addresses that the chart knows, as data of a Secret: (dict "root" $ "password" "…"). */}}
{{- define "herald.storeUrls" -}}
{{- range $store := list "mongodb" "nats" "redis" }}
{{- with include "herald.storeUrl" (merge (dict "store" $store) $) }}
{{ $store }}-url: {{ b64enc . }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" when a server of the chart is asked for. */}}
{{- define "herald.hasBundledStores" -}}
{{- if or .Values.mongodb.bundled.enabled .Values.nats.bundled.enabled .Values.redis.bundled.enabled }}true{{ end }}
{{- end }}

{{- define "herald.bundledSecret" -}}
{{ include "herald.fullname" . }}-bundled-stores
{{- end }}

{{/* The claim that holds files, or nothing when they are elsewhere. */}}
{{- define "herald.filesClaim" -}}
{{- if .Values.files.existingClaim }}{{ .Values.files.existingClaim }}
{{- else if .Values.files.bundled.enabled }}{{ include "herald.fullname" . }}-files
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
