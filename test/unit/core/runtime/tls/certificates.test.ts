import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesIn } from "#core/runtime/tls/certificates.ts";
import { type Certificate, selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";

const [first, second] = [selfSigned(), selfSigned()];

describe("certificates of a folder", () => {
  let dir: string;
  let events: unknown[];
  const log = createLog({
    program: "apiserver",
    level: "info",
    destination: { write: (line) => void events.push((JSON.parse(line) as Record<string, unknown>)["event"]) },
  });
  let written = 0;
  /** Each with a time of its own: file systems tell only some milliseconds apart. */
  const write = (name: string, text: string): void => {
    writeFileSync(join(dir, name), text);
    utimesSync(join(dir, name), ++written, written);
  };
  const put = ({ cert, key }: Certificate): void => {
    write("tls.crt", cert);
    write("tls.key", key);
  };
  /** Nothing is followed for so long that a timer looks: each test has it looked at by itself. */
  const followed = () => {
    const seen: { cert: string; ca?: string }[] = [];
    const certificates = certificatesIn({ dir, log, everyMs: 3_600_000 });
    const unfollow = certificates.follow(({ cert, ca }) => seen.push({ cert, ...(ca !== undefined && { ca }) }));
    const look = (): unknown => certificates.context.context;
    return { seen, unfollow, look };
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "certificates-"));
    events = [];
    put(first);
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("are given at once, and those that take their place when they are looked for", () => {
    const { seen, look, unfollow } = followed();
    const before = look();
    expect(look()).to.equal(before);
    put(second);
    expect(look()).not.to.equal(before);
    expect(seen).to.deep.equal([{ cert: first.cert }, { cert: second.cert }]);
    expect(events).to.deep.equal(["tls.certificate_replaced"]);
    unfollow();
    put(first);
    look();
    expect(seen).to.have.length(2);
  });

  it("have who is trusted with them, unless that is empty", () => {
    write("ca.crt", "");
    const { seen, look, unfollow } = followed();
    write("ca.crt", first.cert);
    look();
    expect(seen).to.deep.equal([{ cert: first.cert }, { cert: first.cert, ca: first.cert }]);
    unfollow();
  });

  it("that cannot be used are said once, and those before them stay", () => {
    const { seen, look, unfollow } = followed();
    const before = look();
    write("tls.key", second.key); // of another certificate
    expect([look(), look()]).to.deep.equal([before, before]);
    expect(events).to.deep.equal(["tls.certificate_refused"]);
    rmSync(join(dir, "tls.crt"));
    expect(look()).to.equal(before);
    put(second);
    look();
    expect(seen.map(({ cert }) => cert)).to.deep.equal([first.cert, second.cert]);
    unfollow();
  });

  it("have to be good at first", () => {
    write("tls.key", second.key);
    expect(() => certificatesIn({ dir, log })).to.throw(/key values mismatch/);
    rmSync(join(dir, "tls.crt"));
    expect(() => certificatesIn({ dir, log })).to.throw(/ENOENT/);
  });
});
