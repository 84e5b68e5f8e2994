{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "nereid.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "nereid.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nereid.labels" -}}
{{ include "nereid.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "nereid.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "nereid.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* Whether the models are in an object store. */}}
{{- define "nereid.remote" -}}
{{- if contains "://" .Values.modelRepository.path }}true{{ end -}}
{{- end }}

{{/* The command line of the server, a word on each line. */}}
{{- define "nereid.args" -}}
- serve
- {{ printf "--model-repository=%s" .Values.modelRepository.path | quote }}
- --http-port=8000
- --grpc-port=8001
- --metrics-port=8002
- --drain-secs={{ .Values.stop.drainSeconds }}
- --exit-timeout-secs={{ .Values.stop.exitTimeoutSeconds }}
- --model-cache-directory=/cache
- --replica-name=$(POD_NAME)
{{- if .Values.authSecret }}
- --auth-file=/etc/nereid/auth/auth.toml
{{- end }}
{{- if .Values.sequenceHandover.enabled }}
{{- if .Values.tlsSecret }}
{{- fail "sequenceHandover cannot be used with tlsSecret: the replicas know each other by address, which no certificate has" }}
{{- end }}
- --sequence-handover-peers={{ include "nereid.fullname" . }}-handover.{{ .Release.Namespace }}.svc:8000
- --sequence-handover-token-file=/etc/nereid/handover/token
{{- end }}
{{- if .Values.tlsSecret }}
{{- range $door := list "http" "grpc" }}
- --{{ $door }}-use-ssl=true
- --{{ $door }}-server-cert=/etc/nereid/tls/tls.crt
- --{{ $door }}-server-key=/etc/nereid/tls/tls.key
{{- end }}
{{- end }}
{{- range $name, $value := .Values.flags }}
{{- range $one := kindIs "slice" $value | ternary $value (list $value) }}
{{- /* Numbers of values.yaml are floats; a large one must not become 1e+09. */}}
- {{ printf "--%s=%s" $name (kindIs "float64" $one | ternary (toJson $one) (toString $one)) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "nereid.probe" -}}
httpGet:
  path: {{ .path }}
  port: http
  {{- if .root.Values.tlsSecret }}
  scheme: HTTPS
  {{- end }}
{{- end }}
