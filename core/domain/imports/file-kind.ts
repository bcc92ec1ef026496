/** How the bytes of a file are to be read, or what it is instead of CSV in UTF-8. */
export type FileKind = { kind: "text" } | { kind: "gzip" } | { kind: "unsupported"; problem: string };

/** What the first bytes say; four are enough. Sources: RFC 1952 2.3.1 (gzip), APPNOTE.TXT 4.3.7 (zip), Unicode 16 23.8 (BOM). */
export const fileKind = (head: Uint8Array): FileKind => {
  const begins = (...bytes: number[]): boolean => bytes.every((byte, i) => head[i] === byte);
  if (begins(0x1f, 0x8b)) return { kind: "gzip" };
  if (begins(0x50, 0x4b)) return { kind: "unsupported", problem: "is a zip archive: send the CSV file, or gzip it" };
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff) || head.subarray(0, 4).includes(0))
    return { kind: "unsupported", problem: "is UTF-16 or binary: save it as CSV in UTF-8" };
  return { kind: "text" };
};
