import { spawn } from "node:child_process";
import { createHash, type Hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** A layer of an image in the folder of blobs, as the OCI image specification describes it. */
export type Layer = {
  digest: string;
  size: number;
  /** Digest of the layer before compression. */
  diffId: string;
};

/**
 * Packs a folder as a layer into the folder of blobs. The same content gives the same digest on every machine: names in
 * order, every file root's and of the time `epochSeconds`.
 */
export const packLayer = async (folder: string, blobs: string, epochSeconds: number): Promise<Layer> => {
  await mkdir(blobs, { recursive: true });
  const tar = spawn("tar", [...sameEverywhere, `--mtime=@${epochSeconds}`, "--create", "--directory", folder, "."], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done, fail) => tar.once("error", fail).once("close", done));
  const [plain, packed] = [createHash("sha256"), createHash("sha256")];
  const unfinished = join(blobs, ".layer");
  await pipeline(tar.stdout, counted(plain), createGzip({ level: 6 }), counted(packed), createWriteStream(unfinished));
  if ((await ended) !== 0) throw new Error(`tar could not pack ${folder}`);
  const hex = packed.digest("hex");
  await rename(unfinished, join(blobs, hex));
  const { size } = await stat(join(blobs, hex));
  return { digest: `sha256:${hex}`, size, diffId: `sha256:${plain.digest("hex")}` };
};

/** Options of tar with which the same files give the same archive. */
export const sameEverywhere = ["--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"];

/** Hands its input on and hashes it. */
const counted = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });
