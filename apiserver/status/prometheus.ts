import { type FigureName, type Figures, figureNames } from "#core/domain/status/rules.ts";
import { readBounded } from "#core/runtime/http/read-bounded.ts";
import { queries } from "#core/runtime/metrics/figures.ts";

export type PrometheusOptions = {
  /** May hold a user and a password. */
  url: string;
  /** Narrows the queries to one installation, as `namespace="herald"`; empty: everything that Prometheus knows. */
  selector: string;
};

/**
 * Reads the figures from a Prometheus server. Source: its HTTP API, "Instant queries".
 * @throws Error when it does not answer as documented, without the address and what is in it
 */
export const prometheusFigures = ({
  url,
  selector,
}: PrometheusOptions): ((signal: AbortSignal) => Promise<Figures>) => {
  const { base, headers } = target(url);
  const asked = queries(selector);
  return async (signal) => {
    const read = async (name: FigureName): Promise<[FigureName, number]> => {
      const body = new URLSearchParams({ query: asked[name] });
      const reply = await fetch(`${base}/api/v1/query`, { method: "POST", headers, body, signal, redirect: "error" });
      return [name, sampleOf(await bounded(reply))];
    };
    const figures = await Promise.all(figureNames.map(read)).catch((error: unknown) => {
      throw new Error("Prometheus does not answer", { cause: nameOf(error) });
    });
    return Object.fromEntries(figures) as Figures; // sound: each of them is read
  };
};

const target = (url: string): { base: string; headers: Record<string, string> } => {
  const { username, password, origin, pathname } = new URL(url);
  const base = `${origin}${pathname}`.replace(/\/+$/, "");
  if (username === "" && password === "") return { base, headers: {} };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { base, headers: { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
};

const mostBytes = 65_536;

const bounded = async (reply: Response): Promise<unknown> => {
  const body = reply.body === null ? "" : await readBounded(reply.body, mostBytes);
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return JSON.parse(body.toString());
};

/** The value of a vector of one sample. A rate of nothing is NaN: nothing was counted. */
const sampleOf = (reply: unknown): number => {
  const { data } = reply as { data?: { result?: [{ value?: [number, string] }] } };
  const text = data?.result?.[0]?.value?.[1];
  if (text === undefined) throw new TypeError("the reply has no sample");
  const value = Number(text);
  return Number.isFinite(value) ? value : 0;
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "unknown");
