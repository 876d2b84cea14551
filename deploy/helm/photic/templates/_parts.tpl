{{- define "photic.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "photic.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "photic.labels" -}}
{{ include "photic.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "photic.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* What every pod of ours has in common. */}}
{{- define "photic.pod" -}}
serviceAccountName: {{ include "photic.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: settings
    configMap: { name: {{ include "photic.name" . }} }
  {{- with .Values.volumes }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}

{{- /* … and every container. */}}
{{- define "photic.container" -}}
env:
  {{- with .Values.fleet.postgresPassword }}
  {{- if .secret }}
  - name: PGPASSWORD
    valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
  {{- end }}
  {{- end }}
  {{- with .Values.fleet.bucketKeys }}
  {{- if .secret }}
  - name: AWS_ACCESS_KEY_ID
    valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .id }} } }
  - name: AWS_SECRET_ACCESS_KEY
    valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
  {{- end }}
  {{- end }}
  {{- with .Values.env }}{{ toYaml . | nindent 2 }}{{ end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: settings, mountPath: /etc/photic, readOnly: true }
  {{- with .Values.volumeMounts }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}
