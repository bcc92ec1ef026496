import type { Random } from "./random.ts";

/** Makes a new input of one that is there, and of another one to take parts from. */
export type Mutation = (input: Buffer, other: Buffer, random: Random) => Buffer;

const longest = 1_024;

/** Values at which lengths, indexes and flags change their meaning. */
const edges = [0x00, 0x01, 0x0f, 0x10, 0x1f, 0x20, 0x3f, 0x40, 0x7e, 0x7f, 0x80, 0x81, 0xbe, 0xbf, 0xfe, 0xff];

const at = (bytes: Buffer, random: Random): number => random.below(bytes.length + 1);

const withByte = (input: Buffer, place: number, value: number): Buffer => {
  const output = Buffer.from(input);
  if (place < output.length) output[place] = value;
  return output;
};

const splice = (input: Buffer, from: number, to: number, between: Buffer): Buffer =>
  Buffer.concat([input.subarray(0, from), between, input.subarray(to)]);

/** One change of bytes, wherever they stand. */
export const anyBytes: Mutation = (input, other, random) => {
  const place = at(input, random);
  const end = Math.min(input.length, place + 1 + random.below(8));
  const part = other.subarray(at(other, random)).subarray(0, 1 + random.below(32));
  switch (random.below(7)) {
    case 0:
      return withByte(input, place, (input[place] ?? 0) ^ (1 << random.below(8)));
    case 1:
      return withByte(input, place, edges[random.below(edges.length)] ?? 0);
    case 2:
      return withByte(input, place, random.below(256));
    case 3:
      return splice(input, place, end, Buffer.alloc(0));
    case 4:
      return splice(input, place, place, Buffer.from([random.below(256), edges[random.below(edges.length)] ?? 0]));
    case 5:
      return splice(input, place, place, part);
    default:
      return splice(input, place, end, part);
  }
};

/** Some mutations one after another, the result no longer than 1 KB. */
export const several =
  (mutations: readonly Mutation[]): Mutation =>
  (input, other, random) => {
    let output = input;
    for (let left = 1 + random.below(4); left > 0; left--)
      output = mutations[random.below(mutations.length)]?.(output, other, random) ?? output;
    return output.subarray(0, longest);
  };

const headLength = 9;

/** The frames of an input, as far as it has whole ones; the rest is the last. */
const framesOf = (input: Buffer): Buffer[] => {
  const frames: Buffer[] = [];
  for (let start = 0; start < input.length; ) {
    const length = input.length - start < headLength ? 0 : input.readUIntBE(start, 3);
    const end = Math.min(input.length, start + headLength + length);
    frames.push(input.subarray(start, end));
    start = end;
  }
  return frames;
};

/** One change within a frame whose length stays true: what comes after is still read. */
export const oneFrame: Mutation = (input, other, random) => {
  const frames = framesOf(input);
  const place = random.below(frames.length + 1);
  const frame = frames[place];
  const others = framesOf(other);
  const another = others[random.below(others.length)] ?? Buffer.alloc(0);
  if (frame === undefined || random.below(8) === 0) return Buffer.concat(frames.toSpliced(place, 0, another));
  if (random.below(8) === 0) return Buffer.concat(frames.toSpliced(place, 1));
  if (frame.length < headLength) return input;
  const changed = anyBytes(frame.subarray(3), another.subarray(3), random).subarray(0, longest);
  const length = Buffer.alloc(3);
  length.writeUIntBE(Math.max(0, changed.length + 3 - headLength), 0, 3);
  return Buffer.concat([...frames.slice(0, place), length, changed, ...frames.slice(place + 1)]);
};
