import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { AppError, invalid } from "#core/errors.ts";

/** What a route takes as multipart/form-data (RFC 7578): one file beside fields of text. */
export type Form = {
  /** The member that is the file; the others of the schema are fields. */
  file: string;
  fields: readonly string[];
  /** Of the file. */
  maxBytes: number;
  /** For the whole request: a file comes as slowly as its sender's line. */
  timeoutMs: number;
};

/** The file of a form as it arrives, and the name that its sender gave it. */
export type FormFile = { name: string | null; content: AsyncIterable<Uint8Array> };

export type FormFields = Readonly<Record<string, string>>;

/**
 * Reads the form once, nothing of its file at a time but what is on the way: `take` gets it with the fields that came
 * before it. Gives all fields, and what `take` gave; null when there was no file.
 * @throws ValidationError for another form, HS_PAYLOAD_TOO_LARGE, and what `take` throws, which ends the reading
 */
export type ReadForm = <T>(take: TakeFile<T>) => Promise<{ fields: FormFields; taken: T | null }>;
type TakeFile<T> = (file: FormFile, before: FormFields) => Promise<T>;

/** What is around the file: boundaries, heads, and fields. */
export const aroundFileBytes = 64 * 1024;

export const formReader =
  (request: IncomingMessage, form: Form, signal: AbortSignal): ReadForm =>
  async (take) => {
    const parser = await parserOf(request, form);
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    const fields: Record<string, string> = {};
    const files: ReturnType<typeof take>[] = [];
    const onFile = (name: string, stream: Readable, { filename }: { filename?: string | undefined }): void => {
      stream.on("error", () => undefined); // whoever reads it hears of it
      stream.on("limit", () => reject(fileTooLarge(form.maxBytes)));
      if (name !== form.file || files.length > 0) return reject(notInForm(name));
      const taken = take({ name: filename ?? null, content: bytesOf(stream, form) }, { ...fields });
      taken.catch(reject);
      files.push(taken);
    };
    const onField = (name: string, value: string, { valueTruncated }: { valueTruncated: boolean }): void => {
      if (name === form.file) return reject(invalid(name, "must be sent as a file, with a file name"));
      if (!form.fields.includes(name) || name in fields) return reject(notInForm(name));
      if (valueTruncated) return reject(invalid(name, `is longer than ${longestField} bytes`));
      fields[name] = value;
    };
    const cutOff = (): void => reject(broken());
    parser.on("file", onFile).on("field", onField).on("close", resolve).on("error", cutOff);
    parser.on("partsLimit", () => reject(invalid("body", `has more than ${mostParts} parts`)));
    request.once("close", () => (request.complete ? undefined : cutOff()));
    signal.addEventListener("abort", cutOff, { once: true });
    request.pipe(parser);
    try {
      await ended;
      return { fields, taken: (await files[0]) ?? null };
    } finally {
      signal.removeEventListener("abort", cutOff);
      request.unpipe(parser);
      parser.destroy();
      request.resume(); // what still comes is passed over, until the connection's time is over
      await files[0]?.catch(() => undefined); // nothing of it goes on behind the reply
    }
  };

const mostParts = 10;
const longestField = 1_024;

/** Loaded with the first upload: most processes never have one. docs/decisions/0082. */
const parserOf = async ({ headers }: IncomingMessage, { maxBytes }: Form) => {
  const { default: busboy } = await import("busboy");
  const limits = { fieldNameSize: 100, fieldSize: longestField, headerPairs: 20, parts: mostParts };
  try {
    return busboy({ headers, defParamCharset: "utf8", limits: { ...limits, fileSize: maxBytes + 1 } });
  } catch {
    throw invalid("header.Content-Type", "must be multipart/form-data with a boundary");
  }
};

/** What it throws ends the writing of the file. */
async function* bytesOf(stream: Readable & { truncated?: boolean }, { maxBytes }: Form): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch {
    throw broken(); // the parser's error says no more
  }
  if (stream.truncated === true) throw fileTooLarge(maxBytes);
}

export const fileTooLarge = (limitBytes: number): AppError =>
  new AppError("HS_PAYLOAD_TOO_LARGE", "the file is too large", { limit_bytes: limitBytes });

const broken = (): AppError => invalid("body", "cannot be read: it is cut off, or no multipart/form-data");

const notInForm = (name: string): AppError =>
  invalid(name.slice(0, 100), "is not a member of the form, or is there twice");
