import type { InboxEvent } from "#core/schema/inbox/stream.ts";

/** An event of a stream of an inbox, as a client reads it. */
export type Told = { name: string; id: string; data: InboxEvent };

export type OpenStream = {
  status: number;
  headers: Headers;
  /** The next event; rejects when the stream has ended. Heartbeats are passed over. */
  next: () => Promise<Told>;
  /** Everything until it ends, as text. */
  rest: () => Promise<string>;
  close: () => Promise<void>;
};

/** Opens a stream and reads it as a client does that has only `fetch`. */
export const openStream = async (url: string, headers: Record<string, string>): Promise<OpenStream> => {
  const gone = new AbortController();
  const reply = await fetch(`${url}/sdk/v1/inbox/stream`, { headers, signal: gone.signal });
  const blocks = blocksOf(reply);
  const next = async (): Promise<string> => {
    const { done, value } = await blocks.next();
    if (done === true) throw new Error("the stream has ended");
    return value;
  };
  const told = async (): Promise<Told> => {
    for (;;) {
      const event = read(await next());
      if (event !== null) return event;
    }
  };
  const rest = async (): Promise<string> => {
    let text = "";
    for await (const block of blocks) text += `${block}\n\n`;
    return text;
  };
  return { status: reply.status, headers: reply.headers, next: told, rest, close: async () => gone.abort() };
};

async function* blocksOf({ body }: Response): AsyncGenerator<string, undefined> {
  if (body === null) return;
  let left = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (left + piece).split("\n\n");
    left = blocks.pop() ?? "";
    yield* blocks;
  }
}

const read = (block: string): Told | null => {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return null; // a heartbeat
  return { name: fields.get("event") ?? "", id: fields.get("id") ?? "", data: JSON.parse(data) as InboxEvent };
};
