import { ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";

export type ExportQueueDeps = {
  exporter: Pick<SpanExporter, "export">;
  /** Spans that may wait; any more are dropped. */
  most: number;
  /** How long one export may take, with the exporter's own repeats. */
  timeoutMs: number;
  /** Counts what became of spans. */
  count: (outcome: SpanOutcome, spans: number) => void;
  /** Called with the first of a series of exports that fail, and with null once one succeeds again. */
  onChange: (error: unknown) => void;
};

/** `exported`; `dropped`, as too many waited; `failed`, as the receiver did not take them in time. */
export type SpanOutcome = "exported" | "dropped" | "failed";

const batch = { most: 512, lingerMs: 1_000 };

/**
 * Spans on their way to the receiver: one export at a time, and what fails is given up. Nothing waits for it. Our own
 * instead of the SDK's batch processor, which says only to its own metrics how many it dropped (docs/decisions/0093).
 */
export const exportQueue = (deps: ExportQueueDeps): SpanProcessor => {
  let waiting: ReadableSpan[] = [];
  let timer: NodeJS.Timeout | undefined;
  let exporting: Promise<void> | undefined;
  let isFailing = false;

  /** What is left when fewer wait than an export may hold waits for others. */
  const exportFull = async (): Promise<void> => {
    do {
      const spans = waiting.slice(0, batch.most);
      waiting = waiting.slice(batch.most);
      const error = await exported(deps, spans);
      deps.count(error === null ? "exported" : "failed", spans.length);
      if ((error !== null) !== isFailing) deps.onChange(error);
      isFailing = error !== null;
    } while (waiting.length >= batch.most);
  };
  const begin = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    exporting ??= exportFull().finally(() => {
      exporting = undefined;
      if (waiting.length > 0) linger();
    });
    return exporting;
  };
  const linger = (): void => {
    timer ??= setTimeout(() => void begin(), batch.lingerMs);
  };
  const flush = async (): Promise<void> => {
    if (exporting !== undefined) await exporting;
    while (waiting.length > 0) await begin();
  };
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (waiting.length >= deps.most) return deps.count("dropped", 1);
      waiting.push(span);
      if (exporting !== undefined) return;
      if (waiting.length >= batch.most) void begin();
      else linger();
    },
    forceFlush: flush,
    shutdown: flush,
  };
};

/** Null when the receiver has taken them, else why not. Never rejects. */
const exported = async (
  { exporter, timeoutMs }: Pick<ExportQueueDeps, "exporter" | "timeoutMs">,
  spans: ReadableSpan[],
): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => resolve(new Error(`not exported within ${timeoutMs} ms`)), timeoutMs + slackMs);
  try {
    exporter.export(spans, ({ code, error }) =>
      resolve(code === ExportResultCode.SUCCESS ? null : (error ?? new Error("refused"))),
    );
  } catch (error) {
    resolve(error);
  }
  return promise.finally(() => clearTimeout(timer));
};

const slackMs = 500; // the exporter has its own timer
