import { Type } from "typebox";
import { worded } from "#core/schema/json/patterns.ts";

const { Integer, Optional, String: Text } = Type;

/** Where traces of requests are sent; the apiserver and the dispatcher use it: set it alike in both. */
export const TracingConfig = {
  otlpEndpoint: Optional(
    Text({
      env: "HERALD_OTLP_ENDPOINT",
      pattern: worded(
        "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
        "must be an http or https address without a user and a query",
      ),
      maxLength: 500,
      description:
        "OTLP/HTTP receiver of traces, as http://collector:4318; spans are posted as protobuf to its /v1/traces. What " +
        "OpenTelemetry calls OTEL_EXPORTER_OTLP_ENDPOINT. Unset = no traces",
    }),
  ),
  otlpHeaders: Optional(
    Text({
      env: "HERALD_OTLP_HEADERS",
      secret: true,
      pattern: worded(
        "^[A-Za-z0-9._-]+=[\\x21-\\x2b\\x2d-\\x7e]*(, *[A-Za-z0-9._-]+=[\\x21-\\x2b\\x2d-\\x7e]*){0,15}$",
        "must be 1 to 16 of name=value with commas between them",
      ),
      maxLength: 8_000,
      description:
        "headers of each request to the receiver, as name=value,name=value, values percent-encoded: " +
        "OTEL_EXPORTER_OTLP_HEADERS; mount it: HERALD_OTLP_HEADERS_FILE",
    }),
  ),
  otlpTimeoutSeconds: Integer({
    env: "HERALD_OTLP_TIMEOUT_SECONDS",
    default: 10,
    minimum: 1,
    maximum: 60,
    description: "seconds that one export may take with its repeats; its spans are given up then and counted as failed",
  }),
  traceQueue: Integer({
    env: "HERALD_TRACE_QUEUE",
    default: 2_048,
    minimum: 1,
    maximum: 65_536,
    description: "spans that may wait to be exported, of some 2 KB each; any more are dropped and counted",
  }),
};

/** Which of them need one another. */
export const tracingNeeds = { otlpHeaders: ["otlpEndpoint"] };
