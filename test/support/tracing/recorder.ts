import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { Attributes, Tracer } from "#core/runtime/tracing/tracer.ts";

/** A span that a test's tracer was given. */
export type RecordedSpan = {
  name: string;
  parent: string | null;
  links: readonly string[];
  attributes: Attributes;
  failures: string[];
  isEnded: boolean;
};

/** A tracer that keeps its spans in memory, in the order in which they began. */
export const recorder = (): { tracer: Tracer; spans: RecordedSpan[] } => {
  const spans: RecordedSpan[] = [];
  const begin: Tracer["begin"] = (name, _kind, { parent, links = [] }) => {
    const span: RecordedSpan = { name, parent, links, attributes: {}, failures: [], isEnded: false };
    spans.push(span);
    return {
      traceparent: tracedBy(spans.length),
      rename: (next) => void (span.name = next),
      set: (attributes) => void Object.assign(span.attributes, attributes),
      fail: (type) => void span.failures.push(type),
      end: () => void (span.isEnded = true),
    };
  };
  const child: Tracer["child"] = (name, kind, parent, links) =>
    isSampled(parent) ? begin(name, kind, { parent, ...(links && { links }) }) : null;
  return { tracer: { begin, child }, spans };
};

/** A sampled context; those of a recorder's spans are numbered from 1. */
export const tracedBy = (span: number): string =>
  `00-0af7651916cd43dd8448eb211c80319c-${span.toString(16).padStart(16, "0")}-01`;
