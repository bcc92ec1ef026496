const firstRetryMs = 3_000;
const mostCharacters = 4_000_000; // an event has 100 items at most

/**
 * Reads server-sent events as the service writes them: each has its data on one line.
 * @returns in how many milliseconds to come back, when the stream has ended
 */
export const readEvents = async (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { heard, told }: { heard: () => void; told: (data: string) => void },
): Promise<number> => {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let retryMs = firstRetryMs;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return retryMs;
    heard();
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > mostCharacters) throw new RangeError("the event is too long");
    for (const line of lines) {
      if (line.startsWith("data: ")) told(line.slice("data: ".length));
      if (line.startsWith("retry: ")) retryMs = Number(line.slice("retry: ".length));
    }
  }
};
