import { ConnectionError } from "../../dispatcher/net/http2/frames.ts";
import { headerDecoder } from "../../dispatcher/net/http2/hpack.ts";
import { incoming } from "../../dispatcher/net/http2/incoming.ts";
import { settings, types } from "../support/http2/peer.ts";
import { staticTable } from "../support/http2/static-table.ts";
import type { Target } from "./fuzz.ts";
import { anyBytes, oneFrame, several } from "./mutate.ts";
import { type Fields, referenceDecoder } from "./reference-hpack.ts";
import { frameSeeds, headerSeeds } from "./seeds.ts";

const mostFields = 200; // that are kept of a block

/** The headers that we give of these fields: of a repeated name the last. */
const headersOf = (fields: Fields): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of fields.slice(0, mostFields)) headers[name] = value;
  return headers;
};

const areEqual = (ours: Record<string, string>, theirs: Record<string, string>): boolean => {
  const names = Object.keys(ours);
  return names.length === Object.keys(theirs).length && names.every((name) => ours[name] === theirs[name]);
};

/**
 * The decoder of headers beside another one: both read the same, block after block, or both refuse. The first byte of an
 * input says into how many blocks the rest is cut, and how large the table is.
 */
const hpack: Target = {
  name: "hpack",
  mutate: several([anyBytes]),
  seeds: headerSeeds,
  run: (input) => {
    const [first = 0] = input;
    const tableBytes = [4_096, 100, 40, 0][(first >> 2) & 3] ?? 0;
    const steps = [`table ${tableBytes}`];
    const decode = headerDecoder(tableBytes);
    const theirs = referenceDecoder(staticTable, tableBytes, steps);
    const length = Math.ceil((input.length - 1) / (1 + (first & 3)));
    for (let start = 1; start < input.length; start += length) {
      const block = input.subarray(start, start + length);
      const headers = decode(block);
      const expected = attempt(() => headersOf(theirs(block)));
      if (typeof expected === "string" && headers === null) return [...steps, expected];
      if (typeof expected === "string" || headers === null)
        throw new Error(`only one refuses: ${JSON.stringify([headers, expected])}`);
      if (!areEqual(headers, expected)) throw new Error(`${JSON.stringify(headers)}, not ${JSON.stringify(expected)}`);
      steps.push("block");
    }
    return steps;
  },
};

/** What it gives, or what it throws, in words. */
const attempt = <T>(work: () => T): T | string => {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error.message : "something else than an error";
  }
};

const begun = 9; // the highest stream that was

/** What the frames of these chunks mean, step by step. Throws for an error that is none of the protocol. */
const stepsOf = (chunks: readonly Buffer[]): string[] => {
  const steps: string[] = [];
  const note = (step: string, streamId: number): void => {
    if (streamId !== 0 && (streamId % 2 === 0 || streamId > begun)) throw new Error(`${step} on stream ${streamId}`);
    steps.push(step);
  };
  const reader = incoming({
    listener: {
      settings: (changed) => steps.push(...[...changed.keys()].filter((id) => id < 7).map((id) => `setting ${id}`)),
      headers: (streamId, headers, isLast) => note(`headers ${":status" in headers} ${isLast}`, streamId),
      data: (streamId, bytes, isLast) => note(`data ${bytes.length > 0} ${isLast}`, streamId),
      reset: (streamId) => note("reset", streamId),
      fault: (_, error) => steps.push(`fault ${error}`),
      widened: (streamId) => note(`widened ${streamId > 0}`, streamId),
      goaway: () => steps.push("goaway"),
      pong: () => steps.push("pong"),
    },
    reply: (frame) => {
      const whole = frame.length >= 9 && frame.readUIntBE(0, 3) === frame.length - 9;
      if (!whole || ![types.settings, types.ping, types.windowUpdate].some((type) => type === frame[3]))
        throw new Error(`replied ${frame.toString("hex")}`);
      steps.push(`reply ${frame[3]}`);
    },
    isBegun: (streamId) => streamId % 2 === 1 && streamId <= begun,
  });
  try {
    for (const chunk of chunks) reader.read(chunk);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    steps.push(error.code);
  }
  return steps;
};

const preface = settings();

/** All that a peer may send after its first SETTINGS. It means the same wherever the network cuts it. */
const frames: Target = {
  name: "frames",
  mutate: several([oneFrame, oneFrame, anyBytes]),
  seeds: frameSeeds,
  run: (input) => {
    const whole = stepsOf([preface, input]);
    const length = 1 + ((input[4] ?? 0) % 13);
    const chunks = Array.from({ length: Math.ceil(input.length / length) }, (_, n) =>
      input.subarray(n * length, (n + 1) * length),
    );
    const cut = stepsOf([preface, ...chunks]);
    if (whole.join() !== cut.join()) throw new Error(`${whole.join()}, but when it is cut ${cut.join()}`);
    return whole;
  },
};

export const targets: readonly Target[] = [hpack, frames];
