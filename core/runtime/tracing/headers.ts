/**
 * Reads headers as `OTEL_EXPORTER_OTLP_HEADERS` has them: `name=value,name=value`, values percent-encoded where they need it.
 * What is no such pair is left out; the schema of the setting refuses it before. Source: OpenTelemetry Protocol Exporter,
 * "Specifying headers via environment variables".
 */
export const readHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // a percent sign that encodes nothing
  }
};
