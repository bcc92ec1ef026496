/** Members of a form that are read, and bytes of the head of one: a form of a provider has some dozens. */
const most = { members: 100, head: 8_192 };

/**
 * The members of a form by their names, as multipart/form-data (RFC 7578) or as application/x-www-form-urlencoded. The first
 * of each name counts. In one pass, and without copying what they hold.
 */
export const formMembers = (body: Buffer): ReadonlyMap<string, Buffer> =>
  body.subarray(0, 2).toString("latin1") === "--" ? multipart(body) : urlEncoded(body);

const urlEncoded = (body: Buffer): Map<string, Buffer> => {
  const members = new Map<string, Buffer>();
  for (const [name, value] of new URLSearchParams(body.toString("utf8"))) {
    if (!members.has(name)) members.set(name, Buffer.from(value));
    if (members.size >= most.members) break;
  }
  return members;
};

/** The body says itself what its boundary is: its first line. */
const multipart = (body: Buffer): Map<string, Buffer> => {
  const members = new Map<string, Buffer>();
  const end = body.indexOf("\r\n");
  if (end < 3 || end > 202) return members; // RFC 2046 5.1.1: 1 to 70 characters; some write more
  const delimiter = Buffer.concat([Buffer.from("\r\n"), body.subarray(0, end)]);
  let from = end + 2;
  for (let n = 0; n < most.members; n++) {
    const next = delimiterAt(body, delimiter, from);
    if (next === -1) break; // it was cut off
    const headEnd = body.subarray(from, Math.min(next, from + most.head)).indexOf("\r\n\r\n");
    const head = body.toString("utf8", from, from + Math.max(headEnd, 0));
    const [, name] = /^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"\r\n]{1,200})"/im.exec(head) ?? [];
    if (headEnd !== -1 && name !== undefined && !members.has(name))
      members.set(name, body.subarray(from + headEnd + 4, next));
    from = next + delimiter.length + 2;
    if (body.toString("latin1", from - 2, from) === "--") break;
  }
  return members;
};

/** Where the next line is that is a delimiter as a whole; -1 without one. */
const delimiterAt = (body: Buffer, delimiter: Buffer, from: number): number => {
  for (let at = body.indexOf(delimiter, from); at !== -1; at = body.indexOf(delimiter, at + 1)) {
    const end = body.toString("latin1", at + delimiter.length, at + delimiter.length + 2);
    if (end === "\r\n" || end === "--") return at;
  }
  return -1;
};
