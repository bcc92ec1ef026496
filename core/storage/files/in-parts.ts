import type { Content } from "./store.ts";

/**
 * Gives content in parts of `sizeBytes`, but for the last, which has at least one byte; empty content is one empty part.
 * Two buffers take turns: a part is overwritten once the second one after it is asked for.
 */
export async function* inParts(content: Content, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const buffers: Uint8Array[] = [];
  let turn = 0;
  let filled = 0;
  const buffer = (): Uint8Array => (buffers[turn] ??= Buffer.allocUnsafeSlow(sizeBytes));
  let isFirst = true;
  for await (const chunk of content) {
    for (let from = 0; from < chunk.byteLength; ) {
      if (filled === sizeBytes) {
        yield buffer();
        isFirst = false;
        turn = 1 - turn;
        filled = 0;
      }
      const taken = Math.min(chunk.byteLength - from, sizeBytes - filled);
      buffer().set(chunk.subarray(from, from + taken), filled);
      from += taken;
      filled += taken;
    }
  }
  if (filled > 0 || isFirst) yield buffer().subarray(0, filled);
}
