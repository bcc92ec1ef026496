{{- /* Generated from operator/kinds/all.ts by `make generate`. */}}
{{/* Every kind, as a JSON list. */}}
{{- define "herald.kinds" -}}
["plans","tenants","apps","apikeys","webhooks","liveactivitytypes","segments","templates","inappmessages","warehouseexports","incidents"]
{{- end }}

{{/* Those that live in a namespace. */}}
{{- define "herald.namespacedKinds" -}}
["apps","apikeys","webhooks","liveactivitytypes","segments","templates","inappmessages","warehouseexports"]
{{- end }}
